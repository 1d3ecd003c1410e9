"""Requirements: pure, history in, verdict out, one file per criterion."""
