"""What the lab puts into its nodes: stand-alone programs and the source of the fake library."""
