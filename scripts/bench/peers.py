"""pycachesim and cachegrind on the same programs: accesses a second of CPU time."""

from __future__ import annotations

import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from parts import BUILD, Part, Settings
from traces import (
    FRIENDLY,
    MIX,
    bench,
    capture_chase,
    capture_training,
    chase_size,
    plain,
    training,
)

from autofinity._core import trace as traces
from autofinity.capture.request import CaptureRequest, arguments_of, environment_of
from autofinity.sim.replay import workers_of

PYCACHESIM = "pycachesim==0.3.1"
WORKER = Path(__file__).parent / "pycachesim_worker.py"


def run(settings: Settings) -> Part:
    values: dict[str, float | None] = {}
    lines: list[str] = []
    _pycachesim(settings, values, lines)
    _cachegrind(settings, values, lines)
    return Part(values, lines)


def _environment() -> Path | None:
    """Python of an environment that has pycachesim, made on first use; None where pip cannot."""
    venv = BUILD / "pycachesim"
    python = venv / "bin" / "python"
    if (venv / ".ready").exists():
        return python
    made = [[sys.executable, "-m", "venv", "--clear", str(venv)]]
    pip = [str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    # Its set-up script needs the setuptools of its time and, at run time, their pkg_resources.
    made.append([*pip, "setuptools<81", "wheel", "numpy<2"])
    made.append([*pip, "--no-build-isolation", PYCACHESIM])
    for command in made:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            print(done.stderr[-2000:], file=sys.stderr)
            return None
    (venv / ".ready").touch()
    return python


def _accesses(folder: Path, most: int) -> np.ndarray:
    """The busiest worker's first accesses in a row: line << 1 | store, as uint64."""
    trace = traces.read(str(folder))
    events = trace.events(workers_of(folder, 1)[0])
    events = events[events["kind"] == 0]
    each = events["reads"].astype(np.int64) + events["writes"]
    events = events[: int(np.searchsorted(np.cumsum(each), most)) + 1]
    counts = np.stack([events["reads"], events["writes"]], axis=1).ravel()
    lines = np.repeat(events["value"], 2) << np.uint64(1) | np.tile(
        np.array([0, 1], np.uint64), len(events)
    )
    return np.repeat(lines, counts)[:most]


def _pycachesim(settings: Settings, values: dict[str, float | None], lines: list[str]) -> None:
    python = _environment()
    if python is None:
        values["pycachesim_maccs"] = None
        lines.append(f"pycachesim left out: pip could not install {PYCACHESIM}")
        return
    most = 200_000 if settings.quick else 1_000_000
    speeds: dict[str, tuple[int, float]] = {}
    calls: dict[str, tuple[int, float]] = {}
    chase = capture_chase(settings.quick)
    for name, folder in [
        *((name, capture_training(name)) for name in (*FRIENDLY, *MIX)),
        ("chase", chase),
    ]:
        with tempfile.NamedTemporaryFile(suffix=".u64") as stream:
            _accesses(folder, most).tofile(stream.name)
            out = subprocess.run(
                [python, WORKER, stream.name], capture_output=True, text=True, check=True
            ).stdout
        batch, single = (
            (int(count), float(cpu_s)) for count, cpu_s in map(str.split, out.splitlines())
        )
        speeds[name], calls[name] = batch, single
        lines.append(
            f"pycachesim {name:16}{batch[0] / batch[1] / 1e6:9.2f} M accesses/s in one batch, "
            f"{single[0] / single[1] / 1e6:.2f} call by call"
        )
    values["pycachesim_maccs"] = _together(speeds, MIX)
    values["pycachesim_call_by_call_maccs"] = _together(calls, MIX)
    for kind, names in (("l1", FRIENDLY), ("miss", ("chase",))):
        values[f"pycachesim_{kind}_maccs"] = _together(speeds, names)
        values[f"pycachesim_call_by_call_{kind}_maccs"] = _together(calls, names)


def _together(speeds: dict[str, tuple[int, float]], names: tuple[str, ...]) -> float:
    return sum(speeds[n][0] for n in names) / sum(speeds[n][1] for n in names) / 1e6


def _cachegrind(settings: Settings, values: dict[str, float | None], lines: list[str]) -> None:
    if shutil.which("valgrind") is None:
        values["cachegrind_maccs"] = None
        lines.append("cachegrind left out: no valgrind in PATH (Debian: apt install valgrind)")
        return
    names = (*FRIENDLY, *MIX)[: 3 if settings.quick else None]
    speeds = {}
    for request in (
        *(plain(training(), name, "small") for name in names),
        plain(bench(), "chase", chase_size(settings.quick)),
    ):
        name = request.spec.name
        count, cpu_s = speeds[name] = _under_cachegrind(request)
        lines.append(
            f"cachegrind {name:16}{count / cpu_s / 1e6:9.1f} M data references/s, "
            f"{count / 1e6:.1f} M in {cpu_s:.2f} s"
        )
    values["cachegrind_maccs"] = _together(speeds, tuple(name for name in MIX if name in speeds))
    values["cachegrind_l1_maccs"] = _together(speeds, FRIENDLY)
    values["cachegrind_miss_maccs"] = _together(speeds, ("chase",))


def _under_cachegrind(request: CaptureRequest) -> tuple[int, float]:
    """Data references, and CPU seconds."""
    with tempfile.TemporaryDirectory() as work:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(
            ["valgrind", "--tool=cachegrind", "--cache-sim=yes",
             "--cachegrind-out-file=/dev/null", *arguments_of(request)],
            env=environment_of(request, os.environ), cwd=work,
            capture_output=True, text=True, errors="replace", check=True,
        )  # fmt: skip
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    found = re.search(r"D\s+refs:\s+([\d,]+)", done.stderr)
    if found is None:
        raise SystemExit(f"cachegrind said nothing of data references: {done.stderr[-500:]}")
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return int(found[1].replace(",", "")), cpu_s
