"""Faults of host memory."""
