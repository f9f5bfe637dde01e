"""Pools that do tasks side by side: on this machine, or on the workers of a cluster."""
