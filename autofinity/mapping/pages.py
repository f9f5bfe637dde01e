"""Node of each page: the rules of the published mechanisms, page by page.

A rule gets one page and returns the node where the page should be, or None to leave it in place.
Ties between nodes go to the present node where it is among them, else to the lowest. `moves`
applies a rule to every page of a vector table, and keeps pages off nodes without memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from autofinity.model.sharing import NumaVectors, process_and_page
from autofinity.model.sharing_metrics import page_exclusivity

_SMALL_PAGE_BYTES = 4096

LEAST_LOCAL = 0.80
"""minLoc of kMAF'16 (table 3): only above this exclusivity is a page moved for locality."""
MOST_BALANCED = 1.5
"""maxBal of kMAF'16 (table 3), in multiples of 1/N: only below this exclusivity is a page
balanced."""
NUMA_THRESHOLD = 10
"""NT of SAMMU (table 1)."""
CARREFOUR_LOCAL_SHARE = 0.80
"""Carrefour co-locates while the share of local accesses is below this value."""
CARREFOUR_IMBALANCE = 0.35
"""Carrefour interleaves while the deviation of the nodes' loads is above this share of their
mean."""


@dataclass(frozen=True, slots=True)
class PageUse:
    """One page: `counts[n]` accesses seen from logical node n, and the node it is on."""

    index: int
    """Address divided by the size of the page."""
    counts: tuple[int, ...]
    node: int | None = None
    """Present node of the page; None where unknown."""
    with_memory: tuple[int, ...] = ()
    """Nodes that have memory, ascending; empty: all."""

    @property
    def homes(self) -> Sequence[int]:
        """Nodes that the page can be on, ascending."""
        return self.with_memory or range(len(self.counts))


type PageRule = Callable[[PageUse], int | None]


def locality(page: PageUse) -> int | None:
    """The node with most accesses, once its accesses are more than twice those of the second node
    plus one.

    kMAF'16 equations 5 and 6; kMAF'14 equation 6, which halves the counters on a move.
    """
    first, second = _two_largest(page.counts)
    return _most_accessing(page) if first > 2 * second + 1 else None


def balance(page: PageUse) -> int | None:
    """Interleave by address, once there are more accesses than nodes (kMAF'16 equations 7, 8)."""
    return interleave(page) if sum(page.counts) > len(page.counts) else None


def locality_or_balance(page: PageUse) -> int | None:
    """kMAF'16, equations 3 and 4: `locality` for exclusive pages, `balance` for shared ones."""
    if not any(page.counts):
        return None
    exclusivity = page_exclusivity(page.counts)
    if exclusivity > LEAST_LOCAL:
        return locality(page)
    if exclusivity < MOST_BALANCED / len(page.counts):
        return balance(page)
    return None


def sammu(page: PageUse, threshold: int = NUMA_THRESHOLD) -> int | None:
    """The node whose saturating counter exceeds the present node's by `threshold` or more.

    SAMMU, section 3.3; `counts` are its NUMA counters. None where the present node is unknown.
    """
    if page.node is None:
        return None
    best = _most_accessing(page)
    ahead = page.counts[best] - page.counts[page.node]
    return best if ahead >= threshold else None


def most_accessing(page: PageUse) -> int | None:
    """The node with most accesses, with no threshold (Marathe & Mueller, PPoPP 2006)."""
    return _most_accessing(page) if any(page.counts) else None


def least_accessing(page: PageUse) -> int | None:
    """The node with fewest accesses, the lowest of several (kMAF'16, section 3.1: "remote")."""
    return min(page.homes, key=page.counts.__getitem__) if any(page.counts) else None


def next_touch(page: PageUse) -> int | None:
    """The node that touched the page in this interval (next touch, NUMA Balancing without history).

    `counts` are those of one interval. If several nodes touched the page, the node with most
    accesses is chosen.
    """
    return most_accessing(page)


def interleave(page: PageUse) -> int | None:
    """Round robin by address over the nodes that have memory."""
    return page.homes[page.index % len(page.homes)]


def exclusive_or_interleave(page: PageUse) -> int | None:
    """The oracle's rule (kMAF'16, section 5.3): exclusive pages to the node with most accesses,
    shared pages interleaved.

    A page is exclusive by `LEAST_LOCAL`; the rule waits for no counters.
    """
    if not any(page.counts):
        return None
    if page_exclusivity(page.counts) > LEAST_LOCAL:
        return _most_accessing(page)
    return interleave(page)


def carrefour(page: PageUse, *, co_locate: bool = True, interleaves: bool = True) -> int | None:
    """Co-locate pages that one node accesses, interleave pages that several access; pages sampled
    once stay.

    Source: Dashti et al., ASPLOS 2013. Read-only pages are not replicated. Interleaving is by
    address; the paper's method picks a random node with less load.
    """
    if sum(page.counts) < 2:
        return None
    if sum(1 for count in page.counts if count) == 1:
        return _most_accessing(page) if co_locate else None
    return interleave(page) if interleaves else None


def carrefour_rule(vectors: NumaVectors) -> PageRule:
    """`carrefour` with the actions that pay for the whole of `vectors`.

    Co-location while less than `CARREFOUR_LOCAL_SHARE` of the accesses are local, interleaving
    while the deviation of the nodes' loads is above `CARREFOUR_IMBALANCE` of their mean. Only pages
    whose node is known count.
    """
    load = _loads(vectors)
    local = sum(vectors.pages[page][node] for page, node in _on_known_nodes(vectors))
    co_locate = local < CARREFOUR_LOCAL_SHARE * sum(load)
    interleaves = _deviate(load)
    return lambda page: carrefour(page, co_locate=co_locate, interleaves=interleaves)


def locality_or_relief(vectors: NumaVectors) -> PageRule:
    """Ours: `locality` for exclusive pages, as in kMAF'16, where samples make that likely; shared
    pages are interleaved as there, but only to relieve a node: while loads deviate as for
    Carrefour, from nodes with more than the mean to those with less. Nodes without memory, and
    those from which no page is accessed, do not count.

    Samples of a page that several nodes use equally are of one node by chance, often if they are
    few. How likely the page is one node's all the same depends on how many pages are; so many
    samples are needed that it is by `LEAST_LOCAL`. Interleaving shared pages of nodes that are
    loaded evenly gains nothing, and takes pages away from threads that touch them a little more
    often than others.
    """
    load = _loads(vectors)
    users = [
        node
        for node in sorted(set(vectors.homes)) or range(len(load))
        if any(each[node] for each in vectors.pages.values())
    ]
    mean = sum(load) / max(1, len(users))
    lighter = [node for node in users if load[node] < mean]
    relieves = _deviate([load[node] for node in users])
    exclusive = _share_of_exclusive(vectors)

    def rule(page: PageUse) -> int | None:
        if not any(page.counts):
            return None
        if page_exclusivity(page.counts) > LEAST_LOCAL:
            lead = 2 * max(page.counts) - sum(page.counts)
            by_chance = (1 - exclusive) * float(len(page.counts)) ** (1 - lead)
            likely = exclusive > LEAST_LOCAL * (exclusive + by_chance)
            return locality(page) if likely else None
        if not relieves or page.node is None or load[page.node] <= mean:
            return None
        return lighter[page.index % len(lighter)] if balance(page) is not None else None

    return rule


def _share_of_exclusive(vectors: NumaVectors) -> float:
    """Share of pages that one node uses, by how often two samples of a page are of one node: always
    if it is, else once in as many times as there are nodes. 0 without such samples.
    """
    alike: list[float] = []
    nodes = 1
    for counts in vectors.pages.values():
        samples, nodes = sum(counts), len(counts)
        if samples > 1:
            pairs = sum(count * (count - 1) for count in counts)
            alike.append(pairs / (samples * (samples - 1)))
    if not alike or nodes < 2:
        return 0.0
    return max(0.0, (sum(alike) / len(alike) - 1 / nodes) / (1 - 1 / nodes))


def _on_known_nodes(vectors: NumaVectors) -> Iterator[tuple[int, int]]:
    """(page, node) of the pages whose node is known."""
    return ((page, vectors.nodes[page]) for page in vectors.pages if page in vectors.nodes)


def _loads(vectors: NumaVectors) -> list[int]:
    """Accesses to the pages of each node; empty without a page whose node is known."""
    load: list[int] = []
    for page, node in _on_known_nodes(vectors):
        counts = vectors.pages[page]
        load = load or [0] * len(counts)
        load[node] += sum(counts)
    return load


def _deviate(load: Sequence[int]) -> bool:
    """Whether the standard deviation of nodes' loads is more than `CARREFOUR_IMBALANCE` of their
    mean.
    """
    # Without `statistics`, which costs the monitor a megabyte.
    if not load:
        return False
    mean = sum(load) / len(load)
    variance = sum((each - mean) ** 2 for each in load) / len(load)
    return variance > (CARREFOUR_IMBALANCE * mean) ** 2


def moves(vectors: NumaVectors, rule: PageRule) -> tuple[tuple[int, int], ...]:
    """(page number, node) for each page that `rule` wants to move, by ascending page number.

    A page on an unknown node is included whenever the rule names a node. Where that node has no
    memory, the page goes to the nearest one that has.
    """
    with_memory = tuple(sorted(set(vectors.homes)))
    small_pages = max(1, vectors.page_size_bytes // _SMALL_PAGE_BYTES)
    found = []
    for number in sorted(vectors.pages):
        node = vectors.nodes.get(number)
        index = process_and_page(number)[1] // small_pages
        wanted = rule(PageUse(index, vectors.pages[number], node, with_memory))
        if wanted is not None and vectors.homes:
            wanted = vectors.homes[wanted]
        if wanted is not None and wanted != node:
            found.append((number, wanted))
    return tuple(found)


def _two_largest(counts: Sequence[int]) -> tuple[int, int]:
    largest = sorted(counts, reverse=True)[:2]
    return largest[0], largest[1] if len(largest) > 1 else 0


def _most_accessing(page: PageUse) -> int:
    most = max(page.counts)
    if page.node is not None and page.counts[page.node] == most:
        return page.node
    return page.counts.index(most)
