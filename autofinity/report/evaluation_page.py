"""An evaluation as sections of a page: the verdict with intervals, and every case by its regret."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from autofinity.affinity.best_matches import BestMatches
from autofinity.affinity.hints import get_affinity
from autofinity.evaluation.bootstrap import TOO_FEW
from autofinity.evaluation.cases import Case
from autofinity.evaluation.judge import Skipped
from autofinity.evaluation.seed_spread import SeedSpread
from autofinity.evaluation.verdict import Verdict, verdict_of
from autofinity.model.affinity import HINTS, Hint
from autofinity.model.policy import RulePolicy
from autofinity.model.topology import Topology
from autofinity.policy.readable import hint_text
from autofinity.report.evaluation_legend import meanings
from autofinity.report.evaluation_table import sentences
from autofinity.report.intervals_plot import Interval, intervals_plot
from autofinity.report.judged_cases import (
    TERMS,
    JudgedCase,
    by_regret,
    cases_table,
    judged_cases,
    regret_plot,
    times_table,
)
from autofinity.report.machine_drawing import OnMachine, machine_svg
from autofinity.report.page import Block, Cell, Drawing, Folded, Plot, Section, Sentences, Table
from autofinity.report.recorded_section import recorded_section
from autofinity.store.observation_table import ObservationTable

_AGAINST = (
    ("packed", "packed"),
    ("spread", "spread"),
    ("os", "the operating system"),
    ("compact", "compact"),
    ("random", "random CPUs"),
    ("best_hint", "the best hint"),
    ("oracle", "the oracle"),
)
_MOST_DRAWN = 24


def evaluation_sections(
    cases: Sequence[Case],
    spreads: Sequence[SeedSpread | None],
    verdict: Verdict,
    skipped: Sequence[Skipped],
    topology: Topology,
    table: ObservationTable,
    policies: Mapping[str, RulePolicy],
) -> tuple[Section, ...]:
    """Sections on one machine. `spreads[i]` belongs to `cases[i]`; hints are shown on `topology`;
    `table` has the observations that were judged by, `policies` what chose for each program.
    """
    judged = by_regret(judged_cases(cases, BestMatches(topology), spreads))
    found = [
        Section("Verdict", _verdict(cases, verdict, "verdict")),
        _cases_section("Cases by regret", judged, "regrets"),
    ]
    recorded = recorded_section(judged, table, policies)
    if recorded is not None:
        found.append(recorded)
    drawn = _drawings(cases, topology)
    if drawn:
        found.append(Section("Where the chosen hints put threads", drawn))
    if skipped:
        found.append(Section("Left out", (_skipped_table(skipped),)))
    return tuple(found)


def across_sections(
    found: Mapping[str, Mapping[str, tuple[Sequence[Case], Sequence[Skipped]]]],
    titles: Mapping[str, str],
    topologies: Mapping[str, Topology],
) -> tuple[Section, ...]:
    """Sections on a policy for any machine: one for each kind of what it had not seen.

    `found`: kind → machine → its cases, and what could not be judged; `titles` has all kinds,
    `topologies` all machines.
    """
    sections = []
    for kind, by_machine in found.items():
        judged: list[JudgedCase] = []
        for machine, (cases, _) in by_machine.items():
            judged += judged_cases(cases, BestMatches(topologies[machine]), machine=machine)
        own = [one.case for one in judged]
        verdict = _verdict(own, verdict_of(own), f"verdict-{kind}")
        cases_part = _cases_section("", by_regret(judged), f"regrets-{kind}")
        sections.append(Section(titles[kind].capitalize(), (*verdict, *cases_part.blocks)))
    return tuple(sections)


def _verdict(cases: Sequence[Case], verdict: Verdict, plot: str) -> tuple[Block, ...]:
    """The verdict as a plot and in words, with the meaning of the words."""
    words = tuple((Cell(word, tone="whole"), Cell(text)) for word, text in meanings(cases).items())
    return (
        verdict_plot(verdict, plot),
        Sentences(tuple(sentences(verdict))),
        Folded("Meaning of names and words", (Table(("name or word", "meaning"), words),)),
    )


def verdict_plot(verdict: Verdict, name: str) -> Plot:
    """Geometric means of time ratios, with intervals."""
    ratios = verdict.restart.ratios
    rows = []
    for key, said in _AGAINST:
        if not math.isnan(ratios[key]):
            low, high = verdict.confidence.get(f"{key}_ratio", (math.nan, math.nan))
            rows.append(Interval(said, ratios[key], low, high))
    return intervals_plot(
        name,
        rows,
        "times the speed of",
        "Speed with the chosen placement over the speed with each alternative (geometric means of "
        "time ratios); right of 1 the choice is faster. "
        + (
            "Lines are 95 % intervals by bootstrap over programs."
            if verdict.confidence
            else f"{TOO_FEW.capitalize()}."
        ),
    )


def _cases_section(title: str, judged: Sequence[JudgedCase], plot: str) -> Section:
    return Section(
        title,
        (
            regret_plot(judged, plot),
            Sentences(TERMS),
            cases_table(judged, plot),
            Folded("Times of all alternatives", (times_table(judged),)),
        ),
    )


def _skipped_table(skipped: Sequence[Skipped]) -> Table:
    rows = tuple(
        (
            Cell(missed.workload.program),
            Cell(str(missed.workload.threads), float(missed.workload.threads)),
            Cell(missed.reason),
        )
        for missed in skipped
    )
    return Table(("program", "threads", "why"), rows)


def _drawings(cases: Sequence[Case], topology: Topology) -> tuple[Block, ...]:
    """A picture of each chosen hint at each thread count; the one chosen most often is unfolded."""
    of_count = Counter(case.affinities["autofinity"].threads for case in cases)
    chosen: dict[tuple[int, Hint], int] = {}
    for case in cases:
        at = case.affinities["autofinity"].threads, case.decision.hint
        chosen[at] = chosen.get(at, 0) + 1
    often = sorted(chosen, key=lambda at: -chosen[at])[:_MOST_DRAWN]
    blocks = []
    for at in sorted(often, key=lambda at: (at[0], HINTS.index(at[1]))):
        threads, hint = at
        cores = get_affinity(topology, threads, hint)
        best = sum(case.affinities["best_hint"] == cores.affinity for case in cases)
        title = (
            f"{hint.shown}, {threads} threads: chosen in {chosen[at]} of {of_count[threads]} cases "
            f"with {threads} threads, best in {best}"
        )
        caption = f"{hint_text(hint)}: threads by socket and last-level cache are {cores.affinity}."
        alike = [
            other.shown
            for other in HINTS
            if other != hint and get_affinity(topology, threads, other).affinity == cores.affinity
        ]
        if alike:
            caption += (
                f" With {threads} threads this is also the placement of {', '.join(alike)}, so "
                "each of these hints is best in the same cases."
            )
        drawing = Drawing(machine_svg(topology, OnMachine.seated(cores.cpus)), caption)
        blocks.append(Folded(title, (drawing,), opened=at == often[0]))
    return tuple(blocks)
