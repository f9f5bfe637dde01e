"""Captured programs and suite manifests as data; knows neither capture nor simulator."""
