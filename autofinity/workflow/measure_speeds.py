"""Measures the speeds of this machine and stores them for later runs."""

from __future__ import annotations

import os
from pathlib import Path

from autofinity.linux.topology import host_topology
from autofinity.model.errors import CapabilityError, StoreError, UsageError
from autofinity.model.facts import Speeds
from autofinity.new_folder import make_missing, why_not_made
from autofinity.policy.shipped import read_speeds, speeds_line
from autofinity.private_file import folder_flaw
from autofinity.recording.bench import Bench
from autofinity.recording.memory_speeds import STEPS, MemorySpeeds
from autofinity.reporter import SILENT, Reporter
from autofinity.runtime.machine_facts import measured_speeds, name_here
from autofinity.whole_file import replace_file


def measure_speeds(reporter: Reporter = SILENT) -> tuple[Speeds, Path]:
    """Measure within seconds, and store the result in the user's configuration folder.

    Raises `CapabilityError` where no thread can be pinned to a CPU, `UsageError` without such a
    folder, `StoreError` where the file cannot be written.
    """
    path = measured_speeds(os.environ)
    if path is None:
        raise UsageError(
            "there is no configuration folder: expected XDG_CONFIG_HOME or HOME to name one"
        )
    if reason := why_not_made(path.parent):
        raise UsageError(
            f"cannot make the configuration folder {path.parent}: {reason}; name another with "
            "XDG_CONFIG_HOME"
        )
    if os.geteuid() == 0 and (flaw := folder_flaw(path.parent)):
        raise UsageError(
            f"nothing is kept in {path.parent}: {flaw}; run this command as that user, or name "
            "another folder with XDG_CONFIG_HOME"
        )
    with reporter.progress("measure", STEPS) as done:
        try:
            speeds = MemorySpeeds(host_topology(), Bench.of(True), done.step).measured()
        except OSError as error:
            raise CapabilityError(
                f"this machine cannot be measured: {error}; expected CPUs that this process may "
                "be pinned to"
            ) from error
    try:
        make_missing(path.parent)
        keep_speeds(path, name_here(os.environ), speeds)
    except OSError as error:
        raise StoreError(
            f"cannot write {path}: {error.strerror}; free some space, or name another "
            "folder with XDG_CONFIG_HOME"
        ) from error
    return speeds, path


def keep_speeds(path: Path, name: str, speeds: Speeds) -> None:
    """Put the speeds of the kind of machine `name` beside those of others. Raises `OSError`."""
    known = {**dict(read_speeds(path)), name: speeds}
    replace_file(path, "".join(f"{speeds_line(*each)}\n" for each in known.items()))
