"""What trains, profiles, evaluates, compares and rebuilds, as functions.

The command line, notebooks and scripts call the same ones. Nothing here prints, asks or exits: what
there is to say on the way goes to a `Reporter`, what came of it is returned, errors are raised.
"""
