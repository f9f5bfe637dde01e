"""Builds and runs programs under capture and writes traces."""
