"""Result of one program, for `autofinity simulate`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from autofinity.cli.page import print_table
from autofinity.cli.printer import page, say, say_json
from autofinity.model.cpu_lists import format_cpu_list
from autofinity.sim.doubtful import remedy

if TYPE_CHECKING:
    from autofinity.evaluation.in_run import InRun
    from autofinity.sim.result import SimResult
    from autofinity.sim.spec import MachineSpec

SHOWN = (
    "instructions",
    "cycles",
    "cpu_clocks_halted",
    "data_cache_accesses",
    "data_cache_misses",
    "l2_misses",
    "llc_misses",
    "dram_reads_local",
    "dram_reads_remote",
    "cache_to_cache_transfers_same_llc",
    "cache_to_cache_transfers_same_package",
    "cache_to_cache_transfers_remote",
    "invalidations_sent",
    "page_walks",
    "stall_cycles_memory",
    "stall_cycles_sync",
)


def show(trace: Path, spec: MachineSpec, result: SimResult, every: bool, as_json: bool) -> None:
    """Print the counts of one program; `every`: of all events."""
    if as_json:
        say_json(_document(trace, spec, result))
    else:
        _print(trace, spec, result, every)


def _document(trace: Path, spec: MachineSpec, result: SimResult) -> dict[str, object]:
    from autofinity.sim.events import EVENTS

    return {
        "trace": str(trace),
        "machine": spec.name,
        "cpus": list(result.cpus),
        "workers": list(result.workers),
        "roi_ns": result.roi_ns,
        "error": _known(result.error),
        "ipc": result.ipc,
        "energy_j": _known(result.energy_j(spec)),
        "energy_error": _known(result.energy_error(spec)),
        "totals": {event: result.total(event) for event in EVENTS},
        "errors": {event: _known(result.error_of(event)) for event in EVENTS},
        "per_thread": {event: result.of_workers(event).tolist() for event in EVENTS},
        "samples": len(result.samples),
        "progress": result.progress.tolist(),
    }


def _known(value: float) -> float | None:
    return value if value == value else None


def _print(trace: Path, spec: MachineSpec, result: SimResult, every: bool) -> None:
    from rich.table import Table

    from autofinity.sim.events import EVENTS

    console = page()
    console.print(
        f"{trace.name} on {spec.name}, CPUs {','.join(map(str, result.cpus))}", soft_wrap=True
    )
    samples = "1 sample" if len(result.samples) == 1 else f"{len(result.samples)} samples"
    error = f" ± {100 * result.error:.2f} %" if result.error else ""
    console.print(
        f"region of interest {result.roi_ns / 1e6:.3f} ms{error}, IPC {result.ipc:.3f} per thread, "
        f"{samples}",
        soft_wrap=True,
    )
    if (joules := _known(result.energy_j(spec))) is not None:
        error = f" ± {100 * result.energy_error(spec):.2f} %" if result.error else ""
        console.print(f"energy {joules:.4g} J{error}", soft_wrap=True)
    if doubt := remedy(result.error):
        console.print(doubt, soft_wrap=True)
    sampled = ("± %",) if result.error else ()
    table = Table("counter", "all threads", "per 1000 instructions", *sampled)
    for column in table.columns[1:]:
        column.justify = "right"
    instructions = max(1, result.total("instructions"))
    for event in EVENTS if every else SHOWN:
        count = result.total(event)
        known = _known(result.error_of(event))
        off = "-" if known is None else f"{100 * known:.2f}"
        cells = (event, f"{count:,}", f"{1000 * count / instructions:.3f}", off)
        table.add_row(*cells[: len(table.columns)])
    print_table(table, console)
    for line in (*_of_llc_misses(spec, result), *_of_llc_lookups(result)):
        console.print(line, soft_wrap=True)
    shared = len(result.cpus) - len(set(result.cpus))
    if shared:
        console.print(f"{shared} threads share a CPU: {format_cpu_list(result.cpus)} are used")


def _of_llc_misses(spec: MachineSpec, result: SimResult) -> list[str]:
    """Where the lines of `llc_misses` were, for an LLC that need not hold its own cores' lines."""
    from autofinity.sim.events import OUTSIDE_LLC

    if spec.llc.inclusion == "inclusive":
        return []
    beside = result.total("cache_to_cache_transfers_same_llc")
    outside = sum(map(result.total, OUTSIDE_LLC))
    return [
        "llc_misses counts lines that were not in the LLC itself, which holds what its cores have "
        f"evicted: {beside:,} came from other cores of the same LLC, {outside:,} from outside "
        "(other LLCs, memory)"
    ]


def _of_llc_lookups(result: SimResult) -> list[str]:
    """Why an LLC is looked up more often than L2 caches miss, where this shows."""
    misses, l2_misses = result.total("llc_misses"), result.total("l2_misses")
    if misses <= l2_misses:
        return []
    prefetches, walks = result.total("prefetches_issued"), result.total("page_walk_misses")
    return [
        f"llc_misses is above l2_misses: the LLC is also looked up for {prefetches:,} prefetches "
        f"and {walks:,} page walks, which are no l2_misses"
    ]


def show_placed(trace: Path, spec: MachineSpec, result: InRun, as_json: bool) -> None:
    """Print where a policy placed one program within its run."""
    if as_json:
        say_json(_policy_document(result))
    else:
        say(_policy_text(trace, spec, result))


def _policy_document(result: InRun) -> dict[str, object]:
    decided_s = result.decided_at_s
    return {
        "roi_s": result.roi_s,
        "hints": [str(hint) for hint in result.hints],
        "decided_at_s": decided_s if decided_s == decided_s else None,
    }


def _policy_text(trace: Path, spec: MachineSpec, result: InRun) -> str:
    where = " → ".join(hint.shown for hint in result.hints)
    decided = (
        f"decided after {result.decided_at_s * 1e3:.3g} ms"
        if result.decided_at_s == result.decided_at_s
        else "the run ended before a decision"
    )
    return (
        f"{trace.name} on {spec.name}: {result.roi_s * 1e3:.4g} ms, including samples and moves\n"
        f"threads were placed {where}; {decided}"
    )
