"""Time of the operating system to switch from thread to thread, and to move a thread."""

from __future__ import annotations

from autofinity._core import measure
from autofinity.recording.assumed import Assumed
from autofinity.recording.bench import Bench
from autofinity.recording.rows import Reading, Row, idle, row


def system_rows(cpus: list[int], bench: Bench, assumed: Assumed) -> list[Row]:
    """The `[system]` table, measured on the first of `cpus` and between the first two.

    The time of a wake-up is that of a turn through pipes less that of a turn by yielding. A turn
    through pipes contains a switch: if a yield takes longer, another thread ran as well (measured
    on Linux 6.18, beside busy threads of a higher priority: 8 ms instead of 2 µs). Where the
    threads never met, and for moves on a machine with one CPU, the assumed values are used.
    """
    cpu = cpus[0]
    switch = _microseconds(measure.switch_ns(cpu, bench.rounds))
    both = _microseconds(measure.wake_and_switch_ns(cpu, bench.rounds))
    move = _microseconds(measure.move_ns(cpu, cpus[1], bench.rounds) if len(cpus) > 1 else [])
    rows = [assumed.row("system", "time_slice_us")]
    if switch and both:
        switch = min(switch, both, key=lambda reading: reading.value)
        wake = Reading(max(0.0, both.value - switch.value), max(both.spread, switch.spread))
        rows += [
            row("context_switch_us", switch.value, switch.origin),
            row("spin_us", switch.value, "D: `context_switch_us`: as long as a switch takes"),
            row("wake_us", wake.value, wake.origin),
        ]
    else:
        rows += [assumed.row("system", key) for key in ("context_switch_us", "spin_us", "wake_us")]
    if move:
        rows.append(row("migration_us", move.value, move.origin))
    else:
        rows.append(assumed.row("system", "migration_us"))
    return rows


def _microseconds(samples_ns: list[float]) -> Reading | None:
    if not samples_ns:
        return None
    reading = idle(samples_ns)
    return Reading(reading.value / 1000, reading.spread)
