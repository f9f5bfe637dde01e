"""Fixtures and settings of all tests.

Property tests use the same examples every time; `HYPOTHESIS_PROFILE=explore` uses new ones. Tests
that are started in the background of a script ignore Ctrl-C, those under nohup a closed terminal,
and the processes that they start would, too.
"""

from __future__ import annotations

import os
import signal

from hypothesis import HealthCheck, settings

# How long an example takes says more about the load of the machine than about the code.
_UNTIMED = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("fixed", derandomize=True, database=None, **_UNTIMED)
settings.register_profile("explore", **_UNTIMED)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))

signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, lambda number, frame: None)  # what is started gets the default
