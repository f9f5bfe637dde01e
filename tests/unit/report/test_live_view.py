"""The live view of runs, from what was read to lines of any width."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_up_machine import machine
from rich.cells import cell_len
from run_record import run_record

from autofinity.linux.proc import Task
from autofinity.model.memory import MemoryByNode
from autofinity.model.topology import UNKNOWN_NODE, OsIndex
from autofinity.report.live_view import (
    RUN_COLUMNS,
    fitted,
    memory_text,
    runs_view,
    threads_view,
    would_change,
)
from autofinity.runtime.runs_now import RunSeen, ThreadSeen

TOPOLOGY = replace(machine(packages=2, cores=2), node_os_indices=(OsIndex(0), OsIndex(8)))
"""CPUs 0 and 1 on the node that the kernel calls 0, CPUs 2 and 3 on node 8."""
RUN = run_record(
    id=7,
    path="/opt/app/solver",
    pid=4711,
    ended=None,
    policy="p",
    policy_path="/p.json",
    sample={"ipc": 1.0},
)
GIB = 1 << 30


def thread(tid: int, cpu: int, *, runs: bool = True, share: float | None = None) -> ThreadSeen:
    task = Task(tid, 4711, f"worker {tid}", tid, 0, 0, OsIndex(cpu), runs)
    return ThreadSeen(task, share)


SEEN = RunSeen(
    RUN,
    threads=(thread(1, 0, share=0.98), thread(2, 1, share=1.0), thread(3, 3, runs=False)),
    memory=MemoryByNode((3 * GIB, GIB // 2)),
)


def cells(seen: RunSeen) -> dict[str, str]:
    (row,) = runs_view([seen], TOPOLOGY, "db").rows
    return dict(zip((column.heading for column in RUN_COLUMNS), row, strict=True))


def test_a_run_is_a_row_of_where_it_is_now() -> None:
    assert cells(SEEN) == {
        "run": "7",
        "pid": "4711",
        "program": "solver",
        "threads": "2/3",
        "CPU %": "198",
        "CPUs": "0-1",
        "nodes": "0",
        "memory": "0:3 GiB 8:512 MiB",
        "phase": "placed",
        "hint": "packed",
        "would change": "nothing",
    }


def test_cpus_are_those_of_running_threads_and_of_all_where_none_runs() -> None:
    idle = replace(SEEN, threads=(thread(1, 2, runs=False), thread(2, 3, runs=False)))
    assert (cells(idle)["CPUs"], cells(idle)["nodes"]) == ("2-3", "8")
    assert cells(idle)["threads"] == "0/2"
    assert cells(replace(SEEN, threads=()))["CPUs"] == "-"


@pytest.mark.parametrize(
    ("changes", "run", "expected"),
    [
        ({}, {}, "nothing"),
        ({"alive": False}, {}, "nothing: it has ended"),
        ({"watched": False}, {}, "nothing: its monitor is gone"),
        ({"watched": False}, {"phase": "detached"}, "nothing: it is watched no longer"),
        ({}, {"phase": "", "hint": None, "sample": {}}, "nothing yet: its monitor is starting"),
        (
            {},
            {"phase": "sampling", "hint": None, "sample": {}},
            "nothing yet: threads are being sampled",
        ),
        (
            {},
            {"phase": "left alone", "notes": "nothing was decided: no counter"},
            "nothing: no counter",
        ),
        ({}, {"phase": "left alone"}, "nothing: its threads are left alone"),
        ({}, {"cpus": "2-3"}, "2 running threads to CPUs 2-3"),
        ({}, {"cpus": "0,2"}, "1 running thread to CPUs 0,2"),
        ({}, {"cpus": "garbage \x1b"}, "nothing"),
        (
            {
                "memory": MemoryByNode((GIB, 3 * GIB)),
                "threads": (thread(1, 0), thread(2, 1)),
            },
            {},
            "nothing; 75% of its memory is on nodes without its threads",
        ),
    ],
)
def test_it_is_said_what_would_change(
    changes: dict[str, object], run: dict[str, object], expected: str
) -> None:
    seen = replace(SEEN, run=replace(RUN, **run), **changes)  # type: ignore[arg-type]
    assert would_change(seen, TOPOLOGY) == expected


def test_helpers_of_a_runtime_are_not_off_their_cpus() -> None:
    collector = ThreadSeen(Task(9, 4711, "GC Thread#0", 9, 0, 0, OsIndex(3), True))
    assert would_change(replace(SEEN, threads=(collector,), memory=None), TOPOLOGY) == "nothing"


def test_memory_is_shown_in_all_where_the_kernel_shows_no_nodes() -> None:
    assert memory_text(replace(SEEN, memory=None, resident_bytes=5 << 20), TOPOLOGY) == (
        "5 MiB in all"
    )
    assert memory_text(replace(SEEN, memory=None), TOPOLOGY) == "-"


def test_an_unknown_node_and_an_unknown_cpu_are_no_node() -> None:
    unknown = replace(TOPOLOGY, node_os_indices=(OsIndex(0), UNKNOWN_NODE))
    seen = replace(SEEN, threads=(thread(1, 3), thread(2, 99)))
    rows = threads_view(seen, unknown, "").rows
    assert [row[4] for row in rows] == ["?", "?"]


def test_a_run_s_threads_stand_below_its_decision() -> None:
    view = threads_view(SEEN, TOPOLOGY, "by rule 2 of 5: \x1b[2J")
    assert view.lines == (
        "run 7: /opt/app/solver, pid 4711, placed",
        r"hint: packed (slp); by rule 2 of 5: \x1b[2J",
        "memory: 0:3 GiB 8:512 MiB",
        "would change: nothing",
    )
    assert view.rows[0] == ("1", "worker 1", "runs", "0", "0", "98")
    assert view.rows[2] == ("3", "worker 3", "sleeps", "3", "8", "-")


def test_on_a_narrow_terminal_the_columns_of_least_use_are_left_out() -> None:
    view = runs_view([SEEN], TOPOLOGY, "db")
    assert " ".join(fitted(view, 200)[1].text.split()) == (
        "run pid program threads CPU % CPUs nodes memory phase hint would change"
    )
    narrow = [line.text for line in fitted(view, 20)]
    assert narrow == ["1 run (db)", "run program hint", "7   solver  packed"]
    assert fitted(view, 12)[-1].text == "7   solver"


@pytest.mark.parametrize("width", [*range(24, 132)])
def test_no_heading_is_cut(width: int) -> None:
    waits = replace(SEEN, run=replace(RUN, path="a" * 50, hint=None, phase="starting"))
    view = runs_view([SEEN, waits], TOPOLOGY, "db")
    (heading,) = [line.text for line in fitted(view, width, selected=0) if line.style == "heading"]
    assert "~" not in heading


def test_what_is_cut_says_so() -> None:
    long = replace(SEEN, run=replace(RUN, path="a" * 50))
    assert fitted(runs_view([long], TOPOLOGY, "db"), 12)[-1].text == "7   aaaaaaa~"


def test_no_run_is_said() -> None:
    (line,) = fitted(runs_view([], TOPOLOGY, "db"), 200)
    assert line.text.startswith("no run is live (db)")


names = st.text(max_size=12)


@given(
    st.lists(st.tuples(names, names, st.integers(0, 5)), max_size=12),
    st.integers(0, 90),
    st.integers(1, 12),
    st.data(),
)
def test_the_view_fits_any_terminal_with_the_selected_row_on_it(
    runs: list[tuple[str, str, int]], width: int, height: int, data: st.DataObject
) -> None:
    seen = [
        replace(SEEN, run=replace(RUN, id=at, path=path, phase=phase), threads=SEEN.threads[:count])
        for at, (path, phase, count) in enumerate(runs)
    ]
    selected = data.draw(st.integers(0, len(runs) - 1)) if runs else None
    lines = fitted(runs_view(seen, TOPOLOGY, "db"), width, height, selected)
    assert len(lines) <= height
    assert all(cell_len(line.text) <= max(width, 3) for line in lines)
    assert all(line.text.isprintable() for line in lines)
    if runs and height > 1:
        assert sum(line.style == "selected" for line in lines) == 1
