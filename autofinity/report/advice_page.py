"""Advice as sections of a page: each question with its answer, where threads are and where they
should be, and what was measured of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from autofinity.model.memory import MemoryByNode
from autofinity.model.placement import CoreSet
from autofinity.model.policy import RulePolicy
from autofinity.model.sharing import NumaVectors, SharingMatrix
from autofinity.model.timeline import TimelineStep
from autofinity.model.topology import OsIndex, Topology
from autofinity.policy.explain import Explanation
from autofinity.report.decision_page import decision_section
from autofinity.report.intervals_plot import Interval, intervals_plot
from autofinity.report.machine_drawing import OnMachine, machine_svg
from autofinity.report.page import (
    Block,
    Cell,
    Drawing,
    Folded,
    Plot,
    Section,
    Sentences,
    Table,
)
from autofinity.report.plot_layout import BLUE, axis, layout
from autofinity.report.sharing_plots import matrix_plot, touched_map
from autofinity.report.timeline_plots import missing_quantities, timeline_plots

_MIB = 1 << 20
_NO_SHARING = "No two threads use the same data."


@dataclass(frozen=True, slots=True)
class Answer:
    """A question of the advice, answered."""

    question: str
    advice: str
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AdviceShown:
    """All that a page on advice is made of."""

    answers: tuple[Answer, ...]
    topology: Topology
    available: frozenset[OsIndex]
    computing: tuple[int, ...]
    """Numbers of the threads that compute."""
    cpus: tuple[OsIndex, ...]
    """Where each of them was last; empty where that is not known."""
    chosen: CoreSet | None
    policy: RulePolicy | None
    why: Explanation | None
    gain: Mapping[str, object]
    """Facts of the expected gain: `gain`, `interval`, and `gains` by program."""
    timeline: tuple[TimelineStep, ...]
    memory: MemoryByNode | None
    touched: NumaVectors | None
    sharing: SharingMatrix | None
    sharing_by: str
    """Where the sharing is from; why there is none, where there is none."""
    not_measured: tuple[str, ...]


def advice_sections(shown: AdviceShown) -> tuple[Section, ...]:
    """All sections, the answers first."""
    sections = [_answers_section(shown.answers), _places_section(shown)]
    if shown.policy is not None and shown.why is not None:
        sections.append(decision_section(shown.policy, shown.why, "The decision", "look-1"))
    gain = gain_plot(shown.gain)
    if gain is not None:
        sections.append(Section("Expected gain", (gain,)))
    sections += [_threads_section(shown), _memory_section(shown), _sharing_section(shown)]
    if shown.not_measured:
        sections.append(Section("Not measured", (Sentences(shown.not_measured),)))
    return tuple(sections)


def gain_plot(facts: Mapping[str, object]) -> Plot | None:
    """The expected gain over the operating system, and that of each training program under the
    same rule; None where it is not known.
    """
    gains, whole = facts.get("gains"), facts.get("gain")
    if not isinstance(gains, Mapping) or not isinstance(whole, float) or not gains:
        return None
    interval = facts.get("interval")
    low, high = interval if isinstance(interval, list) else (float("nan"), float("nan"))
    rows = [Interval("expected", whole, low, high)]
    rows += [
        Interval(name, gains[name], float("nan"), float("nan"))
        for name in sorted(gains, key=lambda name: -gains[name])
    ]
    return intervals_plot(
        "gain",
        rows,
        "times the speed under the operating system",
        "Gain of the training programs that fell under the same rule, and, as the gain that this "
        "program may expect, their geometric mean with its 95 % interval by bootstrap over "
        "programs.",
    )


def _answers_section(answers: Sequence[Answer]) -> Section:
    rows = tuple((Cell(each.question, tone="whole strong"), Cell(each.advice)) for each in answers)
    evidence = tuple(
        Folded(f"Evidence: {each.question}", (Sentences(each.evidence),))
        for each in answers
        if each.evidence
    )
    return Section("Advice", (Table(("question", "advice"), rows), *evidence))


def _places_section(shown: AdviceShown) -> Section:
    blocks: list[Block] = []
    if shown.cpus:
        seen = OnMachine.seated(shown.cpus, _numbers(shown, len(shown.cpus)))
        svg = machine_svg(shown.topology, seen, shown.available, ["seen"])
        blocks.append(
            Drawing(svg, "Where each thread that computes was seen last; nothing was moved.")
        )
    if shown.chosen is not None:
        cpus = shown.chosen.cpus
        advised = OnMachine.seated(cpus, _numbers(shown, len(cpus)))
        svg = machine_svg(shown.topology, advised, shown.available, ["advised"])
        caption = f"Where the advice puts threads, as {shown.chosen.affinity}."
        blocks.append(Drawing(svg, caption))
    if not blocks:
        svg = machine_svg(shown.topology, None, shown.available)
        blocks.append(Drawing(svg, "Nothing was decided, and no thread was seen on a CPU."))
    return Section("Threads on the machine", tuple(blocks))


def _numbers(shown: AdviceShown, count: int) -> tuple[int, ...] | None:
    """Numbers of the computing threads, where there is one for each of `count` CPUs."""
    return shown.computing if len(shown.computing) == count else None


def _threads_section(shown: AdviceShown) -> Section:
    plots = timeline_plots(shown.timeline, shown.computing) if shown.computing else []
    lines = ["Nothing was moved, so there is no measurement after the advice."]
    if not shown.timeline:
        lines.append("Not recorded: the measurement is no series of looks.")
    elif not shown.computing:
        lines.append("No thread was seen to compute.")
    elif missing := missing_quantities(shown.timeline, shown.computing):
        lines.append(f"Not measured: {'; '.join(missing)}.")
    return Section("Measured, by thread over time", (*plots, Sentences(tuple(lines))))


def _memory_section(shown: AdviceShown) -> Section:
    blocks: list[Block] = []
    if shown.memory is not None:
        blocks.append(_memory_plot(shown.memory, shown.topology))
    else:
        blocks.append(Sentences(("The program's memory was not seen on any node.",)))
    if shown.touched is not None and shown.touched.pages:
        blocks.append(touched_map(shown.touched, "pages"))
    else:
        blocks.append(Sentences(("No touches of pages were sampled.",)))
    return Section("Memory by node", tuple(blocks))


def _memory_plot(memory: MemoryByNode, topology: Topology) -> Plot:
    numbers = [f"node {number}" for number in topology.node_os_indices]
    trace = {
        "type": "bar",
        "x": numbers,
        "y": [size / _MIB for size in memory.bytes_on],
        "width": 0.5,
        "marker": {"color": BLUE},
        "hovertemplate": "%{x}: %{y:.4g} MiB<extra></extra>",
    }
    figure = {
        "data": [trace],
        "layout": layout(
            260,
            showlegend=False,
            xaxis=axis(type="category"),
            yaxis=axis("MiB", rangemode="tozero"),
        ),
    }
    caption = "The program's own memory on each NUMA node (the kernel's numbers), at the last look."
    return Plot("memory", figure, caption, 260)


def _sharing_section(shown: AdviceShown) -> Section:
    if shown.sharing is None:
        return Section("Sharing between threads", (Sentences((shown.sharing_by,)),))
    if not any(map(any, shown.sharing.cells)):
        return Section("Sharing between threads", (Sentences((_NO_SHARING, shown.sharing_by)),))
    plot = matrix_plot(shown.sharing, "sharing", "amount")
    return Section("Sharing between threads", (plot, Sentences((shown.sharing_by,))))
