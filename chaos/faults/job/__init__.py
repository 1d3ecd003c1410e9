"""Faults of a job's processes."""
