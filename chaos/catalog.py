"""What this installation knows: a frozen value, found by scanning the packages and entry points."""
