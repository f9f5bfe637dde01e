"""Which memory policy: first touch, interleave or bind; by where pages are and who touches them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from autofinity.affinity.ranks import memory_of
from autofinity.model.sharing import NumaVectors
from autofinity.model.topology import OsIndex, Topology
from autofinity.runtime.left_behind import ONE_NODES, remote_share
from autofinity.workflow.advice.memory_reads import remote_share_of_lines
from autofinity.workflow.advice.placement import Chosen
from autofinity.workflow.advice.seen import Section, Seen, threads_text

_MIB = 1 << 20
ONE_NODE = "one NUMA node: there is nothing to choose"
_FEWEST_TOUCHES = 64  # that say who uses what
TOUCHES = "sampled touches"
ALIKE = "if every thread uses all pages alike"


@dataclass(frozen=True, slots=True)
class Use:
    """How pages are used, as far as it was seen."""

    remote: float | None
    """Share of reads that go to another node; None: it is not known where pages are."""
    how: str
    """Origin of `remote`."""
    shared: float | None
    """Share of the sampled touches that are of pages that several nodes touch; None: not sampled.
    """
    one_node: int | None
    """The logical node with nearly all pages."""
    cached: bool = False
    """All pages fit into one last-level cache."""

    @property
    def counted(self) -> bool:
        """Whether reads of memory were counted, not estimated."""
        return self.remote is not None and self.how not in (TOUCHES, ALIKE)

    @property
    def share(self) -> str:
        """Line for people: the share of remote reads, and of which reads."""
        if self.remote is None:
            return "whether reads are remote is not known"
        if self.how == TOUCHES:
            return (
                f"{self.remote:.0%} of sampled touches are of pages of another node; caches may "
                "have answered them"
            )
        if self.how == ALIKE:
            return (
                f"{self.remote:.0%} of the program's reads would be from another node's memory if "
                "every thread used all pages alike"
            )
        return (
            f"{self.remote:.0%} of the program's reads of memory are from another node ({self.how})"
        )


def use_of(seen: Seen) -> Use:
    """From reads that were counted, else touches that were sampled, else where pages are."""
    one_node = None
    if seen.memory is not None and seen.memory.share(seen.memory.fullest) >= ONE_NODES:
        one_node = seen.memory.fullest
    cached = seen.memory is not None and 0 < seen.memory.total_bytes <= seen.topology.llc_bytes
    touches = _touches(seen.touched)
    shared = touches[1] / touches[0] if touches else None
    counted = remote_share_of_lines(seen.amount)
    if counted is not None:
        how = "counted reads" if seen.given is None or seen.given.timed else "sampled reads"
        return Use(counted, how, shared, one_node, cached)
    if touches:
        return Use(touches[2] / touches[0], TOUCHES, shared, one_node, cached)
    if seen.memory is not None and seen.memory.total_bytes and seen.nodes:
        return Use(remote_share(seen.memory, seen.nodes), ALIKE, shared, one_node, cached)
    return Use(None, "", shared, one_node, cached)


def _touches(touched: NumaVectors | None) -> tuple[int, int, int] | None:
    """All touches, those of pages that several nodes touch, and those from another node than the
    page's; None where too few were seen.
    """
    if touched is None:
        return None
    total = shared = remote = 0
    for page, counts in touched.pages.items():
        if page not in touched.nodes:
            continue
        total += sum(counts)
        shared += sum(counts) if sum(map(bool, counts)) > 1 else 0
        remote += sum(counts) - counts[touched.nodes[page]]
    return (total, shared, remote) if total >= _FEWEST_TOUCHES else None


def memory_policy(seen: Seen, chosen: Chosen | None, use: Use) -> Section:
    """Memory policy for the advised placement, else for the nodes where the threads are."""
    to = _memory_near(seen.topology, chosen.cores.cpus if chosen is not None else seen.cpus)
    facts: dict[str, object] = {
        "nodes": seen.kernel_nodes(range(seen.topology.n_nodes)),
        "bytes_on_node": list(seen.memory.bytes_on) if seen.memory is not None else None,
        "threads_on_node": [seen.nodes.count(n) for n in range(seen.topology.n_nodes)],
        "remote_share": use.remote,
        "remote_share_by": use.how or None,
        "shared_touch_share": use.shared,
        "policy": None,
        "line": None,
    }
    if seen.topology.n_nodes < 2:
        return Section("memory policy", ONE_NODE, (), facts)
    evidence = _evidence(seen, use)
    if seen.memory is None or not to:
        advice = f"first touch, the system's own: {_no_pages(seen)}"
        return Section("memory policy", advice, evidence, {**facts, "policy": "first touch"})
    several = len(to) > 1
    numbers = ",".join(map(str, seen.kernel_nodes(to)))
    if use.cached:
        policy, line = "first touch", None
        why = "the system's own; all of its pages fit into one last-level cache"
    elif several and use.one_node is not None:
        policy, line = "interleave", f"numactl --interleave={numbers}"
        why = f"nearly all pages are on node {seen.kernel_nodes([use.one_node])[0]}"
        if use.shared is not None and use.shared < 0.5:
            why += (
                ", each of use to one node only: better yet, let each thread touch its data first"
            )
    elif not several and use.one_node != to[0] and seen.memory.total_bytes:
        # Unlike --membind, it ends no program whose node is full.
        policy, line = "bind", f"numactl --preferred={numbers}"
        why = "all threads are to be on one node; a run moves what lies elsewhere when that pays"
    else:
        policy, line = "first touch", None
        why = "the system's own, with threads bound from the start"
    facts |= {"policy": policy, "line": line}
    advice = f"{policy}: {why}" + (f" ({line})" if line else "")
    return Section("memory policy", advice, evidence, facts)


def _memory_near(topology: Topology, cpus: Sequence[OsIndex]) -> list[int]:
    """Logical nodes of threads on `cpus`, ascending; of nodes without memory, which no policy
    of memory may name, the nearest ones that have some.
    """
    known = [cpu for cpu in cpus if cpu in topology.by_os_index]
    numbers = memory_of(topology, known)
    nodes = [topology.node_os_indices.index(number) for number in numbers]
    return sorted(nodes or {topology.by_os_index[cpu].node for cpu in known})


def _no_pages(seen: Seen) -> str:
    """The reason why no advice is by the nodes of pages."""
    if seen.memory is not None:
        return "no thread was seen to compute"
    if seen.given is not None:
        return "a file does not say on which nodes pages are"
    if seen.state.phase in ("placed", "left alone"):
        return "nothing here shows which nodes have its pages"
    return "the program ended before the nodes of its pages were read"


def _evidence(seen: Seen, use: Use) -> tuple[str, ...]:
    lines = []
    if seen.memory is not None:
        on = "; ".join(
            f"node {number}: {size / _MIB:.1f} MiB of pages, {threads_text(seen.nodes.count(node))}"
            for node, (number, size) in enumerate(
                zip(seen.topology.node_os_indices, seen.memory.bytes_on, strict=True)
            )
            if size or seen.nodes.count(node)
        )
        lines.append(on or "no node has pages or threads yet")
    if use.remote is not None:
        lines.append(use.share)
    if use.shared is not None:
        lines.append(f"{use.shared:.0%} of sampled touches are of pages that several nodes touch")
    elif seen.memory is not None:
        lines.append("who touches which page was not sampled")
    return tuple(lines)
