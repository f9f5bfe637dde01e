"""Affinities, hints, and the conversions between them and cores."""
