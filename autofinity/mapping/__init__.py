"""Mappers of threads and pages."""
