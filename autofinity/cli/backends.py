"""The only place that knows all kinds of machines by name: `host`, presets, files, synthetic."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from autofinity.cli.options.page_size import PAGE_SIZES
from autofinity.model.errors import AutofinityError, UsageError
from autofinity.model.topology import OsIndex, Topology
from autofinity.resources import shipped

if TYPE_CHECKING:
    from autofinity.sim.machine import SimMachine
    from autofinity.sim.spec import MachineSpec

SYNTHETIC = "synthetic:"


def machine_topology(name: str) -> Topology:
    """The machine called `name`: `host`, a preset, a machine file of one's own (`.toml`, as the
    presets are), an hwloc XML file, or `synthetic:…`.

    A preset wins over a file of the same name; write `./NAME` for the file. Raises `UsageError`
    for a name that is none of these, `TopologyError` when the machine cannot be read.
    """
    if name == "host":
        from autofinity.linux.topology import host_topology

        return host_topology()
    if name.startswith(SYNTHETIC):
        from autofinity.linux.topology import synthetic_topology

        return synthetic_topology(name.removeprefix(SYNTHETIC))
    if name in preset_names():
        from autofinity.sim.preset import load_preset

        return load_preset(name).topology
    if name.endswith(".toml"):
        from autofinity.sim.preset import read_preset

        return read_preset(Path(name)).topology
    if name and ("/" in name or name.endswith(".xml") or Path(name).exists()):
        from autofinity.linux.topology import xml_topology

        return xml_topology(name)
    known = ", ".join(["host", *preset_names()])
    raise UsageError(
        f"unknown machine {name!r}; expected one of {known}, an hwloc XML file, or a synthetic "
        "description such as 'synthetic:pack:4 numa:2 l3:1 core:6 pu:1'"
    )


def preset_names() -> tuple[str, ...]:
    """Names of the shipped machine descriptions."""
    try:
        folder = shipped("data", "machines")
    except AutofinityError:
        return ()
    return tuple(sorted(path.stem for path in folder.glob("*.toml")))


def available_cpus(topology: Topology, text: str | None) -> frozenset[OsIndex] | None:
    """CPUs of a list such as `0-5,12` (the kernel's form); None for no list.

    Raises `UsageError` for a malformed list and for CPUs that the machine does not have or that
    may not be used.
    """
    if text is None:
        return None
    found: set[OsIndex] = set()
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        if not (first.isascii() and first.isdigit()) or (
            dash and not (last.isascii() and last.isdigit())
        ):
            raise UsageError(f"not a CPU list: {text!r}; expected for example 0-5,12")
        low, high = int(first), int(last or first)
        if high < low:
            raise UsageError(f"not a CPU list: {text!r}; {low}-{high} runs backwards")
        # Only numbers of the machine are kept, so that 0-4000000000 costs nothing.
        within = {os_index for os_index in topology.by_os_index if low <= os_index <= high}
        if len(within) <= high - low:
            missing = next(i for i in range(low, high + 1) if i not in within)
            raise UsageError(
                f"CPU {missing} of {text!r} is not on {topology.name}, which has "
                f"{len(topology.pus)} CPUs numbered {_spans(topology)}"
            )
        found |= within
    forbidden = found - topology.allowed
    if forbidden:
        raise UsageError(
            f"CPU {min(forbidden)} of {text!r} may not be used on {topology.name}; "
            f"{len(topology.allowed)} of its {len(topology.pus)} CPUs may"
        )
    return frozenset(found)


def cpu_list(cpus: frozenset[OsIndex]) -> str:
    """The kernel's form of a set of CPUs: `0-5,12`."""
    parts: list[list[int]] = []
    for cpu in sorted(cpus):
        if parts and cpu == parts[-1][1] + 1:
            parts[-1][1] = cpu
        else:
            parts.append([cpu, cpu])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in parts)


def _spans(topology: Topology) -> str:
    return cpu_list(frozenset(topology.by_os_index))


def simulated(
    name: str,
    latencies: str | None = None,
    page_size: str | None = None,
    *,
    twin: bool = False,
) -> SimMachine:
    """The machine of `simulated_spec`, with pages of `page_size` (`PAGE_SIZES`) if given.

    For `twin` see `simulated_spec`.
    """
    from autofinity.sim.machine import SimMachine

    spec = simulated_spec(name, latencies, twin=twin)
    if page_size is not None:
        spec = replace(spec, page_bytes=PAGE_SIZES[page_size])
    return SimMachine(spec)


def simulated_spec(name: str, latencies: str | None = None, *, twin: bool = False) -> MachineSpec:
    """The simulated machine called `name`: a preset, a machine file (TOML) of one's own, or any
    topology (hwloc XML, `synthetic:…`, `host`) with the latencies of a file or of a preset.

    Without `latencies` those of a topology are assumed, and one line on stderr says so; of `host`
    only where a `twin` of it is asked for. Raises
    `UsageError` for a name that is no machine, `TopologyError` for a bad file.
    """
    from autofinity.sim.machine_on import assumed_latencies, machine_on
    from autofinity.sim.preset import load_preset

    if name in preset_names() or name.endswith(".toml"):
        if latencies is not None:
            raise UsageError(
                f"--latencies {latencies}: {name} has its own; expected it with an hwloc XML file "
                "or a synthetic description"
            )
        if name not in preset_names() and not Path(name).is_file():
            raise UsageError(f"--machine {name}: there is no such machine file")
        return load_preset(name)
    if name == "host" and latencies is None and not twin:
        raise UsageError(
            "--machine host: latencies of this machine are not known; measure them with "
            "`autofinity record-machine -o host.toml` and give that file as the machine, or take "
            "those of a preset with --latencies (autofinity machines lists them)"
        )
    topology = machine_topology(name)
    if latencies is None:
        file = assumed_latencies()
        click.echo(
            f"autofinity: {name} says nothing of latencies and bandwidths: those of {file} are "
            "assumed; give your own with --latencies",
            err=True,
        )
    elif latencies in preset_names():
        file = shipped("data", "machines", f"{latencies}.toml")
    else:
        file = Path(latencies)
    return machine_on(topology, file)
