"""Faults of whole machines."""
