"""Programs that ranks run on nodes: shipped as text, stand-alone, with torch."""
