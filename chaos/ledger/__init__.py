"""The append-only record of a run, and the only place that writes it."""
