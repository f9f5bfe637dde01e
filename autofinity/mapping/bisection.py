"""Recursive bisection of threads and machine together (ours): SCOTCH's method, without its library.

Threads and parts of the machine are halved so that as little sharing as possible crosses between
the halves, then each half again. A bisection grows one half from a thread and improves this half by
Kernighan and Lin's method (Bell System Technical Journal 49, 1970); several starts are tried.
"""

from __future__ import annotations

from autofinity.mapping.native_mapper import native_mapper

bisection = native_mapper("bisection")
