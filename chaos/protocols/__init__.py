"""Contracts between the parts: abstract classes that vendors, faults, workloads and the rest fill in."""
