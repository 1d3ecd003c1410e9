"""The virtual cluster: real SSH, networks and processes, simulated accelerators."""
