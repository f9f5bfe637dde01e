"""Detectors of sharing."""
