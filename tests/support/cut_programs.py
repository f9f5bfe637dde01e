"""Random programs whose threads wait for each other, with events in a possible order of a run.

A run is made step by step: a thread that can go on makes one step, and its event carries the number
of the step. So any two steps cut a window out of it, as a capture does: some threads wait at a
barrier then, hold a lock, or are in the middle of a work unit.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from sim_programs import ATOMIC, BASE

from autofinity._core.trace import Trace, TraceBuilder

ACCESS, LOCK, UNLOCK, BARRIER, POST, AWAIT, UNIT_BEGIN, UNIT_END, *_ = range(14)
THREAD_BEGIN, THREAD_END = 10, 11


@dataclass(frozen=True, slots=True)
class Noted:
    """An event of a thread, and the step of the run at which it happened."""

    step: int
    kind: int
    value: int = 0
    aux: int = 0
    flags: int = 0


@dataclass(slots=True)
class Barrier:
    """A barrier of all threads, or of the first few."""

    threads: int
    noted_before: bool
    arrived: list[int] = field(default_factory=list)


class Run:
    """A run of `threads` threads for so many steps, and its events."""

    def __init__(self, rng: random.Random, threads: int, steps: int) -> None:
        self.noted: list[list[Noted]] = [[] for _ in range(threads)]
        self.steps = steps
        self._rng = rng
        self._step = 0
        self._leaving: set[int] = set()  # threads that a barrier has let go
        self._at: dict[int, int] = {}  # barrier at which a thread is
        self._held: dict[int, int] = {}  # lock → thread
        self._posted: list[int] = []
        self._tokens = 0
        self._unit: dict[int, int] = {}  # thread → unit that it is in
        self._units = 0
        self._left: dict[int, int] = {}  # thread → units that it is to do of its loop
        self._loops = [0] * threads  # that each thread has met: all meet the same ones
        sizes = [threads] if rng.random() < 0.7 else [threads, max(2, threads // 2)]
        self._barriers = [Barrier(size, rng.random() < 0.5) for size in sizes if size > 1]
        self._passed = [0] * threads
        # All come to the barriers in one order.
        self._order = (
            [rng.randrange(len(self._barriers)) for _ in range(steps)] if (self._barriers) else []
        )
        for _ in range(steps):
            self._step += 1
            self._go_on(rng.randrange(threads))

    def _note(self, thread: int, kind: int, value: int = 0, aux: int = 0, flags: int = 0) -> None:
        self.noted[thread].append(Noted(self._step, kind, value, aux, flags))

    def _go_on(self, thread: int) -> None:
        if thread in self._at:
            self._stay(thread)
        else:
            self._act(thread)

    def _stay(self, thread: int) -> None:
        barrier = self._barriers[self._at[thread]]
        if thread not in self._leaving:
            return
        self._leaving.remove(thread)
        number = self._at.pop(thread)
        if not barrier.noted_before:
            self._note(thread, BARRIER, 100 + number, barrier.threads)

    def _arrive(self, thread: int) -> None:
        while self._barriers[number := self._next_barrier(thread)].threads <= thread:
            pass
        barrier = self._barriers[number]
        if barrier.noted_before:
            self._note(thread, ACCESS, BASE + 9000 + number, 1, ATOMIC)
            self._note(thread, BARRIER, 100 + number, barrier.threads)
        self._at[thread] = number
        barrier.arrived.append(thread)
        if len(barrier.arrived) == barrier.threads:
            self._leaving.update(barrier.arrived)
            barrier.arrived.clear()

    def _next_barrier(self, thread: int) -> int:
        number = self._passed[thread]
        self._passed[thread] += 1
        return self._order[number] if number < len(self._order) else 0

    def _act(self, thread: int) -> None:
        rng = self._rng
        mine = [lock for lock, holder in self._held.items() if holder == thread]
        choice = rng.random()
        if choice < 0.4:
            self._note(thread, ACCESS, BASE + rng.randrange(200), rng.randrange(2))
        elif choice < 0.55:
            if mine:
                self._note(thread, UNLOCK, mine[0])
                del self._held[mine[0]]
            elif (lock := rng.randrange(3)) not in self._held:
                self._held[lock] = thread
                self._note(thread, LOCK, lock)
        elif thread in self._left:
            if not mine:
                self._go_on_in_loop(thread)
        elif choice < 0.7:
            self._tokens += 1
            self._posted.append(self._tokens)
            self._note(thread, POST, self._tokens)
        elif choice < 0.8:
            # In a critical section only right after it was entered.
            if self._posted and (not mine or self.noted[thread][-1].kind == LOCK):
                self._note(thread, AWAIT, rng.choice(self._posted))
        elif mine:
            return
        elif choice < 0.9:
            self._loops[thread] += 1
            self._left[thread] = rng.randrange(1, 4)
            self._go_on_in_loop(thread)
        elif self._barriers:
            self._arrive(thread)

    def _go_on_in_loop(self, thread: int) -> None:
        if thread in self._unit:
            self._note(thread, UNIT_END, self._unit.pop(thread))
        elif self._left[thread] == 0:
            del self._left[thread]
        else:
            self._left[thread] -= 1
            self._units += 1
            self._unit[thread] = self._loops[thread] << 20 | self._units
            self._note(thread, UNIT_BEGIN, self._unit[thread])

    def window(self, first: int, last: int) -> Trace:
        """The events from one step to before another."""
        builder = TraceBuilder()
        for thread, noted in enumerate(self.noted):
            builder.stream()
            for event in noted:
                if first <= event.step < last:
                    add(builder, thread, event)
        return builder.build()


def add(builder: TraceBuilder, stream: int, event: Noted) -> None:
    """Append an event; for an access `aux` says whether it writes."""
    if event.kind == ACCESS:
        builder.access(stream, event.value, reads=1, writes=event.aux, gap=20, flags=event.flags)
    else:
        builder.event(stream, event.kind, value=event.value, gap=5, aux=event.aux)
