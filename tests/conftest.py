"""Fixtures and settings of all tests.

Property tests use the same examples every time; `HYPOTHESIS_PROFILE=explore` uses new ones. Tests
that are started in the background of a script ignore Ctrl-C, those under nohup a closed terminal,
and the processes that they start would, too.
"""

from __future__ import annotations

import os
import signal
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# How long an example takes says more about the load of the machine than about the code.
_UNTIMED = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("fixed", derandomize=True, database=None, **_UNTIMED)
settings.register_profile("explore", **_UNTIMED)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))

os.environ.pop("COLUMNS", None)  # workers have one; no claim is about its width
signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, lambda number, frame: None)  # what is started gets the default


def pytest_xdist_auto_num_workers() -> int | None:
    """One worker more than CPUs where these are few: workers spend a quarter of their time waiting
    for programs that they have started. None: the plugin's own number.
    """
    cpus = len(os.sched_getaffinity(0))
    asked = "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ
    return None if asked or cpus > 4 else cpus + 1


@pytest.fixture
def temporary_files_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Temporary files of libraries go with the test, not with the end of this process, which may be
    killed.
    """
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the slow tests: at the end all other workers would wait for one of them."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)
