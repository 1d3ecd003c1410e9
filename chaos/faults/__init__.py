"""What can go wrong: one file per fault, in a folder per subsystem."""
