"""The only module that knows all kinds of machines by name: `host`, presets, files, synthetic."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from autofinity.linux.gaps import gaps
from autofinity.model.errors import UsageError
from autofinity.model.topology import Topology
from autofinity.ports import Pool
from autofinity.reporter import SILENT, Reporter
from autofinity.resources import shipped

if TYPE_CHECKING:
    from autofinity.sim.machine import SimMachine
    from autofinity.sim.sampled import Precision
    from autofinity.sim.spec import MachineSpec

SYNTHETIC = "synthetic:"
ASSUMED = "assumed"
"""In place of latencies: the shipped ones for a machine of which only the topology is known."""
PAGE_SIZES = {"4K": 4096, "16K": 16384, "2M": 2 << 20}
"""Bytes by the names that users know."""


def described_machine(name: str) -> MachineSpec | None:
    """The machine of a preset or of a user's machine file (`.toml`); None for any other name.

    Raises `TopologyError` for a machine file that is bad.
    """
    from autofinity.sim.preset import load_preset, preset_names

    if name in preset_names() or name.endswith(".toml"):
        return load_preset(name)
    return None


def machine_topology(name: str) -> Topology:
    """The machine called `name`: `host`, a preset, a user's machine file (`.toml`, as presets are),
    an hwloc XML file, or `synthetic:…`.

    A preset has precedence over a file of the same name; write `./NAME` for the file. Raises
    `UsageError` for a name that is none of these, `TopologyError` when the machine cannot be read.
    """
    if name == "host":
        from autofinity.linux.topology import host_topology

        return host_topology()
    if name.startswith(SYNTHETIC):
        from autofinity.linux.topology import synthetic_topology

        return synthetic_topology(name.removeprefix(SYNTHETIC))
    if (spec := described_machine(name)) is not None:
        return spec.topology
    if name and ("/" in name or name.endswith(".xml") or os.access(name, os.F_OK)):
        from autofinity.linux.topology import xml_topology

        return xml_topology(name)
    from autofinity.sim.preset import preset_names

    known = ", ".join(["host", *preset_names()])
    raise UsageError(
        f"unknown machine {name!r}; expected one of {known}, a machine file (.toml), an hwloc XML "
        "file, or a synthetic description such as 'synthetic:pack:4 numa:2 l3:1 core:6 pu:1'"
    )


def simulated(
    name: str,
    latencies: str | None = None,
    page_size: str | None = None,
    *,
    precision: Precision | None = None,
    pool: Pool | None = None,
    reporter: Reporter = SILENT,
) -> SimMachine:
    """The machine of `simulated_spec`, which also raises the errors; see `SimMachine`."""
    from autofinity.sim.machine import SimMachine

    spec = simulated_spec(name, latencies, page_size, reporter=reporter)
    return SimMachine(spec, precision, reporter.notice, pool)


def simulated_spec(
    name: str,
    latencies: str | None = None,
    page_size: str | None = None,
    *,
    reporter: Reporter = SILENT,
) -> MachineSpec:
    """The simulated machine called `name`: a preset, a user's machine file (TOML), or any topology
    (hwloc XML, `synthetic:…`, `host`) with the latencies of a file or of a preset.

    Pages are of `page_size` (`PAGE_SIZES`) if given. Without `latencies`, those of a topology are
    `ASSUMED`, with a notice, except for `host`. Raises `UsageError` for a name that is no machine
    or page size, `TopologyError` for a bad file.
    """
    spec = _with_own_pages(name, latencies, reporter)
    if page_size is None:
        return spec
    if page_size not in PAGE_SIZES:
        raise UsageError(f"page size {page_size!r}: expected one of {', '.join(PAGE_SIZES)}")
    return replace(spec, page_bytes=PAGE_SIZES[page_size])


def _with_own_pages(name: str, latencies: str | None, reporter: Reporter) -> MachineSpec:
    from autofinity.sim.machine_on import assumed_latencies, machine_on
    from autofinity.sim.preset import load_preset, preset_names

    if name in preset_names() or name.endswith(".toml"):
        if latencies is not None:
            raise UsageError(
                f"--latencies {latencies}: {name} has its own; expected it with an hwloc XML file "
                "or a synthetic description"
            )
        if name not in preset_names() and not os.access(name, os.F_OK):
            raise UsageError(f"--machine {name}: there is no such machine file")
        return load_preset(name)
    if name == "host" and latencies is None:
        raise UsageError(
            "--machine host: latencies of this machine are not known; measure them with "
            "`autofinity record-machine -o host.toml` and give that file as the machine, or take "
            "those of a preset with --latencies (autofinity machines lists them), or --latencies "
            "assumed"
        )
    topology = machine_topology(name)
    for line in gaps(topology):
        reporter.notice(line)
    if latencies in (None, ASSUMED):
        file = assumed_latencies()
        reporter.notice(
            f"{name} has no latencies and bandwidths: those of {file} are assumed; give others "
            "with --latencies"
        )
    elif latencies in preset_names():
        file = shipped("data", "machines", f"{latencies}.toml")
    else:
        file = Path(latencies)
    return machine_on(topology, file)
