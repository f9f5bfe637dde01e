"""Instruments the assembly that GCC makes for a program, so that what is recorded is that program."""
