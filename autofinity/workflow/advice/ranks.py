"""Places of several ranks like the rank that was seen, each by the policy's hint."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from autofinity.affinity.ranks import Rank, place_ranks
from autofinity.model.affinity import Hint
from autofinity.model.cpu_lists import format_cpu_list
from autofinity.model.errors import PlacementError
from autofinity.workflow.advice.seen import Seen
from autofinity.workflow.launcher_texts import texts_of

_TOOL = "numactl"


@dataclass(frozen=True, slots=True)
class RankAdvice:
    """Lines for people, and the same for programs."""

    advice: str
    evidence: tuple[str, ...]
    facts: dict[str, object]


def of_ranks(seen: Seen, hint: Hint) -> RankAdvice:
    """Places of `seen.ranks` ranks with the threads of the seen one; or that they find no room."""
    count = f"{seen.ranks} ranks of {seen.placed} threads"
    try:
        ranks = place_ranks(seen.topology, seen.ranks, seen.placed, hint, seen.available)
    except PlacementError as error:
        return RankAdvice(f"{count} find no room", (str(error),), {"ranks": []})
    lines = texts_of(_TOOL, ranks, seen.topology)
    options = f"--ranks {seen.ranks} --threads {seen.placed} --hint {hint.name}"
    if seen.machine:
        options = f"--machine {shlex.quote(seen.machine)} {options}"
    evidence = (
        *(f"rank {at}: {_where(rank)}: {lines[at]} PROGRAM" for at, rank in enumerate(ranks)),
        f"for another launcher: autofinity hints {options} --as TOOL",
        "assumed: every rank is like the rank that was seen; messages between ranks are not known",
    )
    facts: dict[str, object] = {
        "ranks": [
            {"cpus": list(rank.cores.cpus), "nodes": list(rank.nodes), "line": line}
            for rank, line in zip(ranks, lines, strict=True)
        ]
    }
    return RankAdvice(f"{count}, each {hint.shown}", evidence, facts)


def _where(rank: Rank) -> str:
    nodes = f", memory of node {format_cpu_list(rank.nodes)}" if rank.nodes else ""
    return f"CPUs {format_cpu_list(rank.cores.cpus)}{nodes}"
