"""Measurements by others: files of perf, likwid and one's own, read as counts."""
