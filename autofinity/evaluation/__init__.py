"""Evaluation of policies on programs that they have not seen."""
