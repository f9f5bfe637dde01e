"""Whether two threads should share a core."""

from __future__ import annotations

from collections import Counter

from autofinity.workflow.advice.placement import Chosen, on_siblings
from autofinity.workflow.advice.seen import Section, Seen, threads_text


def smt(seen: Seen, chosen: Chosen | None) -> Section:
    """Compare threads with cores. Only a machine file says what sharing a core costs."""
    pus = [seen.topology.by_os_index[cpu] for cpu in seen.available]
    cores = len({pu.core for pu in pus})
    on_core = Counter(
        seen.topology.by_os_index[cpu].core for cpu in seen.cpus if cpu in seen.topology.by_os_index
    )
    sharing = sum(count for count in on_core.values() if count > 1)
    slowdown = seen.smt_slowdown
    facts: dict[str, object] = {
        "threads": seen.threads,
        "cores": cores,
        "cpus": len(pus),
        "threads_sharing_a_core": sharing,
        "smt_slowdown": slowdown,
        "wanted": None,
    }
    counts = f"{threads_text(seen.threads)}, {cores} cores, {len(pus)} CPUs may be used"
    if len(pus) == cores:
        return Section("SMT", "none here: each core has one CPU", (counts,), facts)
    now = f"{sharing} threads were seen to share a core with another"
    if seen.given is not None and not seen.cpus:
        now = "the file does not say whether threads shared a core"
    if seen.placed <= cores:
        if chosen is not None and (note := on_siblings(seen, chosen)):
            advice = (
                f"not measured: time the program with a core for each of {seen.placed} threads, too"
            )
            return Section("SMT", advice, (counts, now, note), facts)
        facts["wanted"] = False
        return Section("SMT", "no: there is a core for each thread", (counts, now), facts)
    if slowdown is None:
        advice = (
            f"not measured: time the program with {cores} threads, a core each, beside "
            f"{seen.threads}"
        )
        return Section("SMT", advice, (counts, now), facts)
    facts["wanted"] = slowdown < 2
    told = f"a thread beside another on its core takes {slowdown:.2f} times as long to compute"
    advice = "yes" if slowdown < 2 else "no"
    advice += f": two threads on a core do {2 / slowdown:.2f} times the work of one, caches apart"
    return Section("SMT", advice, (counts, now, f"{told} (machine file)"), facts)
