"""Instruments the assembly that GCC makes of a program: what is recorded is that program."""
