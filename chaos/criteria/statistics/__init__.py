"""What an amount of evidence demonstrates. SciPy is imported only when a bound is asked for."""
