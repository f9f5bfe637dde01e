"""The machine file of the present machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime

from autofinity.foreign_text import one_line
from autofinity.linux.event_tables import this_cpu
from autofinity.linux.topology import host_topology
from autofinity.model.topology import PU, Topology
from autofinity.recording.assumed import Assumed
from autofinity.recording.bench import Bench
from autofinity.recording.between import Between
from autofinity.recording.core_kind import CoreKind, Tables
from autofinity.recording.host_caches import HostCache, host_caches
from autofinity.recording.rows import Row, list_row, matrix_row, row, text_row, toml_of
from autofinity.recording.system import system_rows
from autofinity.sim.spec import PAGE_BYTES

STEPS_OF_A_KIND = 7
STEPS_BETWEEN = 5

_HEAD = """\
# {model}, as `autofinity record-machine{options}` found it on {when}.
#
# Sources: sysfs, CPUID, hwloc, SLIT and sysconf as named. R = read there; M = measured by that
# command, with the share by which the median round was off the best (the fastest; of bandwidths the
# highest); D = derived as said; E = estimate, with its bounds or its alternative: it cannot be
# measured here, and the value is from where it says.
# Latencies between cores and of memory are in nanoseconds (`clocks_at_ghz` = 1).

"""


def record(
    name: str,
    quick: bool,
    begin: Callable[[int], Callable[[str], None]],
    topology: Topology | None = None,
) -> str:
    """Measure, and return the text of a machine file.

    `begin` gets the number of steps and returns a function that takes each step's name. Raises
    `TopologyError` when hwloc cannot read the machine, `OSError` when nothing can be pinned.
    """
    machine = topology or host_topology()
    assumed = Assumed()
    bench = Bench.of(quick)
    kinds = _kinds(machine)
    step = begin(len(kinds) * STEPS_OF_A_KIND + STEPS_BETWEEN)
    measured = []
    for kind, cpu in enumerate(kinds):
        caches = _divided(host_caches(cpu), machine)
        core = CoreKind(cpu, caches, _cores_of_l2(machine, caches), bench, assumed)
        for label in core.steps():
            step(f"{label}{f' of kind {kind + 1}' if len(kinds) > 1 else ''}")
        measured.append(core)
    first = measured[0]
    llc_bytes = first.last.size_bytes if first.last else 0
    between = Between(machine, bench, llc_bytes, assumed)
    for label in between.steps(_llc_ns(first), first.dram_ns):
        step(label)
    system = system_rows(_cpus(machine), bench, assumed)
    step("operating system")
    options = " --quick" if quick else ""
    head = _HEAD.format(
        model=one_line(machine.model) or "A machine",
        options=options,
        when=datetime.now(UTC).date().isoformat(),
    )
    ends = {"system": system, "pmu": [assumed.row("pmu", "counters")]}
    return head + "\n".join(_document(name, machine, measured, between, ends))


def _cpus(topology: Topology) -> list[int]:
    """One usable CPU of each core, in the order of the cores."""
    return list(_first_usable(topology, lambda pu: pu.core).values())


def _kinds(topology: Topology) -> list[int]:
    """One usable CPU of each kind of core, fastest first."""
    found = _first_usable(topology, lambda pu: pu.efficiency)
    return [found[kind] for kind in sorted(found, reverse=True)]


def _first_usable(topology: Topology, part: Callable[[PU], int]) -> dict[int, int]:
    """The first usable CPU of each part, by the number of the part."""
    found: dict[int, int] = {}
    for pu in topology.pus:
        if pu.os_index in topology.allowed:
            found.setdefault(part(pu), pu.os_index)
    return found


def _divided(caches: tuple[HostCache, ...], topology: Topology) -> tuple[HostCache, ...]:
    """The caches of a CPU, where nodes may divide the last one, and a domain may have the last ones
    of several cores.
    """
    if topology.llc_parts == 1:
        if topology.llcs_are_caches or not (topology.caches and caches):
            return caches
        return (*caches[:-1], replace(caches[-1], size_bytes=topology.llc_bytes))
    by_home = topology.has_an_llc_each_node and _protocol(topology) == "mesi"
    return tuple(
        replace(cache, parts=topology.llc_parts, by_home=by_home) if cache is caches[-1] else cache
        for cache in caches
    )


def _cores_of_l2(topology: Topology, caches: tuple[HostCache, ...]) -> int:
    second = next((cache for cache in caches[:-1] if cache.level == 2), None)
    sharing = second.cpus if second else frozenset()
    return max(1, len({pu.core for pu in topology.pus if pu.os_index in sharing}))


def _llc_ns(kind: CoreKind) -> float:
    value = next(each.value for each in kind.llc if each.key == "latency")
    return float(value.split("=")[1].split(",")[0])


def _document(
    name: str,
    topology: Topology,
    kinds: list[CoreKind],
    between: Between,
    ends: Mapping[str, list[Row]],
) -> Iterator[str]:
    """The tables of the file, in the order of the shipped files."""
    root = [text_row("name", name), text_row("model", topology.model or "unknown"), *_cpu_row()]
    root.append(_page_row(topology.page_sizes_bytes[0]))
    if len(kinds) == 1:
        yield toml_of("", [*root, *kinds[0].tables.pop("")])
    else:
        yield toml_of("", root)
        for number, kind in enumerate(kinds):
            yield from _core_class(number, topology, kind.tables)
    yield toml_of("[topology]", list(_topology_rows(topology, len(kinds))))
    yield toml_of("[coherence]", _coherence(topology))
    if len(kinds) == 1:
        for title in ("l1", "l2"):
            if title in kinds[0].tables:
                yield toml_of(f"[{title}]", kinds[0].tables[title])
    yield toml_of("[llc]", kinds[0].llc)
    if len(kinds) == 1:
        yield toml_of("[tlb]", kinds[0].tables["tlb"])
    unit = row("clocks_at_ghz", 1.0, "D: these are nanoseconds")
    further = [list_row("further_from", between.further_from, "SLIT R")]
    yield toml_of("[latency]", [unit, *further * bool(between.further_from), *between.latency])
    yield toml_of("[bandwidth]", between.bandwidth)
    if len(kinds) == 1:
        yield toml_of("[core]", kinds[0].tables["core"])
    for title, rows in ends.items():
        yield toml_of(f"[{title}]", rows)


def _cpu_row() -> list[Row]:
    """Identity of the CPU, which decides its events; empty where /proc has none."""
    cpu = this_cpu()
    if not cpu.vendor:
        return []
    vendor = text_row("", cpu.vendor).value
    return [Row("cpu", f"[{vendor}, {cpu.family}, {cpu.model}]", "")]


def _page_row(size_bytes: int) -> Row:
    if size_bytes in PAGE_BYTES:
        return row("page_bytes", size_bytes, "sysconf R")
    smaller = max(each for each in PAGE_BYTES if each < size_bytes)
    return row("page_bytes", smaller, f"D: {size_bytes} in truth (sysconf R), not simulated")


def _core_class(number: int, topology: Topology, tables: Tables) -> Iterator[str]:
    kinds = sorted({pu.efficiency for pu in topology.pus}, reverse=True)
    of_kind = [pu for pu in topology.pus if pu.efficiency == kinds[number]]
    cores = {pu.core for pu in of_kind if pu.llc == of_kind[0].llc}
    smt = 1 + max(pu.smt_rank for pu in of_kind)
    head = [
        text_row("name", f"kind {number + 1}"),
        *tables[""],
        row("cores_per_llc", len(cores), "hwloc R"),
        row("pus_per_core", smt, "hwloc R"),
    ]
    yield toml_of("[[core_class]]", head)
    for title in ("l1", "l2", "tlb", "core"):
        if title in tables:
            yield toml_of(f"[core_class.{title}]", tables[title])


def _topology_rows(topology: Topology, kinds: int) -> Iterator[Row]:
    efficiencies = sorted({pu.efficiency for pu in topology.pus}, reverse=True)
    rows = [
        [pu.os_index, pu.core, pu.llc, pu.package, pu.node]
        + ([efficiencies.index(pu.efficiency)] if kinds > 1 else [])
        for pu in topology.pus
    ]
    columns = "OS index, core, LLC domain, package, node" + (", class" if kinds > 1 else "")
    yield matrix_row("pus", rows, f"hwloc R: {columns}")
    yield matrix_row("distances", topology.distances, "SLIT R")
    if topology.memoryless_nodes:
        yield list_row("memoryless_nodes", sorted(topology.memoryless_nodes), "hwloc R")


def _protocol(topology: Topology) -> str:
    return "moesi" if topology.model.startswith("AMD") else "mesi"


def _coherence(topology: Topology) -> list[Row]:
    if _protocol(topology) == "moesi":
        return [
            text_row("protocol", "moesi", "E or mesi: by the vendor"),
            Row("clean_forwarding", "false", "E or true: by the vendor"),
        ]
    return [
        text_row("protocol", "mesi", "E or moesi: by the vendor"),
        Row("clean_forwarding", "true", "E or false: by the vendor"),
    ]
