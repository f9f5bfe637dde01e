"""One run under a mechanism: the common loop over a process, with all costs charged and all events
counted.

A region of interest of the training programs takes some 5 to 50 ms; the papers' programs run for a
minute or more, map threads every 100 ms and sample a tenth of the pages a second. So two numbers
are chosen, and both are options of `autofinity compare`:

- the region runs `repeats` times, with the caches and pages that the last time left, and with it
  the work that a mechanism's costs are weighed against grows;
- the whole run stands for `paper_s` seconds of a paper's: periods and rates are scaled to it, so
  each mapping is made as often as in the paper's run. The costs of a fault, a copied page or a
  migrated thread are not scaled; the cost of a mapping is (`Setting.mapping_charge_ns`).

With fewer repeats the same number of faults weighs more: overheads are upper bounds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from autofinity.mechanisms.recipe import Recipe
from autofinity.model.mechanism_run import MechanismRun
from autofinity.model.topology import OsIndex
from autofinity.ports import (
    Action,
    Interval,
    Machine,
    MovePages,
    Outcome,
    Process,
    RunRequest,
    Sensors,
    SpendTime,
)
from autofinity.runtime.loop import Observer, run_loop

TRANSFERS = (
    "cache_to_cache_transfers_same_llc",
    "cache_to_cache_transfers_same_package",
    "cache_to_cache_transfers_remote",
)
SCORED = (
    *("instructions", "l2_misses", "llc_misses", "dtlb_accesses", "page_walks"),
    *("link_bytes", "link_request_bytes", "invalidations_sent", "migrations", "cycles"),
    "data_cache_accesses",
    *TRANSFERS,
)
"""Events that a run is judged by, beside those that the mechanism itself uses."""
_MIGRATION = "thread migration"
"""Kind of overhead; each of `migrations` is one."""
_FIVE = (0.0, 0.25, 0.5, 0.75, 1.0)


type Watch[State] = Callable[[], Sequence[Observer[State]]]
"""Observers of a run, asked for once its process has started."""


def run_mechanism[State](
    machine: Machine,
    request: RunRequest,
    recipe: Recipe[State],
    seed: int = 0,
    watch: Watch[State] = tuple,
) -> MechanismRun:
    """Run to the end. Raises the errors of the machine: `CapabilityError` for a sensor that it
    lacks.
    """
    wanted = recipe.sensors
    counters = tuple(dict.fromkeys((*wanted.counters, *SCORED)))
    process = Counted(
        machine.start(
            replace(request, pages=recipe.start.pages),
            recipe.start.placement,
            Sensors(counters, wanted.detectors),
            seed,
        )
    )
    topology = machine.topology
    state = recipe.begin(topology, topology.allowed, request.threads)
    run_loop(process, recipe, state, recipe.period_ns, *watch())
    return process.result(request.threads)


@dataclass
class Counted:
    """A process that counts the events of its intervals and the results of its actions."""

    process: Process
    counts: Counter[str] = field(default_factory=Counter)
    overhead_ns: Counter[str] = field(default_factory=Counter)
    pages: int = 0
    energy_j: float = 0.0
    dram_energy_j: float = 0.0
    detection_accesses: int = 0
    mappings: int = 0
    mappings_changed: int = 0
    operation_ns: dict[str, list[float]] = field(default_factory=dict)
    """Time of one operation, by kind, for each action and interval with some."""
    cpus: dict[int, OsIndex] = field(default_factory=dict)
    """Where each thread ran last, by its number."""
    begin_ns: int | None = None
    end_ns: int = 0

    def advance(self, duration_ns: int) -> Interval:
        """As the process."""
        interval = self.process.advance(duration_ns)
        if self.begin_ns is None:
            self.begin_ns = interval.start_ns
        self.end_ns = interval.end_ns
        self.energy_j += interval.energy_j
        self.dram_energy_j += interval.dram_energy_j
        self.detection_accesses += interval.detection_accesses
        self.overhead_ns.update(interval.overhead_ns)
        self.cpus |= {thread: cpu for thread, cpu in enumerate(interval.cpus) if cpu >= 0}
        before = self.counts["migrations"]
        for sample in interval.samples:
            for name, count in sample.counts.items():
                self.counts[name] += count
        migrations = self.counts["migrations"] - before
        if migrations:
            self._took(_MIGRATION, interval.overhead_ns.get(_MIGRATION, 0), migrations)
        return interval

    def apply(self, actions: Sequence[Action]) -> Outcome:
        """As the process, one action after the other."""
        outcomes = [self.process.apply((action,)) for action in actions]
        for action, outcome in zip(actions, outcomes, strict=True):
            if isinstance(action, MovePages):
                self.pages += outcome.done
                if outcome.done:
                    self._took("page copy", outcome.cost_ns, outcome.done)
            elif isinstance(action, SpendTime):
                self.mappings += action.kind == "mapping"
            else:
                self.mappings_changed += outcome.done > 0
        return Outcome(
            sum(outcome.done for outcome in outcomes),
            sum(outcome.skipped for outcome in outcomes),
            tuple(dict.fromkeys(reason for outcome in outcomes for reason in outcome.reasons)),
            sum(outcome.cost_ns for outcome in outcomes),
        )

    def result(self, threads: int) -> MechanismRun:
        """All that was counted so far."""
        counts = self.counts
        return MechanismRun(
            time_s=(self.end_ns - (self.begin_ns or 0)) / 1e9,
            threads=threads,
            instructions=counts["instructions"],
            l2_misses=counts["l2_misses"],
            llc_misses=counts["llc_misses"],
            tlb_accesses=counts["dtlb_accesses"],
            page_walks=counts["page_walks"],
            traffic_bytes=counts["link_bytes"] + counts["link_request_bytes"],
            cache_to_cache_transfers=sum(counts[name] for name in TRANSFERS),
            invalidations=counts["invalidations_sent"],
            energy_j=self.energy_j,
            dram_energy_j=self.dram_energy_j,
            accesses=counts["data_cache_accesses"],
            mappings=self.mappings,
            mappings_changed=self.mappings_changed,
            operation_ns={
                kind: [float(ns) for ns in np.quantile(each, _FIVE)]
                for kind, each in self.operation_ns.items()
            },
            detection_accesses=self.detection_accesses,
            thread_migrations=counts["migrations"],
            page_migrations=self.pages,
            cpus=[self.cpus[thread] for thread in sorted(self.cpus)],
            overhead_ns=dict(self.overhead_ns),
        )

    def _took(self, kind: str, ns: int, operations: int) -> None:
        self.operation_ns.setdefault(kind, []).append(ns / operations)
