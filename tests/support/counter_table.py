"""Read `counter_cases` from tables: accesses of threads to lines, their order, and the counts.

    [the_claim]
    on = "VICTIM 0 SAME_LLC"                 # a machine of hand_machine, a core for each thread
    home = 1                                 # node of all pages; without it first touch
    program = "0 stores 0 8, 0 begins, 1 loads 0-3 every 200, 0 ends"
    counts = "upgrades=0 link_bytes=0,3*72"  # of all threads together, or one a thread

A program is a list of THREAD VERB LINES; `0-3` are four lines, `every 200` the instructions up to
each of them, and `touches` takes pages, of which it loads the first lines. In the place of
`program`, `threads` may have a text of `thread_texts` for each thread.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Sequence
from functools import partial
from itertools import chain
from pathlib import Path

import hand_machine
from counter_case import Case, Turns, add
from sim_programs import LINES_PER_PAGE
from thread_texts import write


def read_cases(path: Path) -> None:
    """Add every case of a table to CASES."""
    for claim, entry in tomllib.loads(path.read_text()).items():
        machine, *cores = entry.pop("on").split()
        add(
            claim,
            Case(
                getattr(hand_machine, machine),
                tuple(0 if core == "0" else getattr(hand_machine, core) for core in cores),
                dict(_expected(count) for count in entry.pop("counts").split()),
                partial(_write_threads, entry.pop("threads"))
                if "threads" in entry
                else partial(_write_turns, entry.pop("program")),
                entry.pop("home", None),
            ),
        )
        assert not entry, f"{claim}: {entry}"


def _expected(count: str) -> tuple[str, int | tuple[int, ...]]:
    event, _, text = count.partition("=")
    values = tuple(
        sum(math.prod(map(int, term.split("*"))) for term in value.split("+"))
        for value in text.split(",")
    )
    return event, values if "," in text else values[0]


def _write_threads(threads: Sequence[str], turns: Turns) -> None:
    for thread, text in enumerate(threads):
        write(turns.builder, thread, text)


def _write_turns(program: str, turns: Turns) -> None:
    for step in program.split(","):
        thread, verb, *words = step.split()
        if verb in ("begins", "ends"):
            assert not words, step
            {"begins": turns.begin, "ends": turns.end}[verb](int(thread))
            continue
        gap = int(words[-1]) if "every" in words else 1
        numbers = chain.from_iterable(map(_range, words[: -2 if "every" in words else None]))
        access = {
            "loads": turns.load,
            "stores": turns.store,
            "updates": turns.update,
            "exchanges": turns.atomic,
            "touches": turns.load,
        }[verb]
        scale = LINES_PER_PAGE if verb == "touches" else 1
        access(int(thread), *(number * scale for number in numbers), gap=gap)


def _range(word: str) -> range:
    first, _, last = word.partition("-")
    return range(int(first), int(last or first) + 1)
