"""All mechanisms by name, in the order in which tables list them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from autofinity.mechanisms import (
    autofinity,
    carrefour,
    kmaf14,
    kmaf16,
    marathe,
    numa_balancing,
    oracle,
    sammu,
    spcd,
    static,
    tlb_matching,
    trials,
    unified,
)
from autofinity.mechanisms.recipe import Recipe, Setting
from autofinity.model.affinity import DISTRIBUTED, PACKED
from autofinity.model.errors import UsageError

type Make = Callable[[Setting], Recipe[Any]]


@dataclass(frozen=True, slots=True)
class Entry:
    """A mechanism by name."""

    name: str
    about: str
    """One line."""
    make: Callable[[Setting], tuple[Recipe[Any], ...]]
    """Recipes to run; of several the fastest counts."""


BASELINE = "os"
ORACLE = "oracle-trace"


def _entries() -> Iterable[Entry]:
    def one(name: str, about: str, make: Make) -> Entry:
        return Entry(name, about, lambda setting: (make(setting),))

    yield one(BASELINE, "the operating system's scheduler, first touch", static.operating_system)
    yield one(
        "packed",
        "few sockets and caches (slp), from the start",
        lambda setting: static.hinted("packed", setting, PACKED),
    )
    yield one(
        "distributed",
        "many sockets and caches (SLP), from the start",
        lambda setting: static.hinted("distributed", setting, DISTRIBUTED),
    )
    yield one("compact", "threads by id on neighbouring PUs", static.compact)
    yield one("neighbours", "threads 0 and 1, 2 and 3, … together", static.neighbours)
    yield one("random", "threads and pages drawn", static.random_mapping)
    yield one("interleave", "the OS's scheduler, pages in turn on all nodes", static.interleave)
    yield one("next-touch", "each page once to whoever touches it next", numa_balancing.next_touch)
    yield one("autofinity", "counters, rules, a hint; while it runs", autofinity.InRun)
    yield one("autofinity-restart", "the same, run again in the choice", autofinity.restarted)
    yield one("spcd", "page faults, Edmonds' matching; threads", spcd.spcd)
    yield one("kmaf14", "page faults, bipartitioning; threads and pages", kmaf14.kmaf14)
    yield one("kmaf14-threads", "threads only", lambda setting: kmaf14.kmaf14(setting, pages=False))
    yield one("kmaf14-pages", "pages only", lambda setting: kmaf14.kmaf14(setting, threads=False))
    yield one("kmaf16", "page faults, EagerMap; threads and pages", kmaf16.kmaf16)
    yield one("kmaf16-threads", "threads only", lambda setting: kmaf16.kmaf16(setting, pages=False))
    yield one("kmaf16-pages", "pages only", lambda setting: kmaf16.kmaf16(setting, threads=False))
    yield one("sammu", "accesses counted in the TLB; threads and pages", sammu.sammu)
    yield one("lapt", "accesses counted in the page table; threads and pages", sammu.lapt)
    yield one("tlb", "equal entries in TLBs, Edmonds' matching; threads", tlb_matching.tlb)
    yield one("azimi", "remote cache hits, Edmonds' matching; threads", tlb_matching.azimi)
    yield one("autopin", "trial of 5 mappings, one of them the oracle's", trials.autopin)
    yield one("blackbox", "trial of random mappings", trials.blackbox)
    yield one("marathe", "long-latency loads, pages to their main user", marathe.Marathe)
    yield one(
        "numa-balancing", "hinting faults, pages to the toucher", numa_balancing.numa_balancing
    )
    yield one("numa-balancing-two", "the same, on the second fault", numa_balancing.two_faults)
    yield one("carrefour", "sampled accesses; pages co-located or interleaved", carrefour.carrefour)
    yield one("unified", "rules, sharing, pages and guard together (ours)", unified.Unified)
    yield Entry("oracle-affinity", "the fastest of the hints' best matches", oracle.measured)
    yield one(
        "oracle-threads",
        "EagerMap of the whole trace, first touch",
        lambda setting: oracle.oracle(setting, "threads"),
    )
    yield one(
        "oracle-pages",
        "pages by the whole trace, threads by id",
        lambda setting: oracle.oracle(setting, "pages"),
    )
    for name, threads, pages in (
        ("tl-dl", True, True),
        ("tl-dr", True, False),
        ("tr-dl", False, True),
        ("tr-dr", False, False),
    ):
        yield one(
            name,
            f"threads {'local' if threads else 'remote'}, data {'local' if pages else 'remote'} by "
            "the whole trace",
            lambda setting, threads=threads, pages=pages: oracle.impact(  # type: ignore[misc]
                setting, local_threads=threads, local_pages=pages
            ),
        )
    yield one(
        ORACLE,
        "threads and pages by the whole trace, at no cost",
        lambda setting: oracle.oracle(setting, "both"),
    )


MECHANISMS = {entry.name: entry for entry in _entries()}


def pick(names: Iterable[str]) -> tuple[Entry, ...]:
    """The mechanisms named, without repetition, the baseline first and the oracle last: both are
    always among them. No names: all. Raises `UsageError` for one that is unknown.
    """
    wanted = set(names)
    unknown = sorted(wanted - set(MECHANISMS))
    if unknown:
        raise UsageError(
            f"unknown mechanism {', '.join(unknown)}; expected some of {', '.join(MECHANISMS)}"
        )
    wanted = wanted | {BASELINE, ORACLE} if wanted else set(MECHANISMS)
    return tuple(entry for name, entry in MECHANISMS.items() if name in wanted)
