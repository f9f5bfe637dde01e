"""Affinities, hints and the way between them and cores."""
