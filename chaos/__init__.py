"""Acceptance tests and chaos drills for GPU clusters."""
