"""Looks and intervals of two threads, with values that a test chooses."""

from __future__ import annotations

from collections.abc import Mapping

from autofinity.model.counters import Behaviour, CounterSample
from autofinity.ports import Interval, ThreadEvent
from autofinity.runtime.looks import Look

LOOK_NS = 100_000_000
FAULT_BYTES = 4096


def look(values: Mapping[str, float], elapsed_ns: int = LOOK_NS) -> Look:
    """Rates per thread and second."""
    return Look(Behaviour(values), elapsed_ns)


def at_phase(
    requests_pki: float, loads: float = 0.2, stores: float = 0.1, speed: float = 1e9
) -> dict[str, float]:
    """Rates of a program with so many instructions a second, of these kinds."""
    return {
        "instructions": speed,
        "data_cache_loads": loads * speed,
        "data_cache_stores": stores * speed,
        "llc_requests": requests_pki * speed / 1e3,
    }


def interval(
    start_ns: int,
    new_bytes: float,
    values: Mapping[str, float] | None = None,
    *,
    resident_bytes: float = float("nan"),
    used_ns: tuple[int, int] = (LOOK_NS, LOOK_NS),
    begins: bool = False,
) -> Interval:
    """A look of 0.1 s in which both threads together touch so much memory for the first time."""
    counts = {name: round(rate * LOOK_NS / 1e9) for name, rate in (values or {}).items()}
    faults = round(new_bytes / 2 / FAULT_BYTES)
    return Interval(
        start_ns,
        start_ns + LOOK_NS,
        tuple(
            CounterSample(
                100 + thread,
                start_ns,
                start_ns + LOOK_NS,
                {**counts, "page_faults": faults, "task_clock_ns": used},
                LOOK_NS,
                LOOK_NS,
            )
            for thread, used in enumerate(used_ns)
        ),
        tuple(ThreadEvent("begin", n, 100 + n, start_ns) for n in (0, 1)) if begins else (),
        resident_bytes=resident_bytes,
    )
