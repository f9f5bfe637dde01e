"""Programs that are profiled on this machine: bound, counted between their marks, and answered for.

Software events of the kernel stand for hardware ones, which few test machines have.
"""

from __future__ import annotations

import itertools
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from permitted import needs_perf

from autofinity.linux.event_tables import Encoding
from autofinity.linux.host_machine import HostMachine, event_groups, merged
from autofinity.linux.marked_run import Conditions, MarkedRun, marks_library
from autofinity.linux.topology import host_topology
from autofinity.model.affinity import Affinity
from autofinity.model.counters import CounterSample
from autofinity.model.detection import FaultSampling
from autofinity.model.errors import CapabilityError, LinuxError
from autofinity.model.placement import Placement
from autofinity.model.topology import OsIndex
from autofinity.ports import Interval, RunRequest, Sensors
from autofinity.profiling.sampling import Run, observe
from autofinity.profiling.target import Target
from autofinity.trace.manifest import load_suite
from autofinity.workflow.host_programs import host_programs
from autofinity.workflow.wanted import Wanted

ROOT = Path(__file__).resolve().parents[3]
SOFTWARE = {"instructions": Encoding(1, 1), "cycles": Encoding(1, 0), "page_walks": Encoding(1, 2)}
"""task-clock, cpu-clock, page-faults."""
WORK = r"""
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "autofinity_roi.h"
static double seconds(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}
static void* work(void* s) {
    double until = seconds(CLOCK_THREAD_CPUTIME_ID) + *(double*)s;
    while (seconds(CLOCK_THREAD_CPUTIME_ID) < until) continue;
    return NULL;
}
int main(int argc, char** argv) {
    double each = atof(argv[1]), before = each < 1 ? each / 1.5 : 0;
    pthread_t threads[2];
    work(&before);
    if (argc < 3) roi_begin();
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, work, &each);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    if (argc < 3) roi_end();
    work(&before);
    puts("ok");
    return argc < 3 ? 0 : atoi(argv[2]);
}
"""


pytestmark = needs_perf


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("work")
    (folder / "work.c").write_text(WORK)
    include = f"-I{ROOT / 'training' / 'include'}"
    command = ["cc", "-O1", "-pthread", include, "-o", folder / "work", folder / "work.c"]
    subprocess.run(command, check=True)
    return str(folder / "work")


def request(program: str, *arguments: str) -> RunRequest:
    return RunRequest(program, (program, *arguments), 2, dict(os.environ))


@pytest.fixture
def placement() -> Placement:
    cpus = sorted(os.sched_getaffinity(0))
    return Placement((frozenset({OsIndex(cpus[0])}), frozenset({OsIndex(cpus[-1])})))


def to_the_end(run: MarkedRun) -> Iterator[Interval]:
    while True:
        interval = run.advance(20_000_000)
        yield interval
        if interval.ended:
            return


def test_a_run_is_timed_and_counted_between_its_marks(program: str, placement: Placement) -> None:
    run = MarkedRun(request(program, "0.3"), placement, SOFTWARE, Conditions(expect="^ok"))
    seen = list(to_the_end(run))
    assert all(a.end_ns == b.start_ns for a, b in itertools.pairwise(seen))
    wall_s = (seen[-1].end_ns - seen[0].start_ns) / 1e9
    assert wall_s >= 0.3
    computed_s = sum(s.counts["task_clock_ns"] for i in seen for s in i.samples) / 1e9
    # Two threads of 0.3 s; not the 0.4 s that the main thread works outside of the marks.
    assert 0.15 < computed_s < 0.75
    counted = {name for i in seen for s in i.samples for name in s.counts}
    assert "instructions" in counted


def test_marks_are_seen_from_an_installation_below_a_folder_with_a_blank(
    program: str, placement: Placement, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "site env: ours"
    elsewhere.symlink_to(marks_library().parent)
    monkeypatch.setattr(
        "autofinity.linux.marked_run.marks_library", lambda: elsewhere / marks_library().name
    )
    run = MarkedRun(request(program, "0.05"), placement, {}, Conditions(expect="^ok"))
    assert list(to_the_end(run))[-1].ended


def test_each_worker_is_bound_to_its_mask_and_the_waiting_main_thread_to_none(
    program: str, placement: Placement
) -> None:
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("one CPU cannot show who was bound where")
    first, last = (tuple(mask) for mask in placement.masks)
    expected = sorted([first, last, tuple(sorted({*first, *last}))])
    run = MarkedRun(request(program, "60"), placement, {}, Conditions())
    try:  # on a loaded machine it takes a while until both are seen to compute
        while not run.advance(50_000_000).ended and masks_of(program) != expected:
            continue
        assert masks_of(program) == expected
    finally:
        run.close()


def masks_of(program: str) -> list[tuple[int, ...]]:
    (task,) = [p for p in Path("/proc").glob("[0-9]*/cmdline") if _is(p, program)]
    threads = (task.parent / "task").iterdir()
    return sorted(tuple(sorted(os.sched_getaffinity(int(t.name)))) for t in threads)


def _is(cmdline: Path, program: str) -> bool:
    try:
        return cmdline.read_bytes().startswith(program.encode() + b"\0")
    except OSError:
        return False


@pytest.mark.parametrize(
    ("arguments", "conditions", "message"),
    [
        (("0.01",), Conditions(expect="^no"), "answered 'ok', expected"),
        (("0.01", "3"), Conditions(marks=False), "exit code 3"),
        (("0.01", "0"), Conditions(), "without beginning its region"),
        (("60",), Conditions(timeout_s=0.5), "more than 0.5 s"),
    ],
)
def test_a_program_that_goes_wrong_is_named_with_the_reason(
    program: str,
    placement: Placement,
    arguments: tuple[str, ...],
    conditions: Conditions,
    message: str,
) -> None:
    with pytest.raises(LinuxError, match=message):
        list(to_the_end(MarkedRun(request(program, *arguments), placement, {}, conditions)))


def test_a_program_that_cannot_be_started_is_an_error(placement: Placement) -> None:
    with pytest.raises(LinuxError, match="cannot start /nonexistent"):
        MarkedRun(request("/nonexistent"), placement, {}, Conditions())


def test_more_events_than_fit_are_counted_in_several_runs_and_seen_as_one(
    program: str, placement: Placement
) -> None:
    machine = HostMachine(host_topology(), SOFTWARE, {}, at_once=2)
    period_ns = 20_000_000
    run = Run("work", "small", 2, Affinity.parse("{2}"), 1)
    target = Target(machine, "host", "linux", machine.clock_hz, period_ns, "1")
    rows = observe(target, request(program, "0.1"), run, placement)
    assert rows
    assert rows[0].roi_s >= 0.08
    # Not in each row: in a period in which a busy machine let no thread run, nothing is counted.
    assert {name for row in rows for name in row.behaviour.values} >= set(SOFTWARE)


def test_runs_are_merged_by_period_at_the_length_of_the_first_ones() -> None:
    def run(period_ns: int, counts: dict[str, int], periods: int) -> list[Interval]:
        times = [(period_ns * i, period_ns * (i + 1)) for i in range(periods)]
        return [
            Interval(at, end, (CounterSample(1, at, end, counts, period_ns, period_ns),))
            for at, end in times
        ]

    periods = merged(
        [run(100, {"instructions": 7, "a": 10}, 3), run(200, {"instructions": 9, "b": 10}, 2)]
    )
    assert [(p.start_ns, p.end_ns, p.ended) for p in periods] == [(0, 100, False), (100, 200, True)]
    for period in periods:
        assert [sample.counts for sample in period.samples] == [
            {"instructions": 7, "a": 10},
            {"b": 5},
        ]


def test_groups_of_events_have_instructions_each_and_lose_none() -> None:
    events = ("a", "instructions", "b", "c", "d")
    groups = event_groups(events, 3)
    assert groups == [("instructions", "a", "b"), ("instructions", "c", "d")]
    assert event_groups(("a", "b", "c"), 2) == [("a", "b"), ("c",)]
    assert event_groups((), 4) == [()]


def test_a_program_of_the_training_suite_runs_natively_and_answers_rightly(tmp_path: Path) -> None:
    suite = load_suite(ROOT / "training" / "suite.toml")
    wanted = Wanted("host", suite, ("pricer",), ("small",), (2,), jobs=1, work=tmp_path)
    programs, conditions = host_programs(wanted)
    (program,) = programs
    assert conditions[program.request.argv, 2].expect == "^ok "
    machine = HostMachine(host_topology(), SOFTWARE, conditions)
    run = Run("pricer", "small", 2, Affinity.parse("{2}"), 1)
    cpus = frozenset(map(OsIndex, os.sched_getaffinity(0)))
    target = Target(machine, "host", "linux", machine.clock_hz, 2_000_000, "1")
    rows = observe(target, program.request, run, Placement((cpus, cpus)))
    assert rows[0].roi_s > 0.002
    assert rows[0].backend == "linux"


def test_a_real_machine_refuses_sensors_that_only_a_simulated_machine_has() -> None:
    machine = HostMachine(host_topology(), SOFTWARE, {})
    for sensors in (Sensors(reads_by_node=True), Sensors(detectors=(FaultSampling(),))):
        with pytest.raises(CapabilityError, match="simulated one"):
            machine.start(RunRequest("work"), None, sensors)
