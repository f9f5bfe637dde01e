"""Random trees of OpenMP tasks, captured by any team, finish on any placement with nothing lost."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st
from sim_programs import BASE, counts

from autofinity._core import sim as core
from autofinity._core.trace import Trace, TraceBuilder
from autofinity.sim.native import machine_model
from autofinity.sim.preset import load_preset

MACHINE = machine_model(load_preset("opteron-6164he"))
TEAM = 1
BARRIER = 1
DONE = 1 << 20
"""Token of the end of a task: this and its number; the number alone is its creation."""


def begin_task(builder: TraceBuilder, stream: int, task: int) -> None:
    builder.event(stream, 6, TEAM << 20 | task, gap=1, aux=1)


def end_task(builder: TraceBuilder, stream: int, task: int) -> None:
    builder.event(stream, 7, TEAM << 20 | task, gap=1, aux=1)


@dataclass
class Capture:
    """Plays a team that runs a random tree of tasks and writes down who ran what, as capture does.

    A task goes to whoever waits: the worker that comes to a taskwait, or one at the barrier.
    """

    rng: random.Random
    workers: int
    depth: int
    builder: TraceBuilder = field(default_factory=TraceBuilder)
    waiting: list[tuple[int, int]] = field(default_factory=list)
    tasks: int = 0
    in_place: int = 0
    idle: list[int] = field(default_factory=list)

    def trace(self) -> Trace:
        for _ in range(self.workers):
            self.builder.stream()
        self.idle = list(range(1, self.workers))
        self.body(0, self.depth)
        self.run_until_done(0, None)
        for worker in range(self.workers):
            self.builder.barrier(worker, BARRIER, self.workers)
            self.builder.compute(worker, gap=50)
        return self.builder.build()

    def body(self, worker: int, depth: int) -> None:
        children: set[int] = set()
        for _ in range(self.rng.randrange(6)):
            action = self.rng.randrange(5)
            if action == 0 and children:
                self.run_until_done(worker, children)
            elif action == 1:
                self.builder.lock(worker, 7)
                self.builder.access(worker, BASE, 1, 1, gap=10)
                self.builder.unlock(worker, 7)
            elif action == 2 and depth:
                self.undeferred(worker, depth - 1)
            elif depth:
                children.add(self.create(worker, depth - 1))
            else:
                self.builder.access(worker, BASE + self.rng.randrange(64), 1, gap=100)
        if self.rng.random() < 0.7:
            self.run_until_done(worker, children)

    def create(self, worker: int, depth: int) -> int:
        task = self.tasks
        self.tasks += 1
        self.builder.post(worker, task)
        self.builder.compute(worker, gap=3)  # not at once: it was put off
        self.builder.heartbeat(worker, 1)
        self.waiting.append((task, depth))
        return task

    def undeferred(self, worker: int, depth: int) -> None:
        task = self.tasks
        self.tasks += 1
        self.in_place += 1
        self.builder.post(worker, task)
        self.builder.access(worker, BASE + 70, 0, 1)  # the copy of its data
        self.run(worker, task, depth)

    def run(self, worker: int, task: int, depth: int) -> None:
        begin_task(self.builder, worker, task)
        self.builder.wait(worker, task)
        self.builder.compute(worker, gap=200)
        self.body(worker, depth)
        self.builder.post(worker, DONE + task)
        end_task(self.builder, worker, task)

    def run_until_done(self, worker: int, children: set[int] | None) -> None:
        """A taskwait for `children`; None: the barrier, for everything."""

        def left() -> bool:
            numbers = {task for task, _ in self.waiting}
            return bool(numbers if children is None else numbers & children)

        while left():
            task, depth = self.waiting.pop(self.rng.randrange(len(self.waiting)))
            taker = self.rng.choice([worker, *self.idle])
            mine = taker == worker
            if not mine:
                self.idle.remove(taker)
            self.run(taker, task, depth)
            if not mine:
                self.idle.append(taker)
        for task in sorted(children or ()):
            self.builder.wait(worker, DONE + task)
        if children:
            children.clear()


@settings(max_examples=150)
@given(
    seed=st.integers(0, 2**32),
    workers=st.integers(2, 5),
    depth=st.integers(0, 3),
    pus=st.lists(st.sampled_from([0, 1, 2, 7, 30]), min_size=5, max_size=5),
)
def test_every_task_is_carried_out_once(
    seed: int, workers: int, depth: int, pus: list[int]
) -> None:
    capture = Capture(random.Random(seed), workers, depth)
    program = core.Program(capture.trace())
    run = core.Simulation(MACHINE, program, pus[:workers])
    run.run()
    run.check()
    totals = dict(zip(core.event_names(), run.totals().sum(axis=0).tolist(), strict=True))
    assert totals["units_executed"] == capture.tasks
    assert totals["instructions"] == sum(program.instructions)


def test_tasks_go_to_whoever_waits_although_one_thread_ran_them_all_in_the_capture() -> None:
    builder = TraceBuilder()
    streams = [builder.stream() for _ in range(4)]
    for task in range(16):
        builder.post(streams[0], task)
        builder.heartbeat(streams[0], 1)
    for task in range(16):
        begin_task(builder, streams[0], task)
        builder.wait(streams[0], task)
        builder.compute(streams[0], gap=50_000)
        end_task(builder, streams[0], task)
    for stream in streams:
        builder.barrier(stream, BARRIER, 4)
    run = core.Simulation(MACHINE, core.Program(builder.build()), [0, 6, 12, 18])
    run.run()
    assert counts(run, "units_executed") == [4, 4, 4, 4]


def test_a_barrier_waits_for_the_tasks_of_its_team() -> None:
    builder = TraceBuilder()
    creator, other = builder.stream(), builder.stream()
    builder.post(creator, 1)
    builder.heartbeat(creator, 1)
    begin_task(builder, other, 0)
    builder.wait(other, 1)
    builder.compute(other, gap=1_000_000)
    end_task(builder, other, 0)
    for stream in (creator, other):
        builder.barrier(stream, BARRIER, 2)
        builder.compute(stream, gap=1_000_000)
    run = core.Simulation(MACHINE, core.Program(builder.build()), [0, 6])
    run.run()
    spec = load_preset("opteron-6164he")
    assert run.elapsed_ns > 2 * 1_000_000 / (spec.ghz * spec.core.base_ipc)
