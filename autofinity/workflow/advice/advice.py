"""All questions, in the order of the advice."""

from __future__ import annotations

from autofinity.workflow.advice.balancing import numa_balancing
from autofinity.workflow.advice.gain import gain
from autofinity.workflow.advice.memory import memory_policy, use_of
from autofinity.workflow.advice.placement import chosen_of, placement
from autofinity.workflow.advice.seen import Section, Seen
from autofinity.workflow.advice.smt import smt
from autofinity.workflow.advice.threads import thread_count


def advice_on(seen: Seen) -> tuple[Section, ...]:
    """The advice on a program, with its evidence."""
    chosen, use = chosen_of(seen), use_of(seen)
    memory = memory_policy(seen, chosen, use)
    return (
        placement(seen, chosen),
        gain(seen, chosen),
        memory,
        numa_balancing(seen, use, memory.facts["policy"]),
        smt(seen, chosen),
        thread_count(seen),
    )
