"""A run on record as sections of a page: where its threads are, and what was measured before and
after they were placed.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from itertools import groupby

from autofinity.model.affinity import Affinity
from autofinity.model.timeline import TimelineStep
from autofinity.model.topology import Topology
from autofinity.policy.readable import number
from autofinity.report.machine_drawing import OnMachine, machine_svg
from autofinity.report.page import (
    Block,
    Cell,
    Drawing,
    Facts,
    Folded,
    Plot,
    Section,
    Sentences,
    Table,
    plot_text,
)
from autofinity.report.plot_layout import GREY, SERIES, axis, layout
from autofinity.report.timeline_plots import missing_quantities, timeline_plots
from autofinity.runtime.threads_now import ThreadNow, cpus_of
from autofinity.store.behaviour_rows import LiveObservation, RunRecord

NO_LOOKS = (
    "Not recorded: threads over time, which the record keeps of the latest 100 runs, and the nodes "
    "of the program's memory, which `autofinity top` shows of a program that runs.",
)
NOT_RECORDED = (
    "Not recorded: the nodes of the program's memory, which `autofinity top` shows of a program "
    "that runs.",
)
_MOST_BARS = 12
_COMPUTES_SHARE = 0.1
"""Share of the busiest thread's CPU time from which a thread is shown."""


def run_facts(run: RunRecord, *, alive: bool) -> Facts:
    """Facts of a run: its program, state and threads."""
    end = datetime.now().timestamp() if run.ended is None else run.ended
    lasted = f"{end - run.started:.3g} s"
    began = datetime.fromtimestamp(run.started).astimezone().strftime("%Y-%m-%d %H:%M:%S")
    return Facts(
        (
            ("program", run.path),
            ("pid", str(run.pid)),
            ("state", "running" if alive else "ended"),
            ("began", began),
            ("lasted", f"{lasted} so far" if alive else lasted if run.ended else "not known"),
            ("threads that compute", str(run.threads or "not known")),
            ("threads bound", str(run.bound)),
            ("measured by", run.tier),
        )
    )


def place_section(
    run: RunRecord, threads: Sequence[ThreadNow], topology: Topology | None
) -> Section | None:
    """Threads of a running program by their masks, or the CPUs that an ended one was given; None
    where neither is on record, or this is another machine.
    """
    if topology is None:
        return None
    there = frozenset(topology.by_os_index)
    claimed = cpus_of(run.cpus)
    masks = [cpus_of(thread.cpus) for thread in threads]
    if not claimed <= there or not all(mask <= there for mask in masks):
        lines = ("The run was given CPUs that this machine does not have: no picture.",)
        return Section("Where the threads are", (Sentences(lines),))
    if not claimed and not threads:
        return None
    placed = [
        mask for mask, thread in zip(masks, threads, strict=True) if thread.author != "nobody"
    ]
    shown = OnMachine(OnMachine.masked(placed).threads, claimed)
    usable = cpus_of(run.allowed) & there or topology.allowed
    if not threads:
        caption = "The run has ended: the CPUs that it was given have a thick border."
    elif not placed:
        caption = "All threads have the mask that the program began with: the system places them."
    else:
        caption = (
            "Threads are numbered as in the table below; a CPU shows all threads that may run on "
            "it. Threads with the mask that the program began with are left out."
        )
    blocks: list[Block] = [Drawing(machine_svg(topology, shown, usable), caption)]
    if threads:
        blocks.append(Folded("All threads", (_threads_table(threads),)))
    return Section("Where the threads are" if threads else "Where the threads were", tuple(blocks))


def measured_section(run: RunRecord, observed: Sequence[LiveObservation]) -> Section:
    """Behaviour in each affinity that the run was watched in, in that order, and its change."""
    looks = _looks(run, observed)
    blocks: list[Block] = []
    plot = _change_plot(looks)
    if plot is not None:
        blocks.append(plot)
    if looks:
        blocks.append(_rates_table(looks))
    else:
        blocks.append(Sentences(("Nothing was measured in this run.",)))
    return Section("Measured before and after", tuple(blocks))


def over_time_section(looks: Sequence[TimelineStep], *, alive: bool) -> Section:
    """Each thread that computes over time, before and after it was placed. `alive`: the run goes
    on.
    """
    threads = _that_compute(looks)
    if not threads:
        return Section("Threads over time", (Sentences(NO_LOOKS),))
    lines = [f"Looks on record: {len(looks)}. Threads are numbered in the order of creation."]
    places = [f"{place or 'where the system put them'}" for place in _places(looks)]
    lines.append(f"Threads were placed, one after the other: {', then '.join(places)}.")
    if alive:
        recorded_s = (looks[-1].end_ns - looks[0].start_ns) / 1e9
        lines.append(
            f"The program still runs; its looks are on record up to {recorded_s:.3g} s after the "
            "first look began. The record is written at every 64th look at the latest."
        )
    if missing := missing_quantities(looks, threads):
        lines.append(f"Not measured: {'; '.join(missing)}.")
    said = Sentences((*lines, *NOT_RECORDED))
    return Section("Threads over time", (*timeline_plots(looks, threads), said))


def _that_compute(looks: Sequence[TimelineStep]) -> list[int]:
    """Threads with a tenth of the busiest one's CPU time; without times, of its largest count."""
    used: dict[int, float] = defaultdict(float)
    for look in looks:
        for thread, counts in look.counts.items():
            used[thread] += counts.get("task_clock_ns", max(counts.values(), default=0.0))
    least = _COMPUTES_SHARE * max(used.values(), default=0.0)
    return sorted(thread for thread, amount in used.items() if amount > 0 and amount >= least)


def _places(looks: Sequence[TimelineStep]) -> list[str]:
    return [place for place, _ in groupby(look.place for look in looks)]


type _Look = tuple[str, dict[str, float]]
"""Where the threads were, and rates by counter."""


def _looks(run: RunRecord, observed: Sequence[LiveObservation]) -> list[_Look]:
    found: list[_Look] = [
        (_as_placed(each.affinity, at), dict(each.sample)) for at, each in enumerate(observed)
    ]
    samples = [sample for _, sample in found]
    if run.sample and dict(run.sample) not in samples:
        found.insert(0, ("when it was decided", dict(run.sample)))
    if run.probe and dict(run.probe) not in samples:
        found.append(("in the second look", dict(run.probe)))
    return found


def _as_placed(affinity: Affinity, at: int) -> str:
    where = f"as {affinity}" if affinity.occupancy else "where the system put them"
    return f"{at + 1}. {where}"


def _change_plot(looks: Sequence[_Look]) -> Plot | None:
    """Later rates over the first ones; None without two looks that share a counter."""
    if len(looks) < 2:
        return None
    first = looks[0][1]
    names = [
        name
        for name, value in first.items()
        if value > 0 and any(look.get(name, math.nan) > 0 for _, look in looks[1:])
    ][:_MOST_BARS]
    if not names:
        return None
    traces = [
        {
            "type": "bar",
            "name": plot_text(where),
            "x": [plot_text(name) for name in names],
            "y": [look.get(name, math.nan) / first[name] for name in names],
            "marker": {"color": SERIES[at % len(SERIES)]},
            "hovertemplate": "%{x}: %{y:.3f} times as before<extra>%{fullData.name}</extra>",
        }
        for at, (where, look) in enumerate(looks[1:])
    ]
    parity = {
        "type": "line",
        "x0": 0,
        "x1": 1,
        "xref": "paper",
        "y0": 1,
        "y1": 1,
        "line": {"color": GREY, "width": 1.5, "dash": "dot"},
    }
    figure = {
        "data": traces,
        "layout": layout(
            320,
            barmode="group",
            showlegend=True,
            shapes=[parity],
            xaxis=axis(type="category"),
            yaxis=axis("times the first look", rangemode="tozero"),
        ),
    }
    caption = (
        f"Rates of later looks over those of the first one ({looks[0][0]}); at the dotted line "
        "nothing changed."
    )
    return Plot("change", figure, caption, 320)


def _rates_table(looks: Sequence[_Look]) -> Table:
    names = list(dict.fromkeys(name for _, look in looks for name in look))
    rows = tuple(
        (
            Cell(name),
            *(
                Cell(number(look[name]), look[name])
                if name in look and math.isfinite(look[name])
                else Cell("not measured")
                for _, look in looks
            ),
        )
        for name in names
    )
    return Table(
        ("counter", *(where for where, _ in looks)),
        rows,
        caption="Means over threads, per thread and second; ratios have no unit.",
    )


def _threads_table(threads: Sequence[ThreadNow]) -> Table:
    placed = [thread for thread in threads if thread.author != "nobody"]
    numbers = {thread.tid: number for number, thread in enumerate(placed)}
    authors = {"autofinity": "autofinity", "nobody": "as at the start", "others": "others"}
    rows = tuple(
        (
            Cell(str(numbers[thread.tid]) if thread.tid in numbers else "–"),
            Cell(str(thread.tid), float(thread.tid)),
            Cell(thread.name),
            Cell(thread.cpus),
            Cell(authors[thread.author]),
        )
        for thread in threads
    )
    return Table(("number", "tid", "name", "CPUs", "placed by"), rows)
