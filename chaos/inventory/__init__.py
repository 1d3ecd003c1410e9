"""Reads inventories into a cluster; writes nothing."""
