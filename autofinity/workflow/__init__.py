"""Functions that train, profile, evaluate, compare and rebuild.

The command line, notebooks and scripts call the same functions. No code here prints, asks or exits:
progress and notices go to a `Reporter`, results are returned, errors are raised.
"""
