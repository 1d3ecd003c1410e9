"""Faults of accelerators."""
