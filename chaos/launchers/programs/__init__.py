"""Programs that the launcher runs on nodes: shipped as text, stand-alone."""
