"""Policies: choose, explain, store, export."""
