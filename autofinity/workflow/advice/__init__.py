"""Advice on a program: seen here or on a simulated machine, answered question by question."""
