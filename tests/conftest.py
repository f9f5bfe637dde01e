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
from slow_tests import due, function_of, listed

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


def pytest_addoption(parser: pytest.Parser) -> None:
    """Which slow tests run (`slow_tests`)."""
    parser.addoption("--slow", default="all", metavar="all|none|COMMIT", help="slow tests that run")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out slow tests that are not due, and begin with the others of them, shared out among
    the workers: at the end all other workers would wait for one of them. Tests of one module stay
    with one worker, as their fixtures do.

    At first each worker gets an equal part of the list, in its order.
    """
    seconds = listed()
    try:
        run = due(config.getoption("--slow"), seconds)
    except ValueError as error:
        raise pytest.UsageError(str(error)) from None
    not_due = seconds.keys() - run
    left_out = [item for item in items if function_of(item.nodeid) in not_due]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
    left = getattr(config, "workerinput", {"workercount": 1})["workercount"]
    slow: dict[Path, list[pytest.Item]] = {}
    others = []
    for item in items:
        function = function_of(item.nodeid)
        if function not in seconds:
            others.append(item)
        elif function in run:
            slow.setdefault(item.path, []).append(item)
    modules, total = list(slow.values()), len(items) - len(left_out)
    items.clear()
    for worker in range(left):
        size = (total - len(items)) // (left - worker)
        own = [item for module in modules[worker::left] for item in module]
        rest = max(0, size - len(own))
        items += own + others[:rest]
        others = others[rest:]
    items += others
