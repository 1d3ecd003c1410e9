"""Loads that prove performance and must recover: one file per load."""
