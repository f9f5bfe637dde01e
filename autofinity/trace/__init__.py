"""Captured programs and suite manifests as data, without capture or simulator."""
