"""Number of threads that memory can feed: more threads only wait for each other's reads."""

from __future__ import annotations

import math

from autofinity.model.facts import LINE_BYTES
from autofinity.workflow.advice.memory_reads import lines_from_memory
from autofinity.workflow.advice.seen import Section, Seen

SATURATED = 0.8
"""Share of a memory's bandwidth from which on reads wait for each other."""


def thread_count(seen: Seen) -> Section:
    """Compare the counted reads of memory with the bandwidth of the nodes that have the pages."""
    facts: dict[str, object] = {
        "threads": seen.threads,
        "read_gbs": None,
        "memory_gbs": None,
        "used_share": None,
        "enough_threads": None,
        "why_not": None,
    }
    question = "threads"
    running, cpus = seen.placed, len(seen.available)
    if running > cpus:
        advice = f"too many: {cpus} can run at a time"
        counts = f"{running} threads compute, {cpus} CPUs may be used"
        return Section(question, advice, (counts,), facts | {"enough_threads": cpus})
    fewer = f"fewer than {seen.threads} threads" if seen.threads > 2 else "one thread"
    again = f"not measured: time the program with {fewer}, too"
    if seen.given is None:
        again += f", by --curve {seen.threads // 2},{seen.threads}"
    if seen.threads < 2:
        again = "not measured: fewer than two threads computed at once"
    # Rates are per thread, of as many as run at a time.
    reads = lines_from_memory(seen.rate, exact=seen.exact_reads)
    if reads is None:
        why = _not_counted(seen)
        return Section(question, again, (why,), facts | {"why_not": why})
    read_gbs = reads * running * LINE_BYTES / 1e9
    facts["read_gbs"] = read_gbs
    told = f"{seen.threads} threads read {_gbs_text(read_gbs)} from memory"
    if math.isnan(seen.node_gbs):
        why = "memory bandwidth is not known; measure it with `autofinity doctor --measure`"
        return Section(question, again, (told, why), facts | {"why_not": why})
    if seen.memory is None or not seen.memory.total_bytes:
        why = "nothing shows which nodes have its pages"
        return Section(question, again, (told, why), facts | {"why_not": why})
    # The fullest node is waited for first: of each byte that is read, its share comes from there.
    at = seen.memory.fullest
    share = seen.memory.share(at)
    most_gbs = seen.node_gbs / share
    used = read_gbs / most_gbs
    facts |= {"memory_gbs": most_gbs if math.isfinite(most_gbs) else None, "used_share": used}
    told += (
        f"; memory could give {most_gbs:.1f} GB/s ({100 * used:.0f} % is used), since its fullest "
        f"node (node {seen.topology.node_os_indices[at]}) has {100 * share:.0f} % of the pages"
    )
    if used < SATURATED:
        advice = "memory can feed all of them"
        why = f"memory is not saturated: it is from {SATURATED:.0%} of its bandwidth on"
        return Section(question, advice, (told,), facts | {"why_not": why})
    enough = max(1, round(running * SATURATED / used))
    facts["enough_threads"] = enough
    advice = f"memory is saturated: {enough} threads, or pages on more nodes, may do as well"
    return Section(question, advice, (told,), facts)


def _gbs_text(gbs: float) -> str:
    least = 0.01
    return f"{gbs:.2f} GB/s" if gbs >= least else f"less than {least} GB/s"


def _not_counted(seen: Seen) -> str:
    """The reason why reads of memory have no rate."""
    if seen.state.samples.start is None:
        return "nothing was sampled, so reads of memory were not counted"
    if seen.given is not None and not seen.given.timed:
        return "reads of memory have no rate: the file does not say in what time it counted"
    return "reads of memory were not counted"
