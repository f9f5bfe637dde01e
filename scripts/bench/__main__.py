"""All benchmarks, side by side in one run: a table here, and build/bench.json.

usage: scripts/bench [--quick] [--part NAME]… [--fresh]

Each part runs in a process of its own, so that its peak memory is its own. A part that was measured
with the same native core and settings is not measured again (--fresh does). Every rate is per
second of CPU time of one core; --quick takes fewer rounds, shorter streams and fewer affinities,
and reports so.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import json
import os
import platform
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from parts import BUILD, ROOT, Part, Settings
from progress import show
from side_by_side import side_by_side

from autofinity._core import sim as core

PARTS = {
    "replay": "replay:run",
    "peers": "peers:run",
    "sweep-1000": "sweeps:run_thousand",
    "all-programs": "sweeps:run_all",
    "capture": "capturing:run",
    "learning": "learning:run",
    "mapping": "mapping:run",
    "small": "small:run",
}
KEYS = (
    "full_l1_maccs", "full_mix_maccs", "full_miss_maccs",
    "pycachesim_maccs", "cachegrind_maccs", "sweep_1000_s", "all_programs_80_affinities_s",
    "capture_slowdown", "capture_binary_slowdown", "trace_bytes_per_access", "peak_mib",
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="scripts/bench", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--quick", action="store_true", help="a few minutes instead of an hour")
    parser.add_argument("--part", action="append", choices=PARTS, help="only this one")
    parser.add_argument("--fresh", action="store_true", help="measure what is there already")
    parser.add_argument("--measure", metavar="PART", choices=PARTS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    settings = Settings(options.quick)
    if options.measure:
        _measure(options.measure, settings)
        return
    chosen = options.part or list(PARTS)
    parts = {}
    for number, name in enumerate(chosen):
        show("bench", number, len(chosen))
        parts[name] = _part(name, settings, options.fresh)
        print(f"{name}{' (quick)' if settings.quick else ''}")
        print("".join(f"  {line}\n" for line in parts[name].lines), flush=True)
    for name in PARTS:
        if name not in parts and (kept := _kept(name, settings)).exists():
            parts[name] = Part(**json.loads(kept.read_bytes()))
    if {"replay", "peers"} <= set(chosen):
        beside = side_by_side(parts["replay"].values | parts["peers"].values)
        print("".join(f"{line}\n" for line in (*beside, "")), end="")
    _write(parts, settings)


def _kept(name: str, settings: Settings) -> Path:
    """The file with the figures of a part, measured with this native core and these settings."""
    from autofinity.own_code import digest_of_core

    content = digest_of_core() + str(settings).encode()
    return BUILD / f"{name}-{hashlib.sha256(content).hexdigest()[:12]}.json"


def _part(name: str, settings: Settings, fresh: bool) -> Part:
    """The part, measured earlier, or now in a process of its own."""
    kept = _kept(name, settings)
    if fresh or not kept.exists():
        BUILD.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, str(Path(__file__).parent), "--measure", name]
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        out = subprocess.run(
            [*command, *(["--quick"] if settings.quick else [])],
            env=environment, stdout=subprocess.PIPE, check=True,
        ).stdout  # fmt: skip
        kept.write_bytes(out)
    return Part(**json.loads(kept.read_bytes()))


def _measure(name: str, settings: Settings) -> None:
    module, function = PARTS[name].split(":")
    run: Callable[[Settings], Part] = getattr(importlib.import_module(module), function)
    print(json.dumps(asdict(run(settings))))


def _write(parts: dict[str, Part], settings: Settings) -> None:
    values: dict[str, float | None] = {}
    for part in parts.values():
        values |= part.values
    peaks = [part.peak_mib for part in parts.values() if part.peak_mib is not None]
    if peaks:
        values["peak_mib"] = max(peaks)
    document = {key: values.get(key) for key in KEYS} | {
        "details": {key: value for key, value in values.items() if key not in KEYS},
        "quick": settings.quick,
        "core": core.INSTRUCTION_SET,
        "host": f"{platform.machine()}, {os.cpu_count()} CPUs",
        "load_average": os.getloadavg()[0],
        "python": platform.python_version(),
    }
    for key in KEYS:
        value = document[key]
        print(f"{key:32}{'-' if value is None else f'{value:12.3f}'}")
    print(
        f"load of the host: {os.getloadavg()[0]:.1f} (rates are of CPU time, but neighbours cost); "
        f"the core for {core.INSTRUCTION_SET} processors"
    )
    (ROOT / "build" / "bench.json").write_text(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    main()
