"""Faults of storage and of what lies there."""
