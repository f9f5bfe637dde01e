"""Where the threads should be: what the policy says, and how to start the program there."""

from __future__ import annotations

from dataclasses import dataclass

from autofinity.affinity.best_matches import all_cores
from autofinity.affinity.hints import get_affinity
from autofinity.affinity.launchers.table import launcher_line
from autofinity.affinity.siblings import siblings_note
from autofinity.model.affinity import Hint
from autofinity.model.cpu_lists import format_cpu_list
from autofinity.model.errors import PlacementError
from autofinity.model.placement import CoreSet
from autofinity.model.policy import RulePolicy
from autofinity.model.topology import OsIndex
from autofinity.policy.explain import Explanation, explain, explanation_data, explanation_text
from autofinity.policy.impossible import impossible_lines
from autofinity.policy.readable import hint_text
from autofinity.runtime.evidence import nothing_to_choose
from autofinity.workflow.advice.open_answer import asked_values
from autofinity.workflow.advice.ranks import of_ranks
from autofinity.workflow.advice.seen import Section, Seen, simulated_time

_A_CPU_A_THREAD = "omp"
_TOOLS = ("taskset", "numactl", _A_CPU_A_THREAD)


@dataclass(frozen=True, slots=True)
class Chosen:
    """The policy's answer for a program."""

    hint: Hint
    cores: CoreSet
    why: Explanation


def chosen_of(seen: Seen) -> Chosen | None:
    """None where the policy was not asked, or the threads find no room."""
    if seen.policy is None or seen.state.decision is None or seen.undecided:
        return None
    why = explain(seen.policy, asked_values(seen.policy, seen.state.samples.start))
    try:
        cores_here = all_cores(seen.topology, seen.available)
        hint = seen.policy.at(why.decision.hint, seen.placed, cores_here)
        cores = get_affinity(seen.topology, seen.placed, hint, seen.available, seen.near)
    except PlacementError:
        return None
    return Chosen(hint, cores, why)


def on_siblings(seen: Seen, chosen: Chosen) -> str:
    """A line of text where several threads are to share a core, else empty."""
    return siblings_note(seen.topology.restricted(seen.available), chosen.hint, chosen.cores.cpus)


def placement(seen: Seen, chosen: Chosen | None) -> Section:
    """Hint, cores and command lines; or to leave the threads alone, and why."""
    why = nothing_to_choose(seen.topology, seen.available)
    facts: dict[str, object] = {
        "threads": seen.threads,
        "cores": seen.placed,
        "cpus_seen": list(seen.cpus),
        "policy": seen.asked,
        "nothing_to_choose": bool(why),
    }
    evidence = _of_the_threads(seen)
    if why:
        evidence = (why, *evidence)
    if chosen is None or seen.policy is None:
        return _left_alone(seen, facts, evidence)
    hint, cpus = chosen.hint, chosen.cores.cpus
    lines = _launcher_lines(seen, cpus)
    evidence += _of_the_policy(seen, seen.policy, chosen)
    facts |= {
        "hint": str(hint),
        "hint_name": hint.name,
        "hint_text": hint_text(hint),
        "cpus": list(cpus),
        "near": seen.device or None,
        "affinity": str(chosen.cores.affinity),
        "lines": lines,
        "decision": explanation_data(seen.policy, chosen.why),
        "final": seen.policy.second_after(chosen.why.decision.hint) is None,
    }
    if seen.ranks:
        several = of_ranks(seen, hint)
        return Section(
            "placement", several.advice, (*several.evidence, *evidence), facts | several.facts
        )
    advice = f"{hint.shown}: {hint_text(hint)}; CPUs {format_cpu_list(cpus)}"
    how = tuple(f"{line} PROGRAM" for line in lines.values())
    return Section("placement", advice, (*how, *evidence), facts)


def _of_the_threads(seen: Seen) -> tuple[str, ...]:
    threads = f"{len(seen.cpus)} threads compute" if len(seen.cpus) > 1 else "1 thread computes"
    cpus = "CPUs" if len(set(seen.cpus)) > 1 else "CPU"
    where = f"{threads}, last seen on {cpus} {format_cpu_list(seen.cpus)}"
    seen_on = (where,) if seen.cpus else ()
    return (*seen_on, *_watched(seen), *(seen.given.lines if seen.given is not None else ()))


def _watched(seen: Seen) -> tuple[str, ...]:
    """Length of the looks, where they are shorter than those of a run."""
    if seen.second_s == 1.0 or seen.watched_s is None:
        return ()
    return (
        f"watched for {simulated_time(seen.watched_s)}: looks are shortened, so that "
        f"{seen.second_s * 1e3:g} ms stand for 1 s of a run; rates are per second of simulated "
        "time, not scaled",
    )


def _left_alone(seen: Seen, facts: dict[str, object], evidence: tuple[str, ...]) -> Section:
    why = seen.undecided or f"there are too few CPUs for {seen.placed} threads"
    if not facts["nothing_to_choose"]:
        evidence = (f"nothing was decided: {why}", f"policy: {seen.asked}", *evidence)
    advice = "leave the threads where the system puts them"
    cpus = len(seen.available)
    if seen.placed > cpus and not facts["nothing_to_choose"]:
        advice = (
            f"none for {seen.placed} threads on {cpus} CPUs: run at most {cpus} threads, or "
            "leave the threads to the system"
        )
    return Section("placement", advice, evidence, facts | {"hint": None, "undecided": why})


def _launcher_lines(seen: Seen, cpus: tuple[OsIndex, ...]) -> dict[str, str]:
    """Command lines by tool; none that binds a thread to each CPU where threads share CPUs."""
    shares = len(cpus) < seen.threads
    tools = [tool for tool in _TOOLS if not (shares and tool == _A_CPU_A_THREAD)]
    return {tool: launcher_line(tool, cpus, seen.topology) for tool in tools}


def _of_the_policy(seen: Seen, policy: RulePolicy, chosen: Chosen) -> tuple[str, ...]:
    evidence: tuple[str, ...] = ()
    if seen.near:
        nodes = ", ".join(map(str, seen.kernel_nodes(sorted(seen.near))))
        evidence += (f"near {seen.device}: node {nodes} is preferred, in the same affinity",)
    said = explanation_text(policy, chosen.why, margins=False).splitlines()
    evidence += (f"policy: {seen.asked}", *said[1:])
    if len(chosen.cores.cpus) < seen.threads:
        evidence += (
            f"{seen.threads} threads take turns: they share {len(chosen.cores.cpus)} cores, some "
            "more than run at a time",
        )
    if note := on_siblings(seen, chosen):
        evidence += (note,)
    if seen.state.samples.start is not None:
        evidence += tuple(impossible_lines(policy, seen.state.samples.start.values))
    if policy.rules:
        here = (
            "of threads where the system had put them"
            if seen.given is None
            else "of threads that may have been anywhere: a file does not say who put them there"
        )
        evidence += (
            "the policy was learned from samples of threads that are spread (SLP); this "
            f"sample is {here}",
        )
    second = policy.second_after(chosen.why.decision.hint)
    if second is not None:
        evidence += (
            f"not final: a run looks again in {second.sampled_in.shown} before it moves threads",
        )
    return evidence
