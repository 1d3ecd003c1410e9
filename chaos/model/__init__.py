"""Frozen values that everything else is made of; no clock, no file, no network."""
