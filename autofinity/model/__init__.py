"""Frozen types and errors: the vocabulary of the project. No I/O; imports no other room."""
