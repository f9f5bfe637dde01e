"""`autofinity simulate` with several traces, or with threads that are not bound."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from autofinity.cli.options.period import length_ns
from autofinity.cli.printer import say, say_json
from autofinity.model.errors import UsageError

if TYPE_CHECKING:
    from autofinity.sim.spec import MachineSpec
    from autofinity.sim.together import TogetherResult


def durations_ns(text: str | None, programs: int) -> tuple[float, ...]:
    """Start of each program from `0,5ms`; nanoseconds where no unit is given.

    Raises `UsageError` for what is no duration or not one for each program.
    """
    if text is None:
        return (0.0,) * programs
    found = []
    for part in text.split(","):
        value = length_ns(part.strip(), plain="ns")
        if not 0 <= value <= 1e12:
            raise UsageError(f"not a list of durations: {text!r}; expected for example 0,5ms")
        found.append(value)
    if len(found) != programs:
        raise UsageError(f"got {len(found)} starts for {programs} programs; expected one each")
    return tuple(found)


def show_each(
    traces: Sequence[Path], spec: MachineSpec, result: TogetherResult, as_json: bool
) -> None:
    """Time, counters and instructions per clock of each program and of the whole."""
    from autofinity.sim.events import EVENTS, OUTSIDE_LLC

    if as_json:
        programs = [
            {
                "trace": str(trace),
                "begin_ns": each.begin_ns,
                "end_ns": each.end_ns,
                "roi_ns": each.roi_ns,
                "totals": {event: each.total(event) for event in EVENTS},
            }
            for trace, each in zip(traces, result.programs, strict=True)
        ]
        whole = result.whole
        document = {"machine": spec.name, "roi_ns": whole.roi_ns, "cpus": list(whole.cpus)}
        say_json(document | {"programs": programs})
        return
    say(f"{len(traces)} programs on {spec.name}, {result.whole.roi_ns / 1e6:.3f} ms in all")
    for trace, each in zip(traces, result.programs, strict=True):
        outside = sum(map(each.total, OUTSIDE_LLC))
        say(
            f"{trace.name}: from {each.begin_ns / 1e6:.3f} to {each.end_ns / 1e6:.3f} ms, region "
            f"of interest {each.roi_ns / 1e6:.3f} ms, {each.total('instructions'):,} instructions, "
            f"{outside:,} lines from outside its LLCs, {each.total('migrations'):,} migrations"
        )
