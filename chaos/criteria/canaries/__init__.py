"""Histories made by hand, so that a criterion can show that it rejects the bad and accepts the good."""
