"""Profiles, canaries and judgement: history and criteria in, one judgement out."""
