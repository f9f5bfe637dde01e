"""The table of mechanisms: all there is to say of each, in one place.

Whatever lists them is made from it: `compare --list`, `attach`, and by `lists` the options of the
launcher and the documents. Recipes are named and imported when one is made, so that what builds the
launcher needs nothing but Python, and a monitor loads no recipe but its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

from autofinity.model.errors import UsageError

if TYPE_CHECKING:
    from autofinity.mechanisms.recipe import Recipe, Setting


@dataclass(frozen=True, slots=True)
class Entry:
    """A mechanism."""

    name: str
    about: str
    """A line for users: what it looks at, and what that does to threads and pages."""
    recipe: str
    """`module:callable` of this package. Called with a `Setting` and `arguments` it gives a recipe,
    or several, of which the fastest counts."""
    arguments: Mapping[str, object] = field(default_factory=dict)
    moves_pages: bool = False
    """While the program runs; not where they are put from the start."""
    by_rules: bool = False
    """Whether it asks the policy."""
    mapping_ns: str = ""
    """Cost model: the function of `mapping_time` that says what a mapping takes; empty: none is
    charged."""
    in_real_time: bool = False
    """It looks and samples at the rates of a running program, whatever the run: in a run that
    stands for a longer one it is not scaled, but run for as long (`evaluation.real_minute`)."""
    live: str = ""
    """Its name for `run` and `attach`; empty: it needs what only a simulated machine shows."""
    live_recipe: str = ""
    """As `recipe`, where a running program needs another one."""

    @property
    def mapped_by(self) -> str:
        """Who maps its threads, where what is installed decides that; else empty."""
        from autofinity.mapping.bipartition import bipartition_by

        return bipartition_by() if self.mapping_ns == "bipartition_ns" else ""

    def make(self, setting: Setting) -> tuple[Recipe[Any], ...]:
        """For a simulated machine. Raises `UsageError` for what the setting lacks."""
        made = self._made(self.recipe, setting)
        return made if isinstance(made, tuple) else (made,)

    def make_live(self, setting: Setting) -> Recipe[Any]:
        """For a running program. Raises as `make`."""
        made: Recipe[Any] = self._made(self.live_recipe or self.recipe, setting)
        return made

    def takes_ns(self, threads: int) -> int:
        """Time of a mapping; 0 where none is charged."""
        if not self.mapping_ns:
            return 0
        ns: int = _found(f"mapping_time:{self.mapping_ns}")(threads)
        return ns

    def _made(self, recipe: str, setting: Setting) -> Any:
        if self.mapping_ns:
            setting = replace(setting, mapping_ns=self.takes_ns)
        return _found(recipe)(setting, **self.arguments)


def _found(name: str) -> Any:
    module, _, member = name.partition(":")
    return getattr(import_module(f"autofinity.mechanisms.{module}"), member)


BASELINE = "os"
ORACLE = "oracle"
BY_POLICY = "autofinity"

# fmt: off
TABLE = (
    Entry(BASELINE, "the operating system's scheduler, first touch", "static:operating_system"),
    Entry("packed", "few sockets and caches (slp), from the start", "static:packed"),
    Entry("spread", "many sockets and caches (SLP), from the start", "static:spread"),
    Entry("compact", "threads by id on neighbouring PUs", "static:compact"),
    Entry("neighbours", "threads 0 and 1, 2 and 3, … together", "static:neighbours"),
    Entry("random", "threads and pages at random", "static:random_mapping"),
    Entry("random-threads", "threads only", "static:random_threads"),
    Entry("interleave", "the OS's scheduler, pages in turn on all nodes", "static:interleave"),
    Entry("next-touch", "each page once to whoever touches it next", "numa_balancing:next_touch",
          moves_pages=True),
    Entry(BY_POLICY, "the policy: counters, rules, a hint; while it runs", "autofinity:InRun",
          by_rules=True, in_real_time=True, live="autofinity"),
    Entry("autofinity-restart", "the same, run again with the chosen placement",
          "restarted:restarted"),
    Entry("spcd", "page faults, Edmonds' matching; threads", "spcd:spcd", mapping_ns="edmonds_ns",
          live="spcd"),
    Entry("kmaf14", "page faults by sub-blocks, bipartitioning; threads, pages by exclusivity",
          "kmaf14:kmaf14", moves_pages=True, mapping_ns="bipartition_ns", live="kmaf14"),
    Entry("kmaf14-threads", "threads only", "kmaf14:kmaf14", {"pages": False},
          mapping_ns="bipartition_ns"),
    Entry("kmaf14-pages", "pages only", "kmaf14:kmaf14", {"threads": False}, moves_pages=True),
    Entry("kmaf16", "page faults, EagerMap; threads, pages by locality and balance",
          "kmaf16:kmaf16", moves_pages=True, mapping_ns="eagermap_ns", live="kmaf"),
    Entry("kmaf16-threads", "threads only", "kmaf16:kmaf16", {"pages": False},
          mapping_ns="eagermap_ns"),
    Entry("kmaf16-pages", "pages only", "kmaf16:kmaf16", {"threads": False}, moves_pages=True),
    Entry("sammu", "accesses counted in the TLB, EagerMap; threads, pages by 4-bit counters",
          "sammu:sammu", moves_pages=True, mapping_ns="eagermap_ns"),
    Entry("lapt", "accesses counted in the page table, EagerMap; threads, pages by counts",
          "sammu:lapt", moves_pages=True, mapping_ns="eagermap_ns"),
    Entry("tlb", "equal entries in TLBs, Edmonds' matching behind a filter; threads",
          "tlb_matching:tlb", mapping_ns="edmonds_ns"),
    Entry("azimi", "remote cache hits, Edmonds' matching behind a filter; threads",
          "tlb_matching:azimi", mapping_ns="edmonds_ns"),
    Entry("autopin", "trial of 5 mappings, one of them the oracle's", "trials:autopin"),
    Entry("blackbox", "trial of random mappings", "trials:blackbox"),
    Entry("marathe", "long-latency loads, pages to their main user", "marathe:Marathe",
          moves_pages=True),
    Entry("numa-balancing", "hinting faults, pages to the toucher",
          "numa_balancing:numa_balancing", moves_pages=True),
    Entry("numa-balancing-two", "the same, on the second fault", "numa_balancing:two_faults",
          moves_pages=True),
    Entry("carrefour", "sampled accesses; pages co-located or interleaved", "carrefour:carrefour",
          moves_pages=True),
    Entry("unified",
          "rules choose the hint, sharing orders threads, pages follow; with a guard (ours)",
          "unified:Unified", moves_pages=True, by_rules=True, mapping_ns="eagermap_ns",
          in_real_time=True, live="unified", live_recipe="unified:by_faults"),
    Entry("oracle-affinity", "the fastest of the hints' best matches", "oracle_bound:measured"),
    Entry("oracle-threads", "EagerMap of the whole trace, first touch", "oracle:oracle",
          {"what": "threads"}),
    Entry("oracle-pages", "pages by the whole trace, threads by id", "oracle:oracle",
          {"what": "pages"}),
    Entry("tl-dl", "threads local, data local by the whole trace", "oracle:impact",
          {"local_threads": True, "local_pages": True}),
    Entry("tl-dr", "threads local, data remote by the whole trace", "oracle:impact",
          {"local_threads": True, "local_pages": False}),
    Entry("tr-dl", "threads remote, data local by the whole trace", "oracle:impact",
          {"local_threads": False, "local_pages": True}),
    Entry("tr-dr", "threads remote, data remote by the whole trace", "oracle:impact",
          {"local_threads": False, "local_pages": False}),
    Entry("oracle-trace", "threads and pages by the whole trace, at no cost", "oracle:oracle",
          {"what": "both"}),
    Entry(ORACLE, "the fastest of oracle-trace and of the best affinity; what shares are of",
          "oracle_bound:best_known"),
)
# fmt: on
"""In the order in which tables list them."""

MECHANISMS = {entry.name: entry for entry in TABLE}
LIVE = {entry.live: entry for entry in TABLE if entry.live}
"""By the names that `run` and `attach` have for them."""


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
