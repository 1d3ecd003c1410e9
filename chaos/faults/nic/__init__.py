"""Faults of network interfaces and of the network behind them."""
