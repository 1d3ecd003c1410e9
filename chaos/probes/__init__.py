"""Checks of a node: a question and what its answer must be."""
