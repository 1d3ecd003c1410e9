"""Text of the field's tools in, typed observations out: one file per format."""
