"""Judging policies on programs they have not seen."""
