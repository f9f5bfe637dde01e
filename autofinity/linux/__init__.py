"""The real machine."""
