"""The real machine, under Linux."""
