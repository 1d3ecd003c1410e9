"""Which command answers which question: one file per platform family."""
