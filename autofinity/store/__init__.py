"""Sinks and sources: Parquet observations and the behaviour database."""
