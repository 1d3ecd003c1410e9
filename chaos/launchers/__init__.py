"""How a load is started on many nodes."""
