"""Instruments the assembly that GCC makes of a program, so that this very program is recorded."""
