"""Counts that others measured, as a sample: which counters they have, and which they lack.

events of a file ─► EventNames of the CPU ─► counters ─► per thread and second, where it says
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from autofinity.foreign_text import one_line
from autofinity.linux.event_names import Code, Event, EventNames
from autofinity.measured.counts import Count, Measured
from autofinity.model.policy import RulePolicy
from autofinity.policy.evidence import asked_by
from autofinity.workflow.advice.memory_reads import OF_MEMORY

_MOST_NAMED = 12
"""Events that are named where many are not used."""


@dataclass(frozen=True, slots=True)
class Given:
    """Counters and events of a file that are used, and those that are not."""

    file: str
    format: str
    values: Mapping[str, float]
    """Counters; per thread and second if `timed`, else of one base, so that ratios hold."""
    timed: bool
    used: Mapping[str, tuple[str, ...]]
    """Counter → events that it was made of, as the file calls them."""
    unused: tuple[str, ...]
    """Events that stand for no counter on this CPU, or were not counted, with why."""
    lacking: tuple[str, ...]
    """Counters that rules ask for and the file lacks."""
    uncountable: tuple[str, ...]
    """Those of them that this CPU has no events for."""
    measure: str
    """The command that measures all that the rules ask for; empty: this CPU has no events for what
    is lacking, or nothing is.
    """
    shows: tuple[str, ...]

    @property
    def lines(self) -> tuple[str, ...]:
        """Lines for people: the evidence that decided."""
        made = "; ".join(
            name if events == (name,) else f"{name} ({' + '.join(map(one_line, events))})"
            for name, events in self.used.items()
        )
        return (f"read as {self.format}: {made or 'no counter'}", *self.shows)

    def missing(self, *, measure: bool) -> tuple[str, ...]:
        """Lines for people: what the file does not show; and how to measure it, if `measure`."""
        lines = []
        if self.lacking:
            line = f"rules ask for {', '.join(self.lacking)}; the file has no event for it"
            if self.uncountable == self.lacking:
                line += ", nor has this CPU"
            elif self.uncountable:
                line += f"; this CPU has none for {', '.join(self.uncountable)}"
            if measure and self.measure:
                line += f"; measure with `{self.measure}`"
            lines.append(line)
        if self.unused:
            named = ", ".join(map(one_line, self.unused[:_MOST_NAMED]))
            more = len(self.unused) - _MOST_NAMED
            lines.append(f"not used: {named}" + (f" and {more} more" if more > 0 else ""))
        return tuple(lines)


def given_by(
    file: str,
    measured: Measured,
    names: EventNames,
    policy: RulePolicy | None,
    known: Collection[str],
) -> Given:
    """`known`: all names of counters, which a file may use itself."""
    own = {name: count for name, count in measured.counts.items() if name in known}
    events = {
        name: event
        for name in measured.counts
        if name not in own and (event := names.event(name)) is not None
    }
    timed = not any(math.isnan(measured.counts[name].seconds) for name in (*own, *events))
    timed = timed and bool(own or events)
    by_code = _by_code(measured, events, timed=timed)
    made = names.neutral({code: value for code, (value, _) in by_code.items()})
    values = {name: value for name, (value, _) in made.items()}
    used = {
        name: tuple(event for code in codes for event in by_code[code][1])
        for name, (_, codes) in made.items()
    }
    for name, count in own.items():
        values[name], used[name] = _amount(count, timed=timed), (name,)
    asked = () if policy is None else asked_by(policy)
    lacking = tuple(name for name in asked if name not in values)
    taken = {event for some in used.values() for event in some}
    unused = (
        *(name for name in measured.counts if name not in taken),
        *(f"{name} ({why})" for name, why in measured.failed.items()),
    )
    return Given(
        file,
        measured.format,
        values,
        timed,
        used,
        unused,
        lacking,
        tuple(name for name in lacking if not names.spelling(name)),
        _command(names, asked, lacking),
        measured.shows,
    )


def rates_asked_by(policy: RulePolicy) -> tuple[str, ...]:
    """Counters that rules compare as they are, per thread and second, not as a part of a ratio."""
    return tuple(
        dict.fromkeys(
            condition.counter
            for rule in policy.rules
            for condition in rule.conditions
            if condition.counter in policy.counters
        )
    )


def _by_code(
    measured: Measured, events: Mapping[str, Event], *, timed: bool
) -> dict[Code, tuple[float, tuple[str, ...]]]:
    """Count of each event, and its names in the file. Where the file has an event twice, the first
    counts; where it has one on each kind of cores, both do, by the time on each.
    """
    kinds: dict[Code, dict[str, str]] = {}
    for name, event in events.items():
        kinds.setdefault(event.code, {}).setdefault(event.pmu, name)
    found = {}
    for code, named in kinds.items():
        spellings = tuple(named.values())
        counts = [measured.counts[name] for name in spellings]
        value = (
            _amount(counts[0], timed=timed)
            if len(counts) == 1
            else math.fsum(_amount(count, timed=timed) * count.running for count in counts)
        )
        found[code] = (value, spellings)
    return found


def _amount(count: Count, *, timed: bool) -> float:
    return count.value / count.seconds if timed and count.seconds > 0 else count.value


def _command(names: EventNames, asked: Collection[str], lacking: Collection[str]) -> str:
    """All at once: what one run did is not held against what another one did."""
    if not lacking or not any(names.spelling(counter) for counter in lacking):
        return ""
    events = dict.fromkeys(
        event for counter in (*asked, *OF_MEMORY) for event in names.spelling(counter)
    )
    return f"perf stat -j -o FILE -e {','.join(events)} -- PROGRAM"
