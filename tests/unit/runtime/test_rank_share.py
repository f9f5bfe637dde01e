"""Ranks of one program under `run`: each keeps to its share, or to what its launcher gave it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest
from made_up_machine import cpus, machine

from autofinity.linux.bind import StartMask
from autofinity.model.affinity import PACKED, SPREAD, Hint
from autofinity.model.answer_on_record import AnswerOnRecord
from autofinity.model.counters import CounterSample
from autofinity.model.policy import Decision, RulePolicy
from autofinity.model.topology import OsIndex
from autofinity.ports import Action, BindThreads, Interval, Outcome, ThreadEvent
from autofinity.runtime.decider import LivePolicy
from autofinity.runtime.live_state import LiveState, Settings
from autofinity.runtime.loop import run_loop
from autofinity.runtime.rank_share import RankShare, rank_share
from autofinity.runtime.request import Request
from autofinity.runtime.undecided import ONE_OF_A_RANK

S = 1_000_000_000
MACHINE = machine(packages=2, nodes=1, llcs=2, cores=4)
REQUEST = ["--pid", "1", "--program", "/bin/app", "--key", "k", "--allowed", "0-15"]


def share(
    launcher: str = "Open MPI",
    ranks: int = 4,
    rank: int = 0,
    *,
    allowed: frozenset[OsIndex] = MACHINE.allowed,
    by_cpuset: bool = True,
    own_cpuset: bool = False,
) -> RankShare:
    """Share of a rank that may use these CPUs, by its cgroup or by a mask."""
    words = ["--launcher", launcher, "--ranks", str(ranks), "--rank", str(rank)]
    request = Request.parse([*REQUEST, *words])
    at_start = StartMask(allowed, by_cpuset)
    return rank_share(request, MACHINE, at_start, allowed, own_cpuset=own_cpuset)


def test_ranks_that_nobody_bound_divide_the_machine() -> None:
    shares = [share(rank=rank) for rank in range(4)]
    found = [each.of(MACHINE.allowed) for each in shares]
    assert found == [frozenset(range(4 * rank, 4 * rank + 4)) for rank in range(4)]
    assert all(each.divided for each in shares)
    assert shares[1].note == (
        "rank 1 of 4 on this node (Open MPI): it keeps to its share, CPUs 4-7"
    )


def test_a_share_is_of_the_cpus_that_the_cgroup_allows_now() -> None:
    whole = share(ranks=2, rank=1)
    assert whole.of(cpus(0, 1, 8, 9)) == cpus(8, 9)
    assert whole.of(cpus(0, 1, 2, 3)) == cpus(2, 3)
    assert whole.of(frozenset()) == frozenset()


def test_a_rank_that_its_launcher_bound_keeps_to_its_mask() -> None:
    bound = share(rank=1, ranks=2, allowed=cpus(*range(8, 16)), by_cpuset=False)
    assert (bound.divided, bound.one_core) == (False, False)
    assert bound.of(cpus(*range(8, 16))) == cpus(*range(8, 16))
    assert bound.note == (
        "rank 1 of 2 on this node (Open MPI): its launcher has bound it to CPUs 8-15: its threads "
        "are placed within these; `mpirun --bind-to none` leaves the places to autofinity"
    )


def test_a_rank_in_a_cgroup_of_its_own_is_bound_by_it_and_divides_nothing() -> None:
    bound = share("Slurm", 2, 1, allowed=cpus(*range(8, 16)), own_cpuset=True)
    assert not bound.divided
    assert "its launcher has bound it to CPUs 8-15" in bound.note


def test_ranks_divide_the_cpus_that_the_kernel_has_not_isolated() -> None:
    isolcpus = replace(MACHINE, isolated=cpus(7, 15))
    unbound = isolcpus.allowed - isolcpus.isolated
    words = ["--launcher", "Open MPI", "--ranks", "2"]
    for rank, own in enumerate((range(7), range(8, 15))):
        request = Request.parse([*REQUEST, *words, "--rank", str(rank)])
        at_start = StartMask(unbound)
        found = rank_share(request, isolcpus, at_start, unbound, own_cpuset=False)
        assert found.of(unbound) == cpus(*own)
        bound = rank_share(request, isolcpus, at_start, cpus(7, 15), own_cpuset=False)
        assert not bound.divided


@pytest.mark.parametrize(
    ("launcher", "instead"),
    [
        ("Open MPI", "; `mpirun --bind-to none` leaves the places to autofinity"),
        ("MPICH", "; `mpiexec -bind-to none` leaves the places to autofinity"),
        ("Slurm", "; `srun --cpu-bind=none` leaves the places to autofinity"),
        ("PMI", ""),
    ],
)
@pytest.mark.parametrize("ranks", [1, 2])
def test_a_rank_on_one_core_is_not_placed(launcher: str, ranks: int, instead: str) -> None:
    bound = share(launcher, ranks, allowed=cpus(5), by_cpuset=False)
    assert bound.one_core
    assert bound.note.endswith(f"bound it to CPUs 5: one core, so nothing is placed{instead}")


def test_one_rank_alone_has_the_node_and_no_rank_has_no_note() -> None:
    for nothing in (share(ranks=1), share(launcher=""), share(ranks=17)):
        assert (nothing.divided, nothing.note) == (False, "")
        assert nothing.of(MACHINE.allowed) == MACHINE.allowed


@dataclass
class Program:
    """Threads that compute all the time, on the made-up machine."""

    threads: int
    now: int = 0
    masks: dict[int, frozenset[OsIndex]] = field(default_factory=dict)

    def advance(self, duration_ns: int) -> Interval:
        start, self.now = self.now, self.now + duration_ns
        samples = tuple(
            CounterSample(
                100 + n,
                start,
                self.now,
                {"task_clock_ns": duration_ns},
                duration_ns,
                duration_ns,
            )
            for n in range(self.threads)
        )
        begun = tuple(
            ThreadEvent("begin", n, 100 + n, 0) for n in range(self.threads) if start == 0
        )
        return Interval(start, self.now, samples, begun, ended=self.now >= 20 * S)

    def apply(self, actions: Sequence[Action]) -> Outcome:
        for action in actions:
            assert isinstance(action, BindThreads)
            self.masks |= {n: mask for n, mask in enumerate(action.placement.masks) if mask}
        return Outcome(self.threads, 0)


def placed(rank: int, threads: int, hint: Hint | None, policy: RulePolicy | None) -> LiveState:
    """End of a run of one of four ranks."""
    mine = share(rank=rank)
    live = LivePolicy(
        MACHINE,
        policy,
        lambda chosen, sample: Decision(chosen.default, None, float("inf"), None),
        lambda: mine.of(MACHINE.allowed),
        lambda count: AnswerOnRecord(hint) if hint else None,
        Settings(bind="core", divided=True),
    )
    program = Program(threads)
    start = live.begin(MACHINE, MACHINE.allowed, 0)
    state = run_loop(program, live, start, live.period_ns)
    used = frozenset().union(*program.masks.values())
    assert used <= frozenset(range(4 * rank, 4 * rank + 4))
    assert program.masks
    return state


ALWAYS_PACKED = RulePolicy((), {}, (), PACKED)


@pytest.mark.parametrize("hint", [PACKED, SPREAD])
def test_ranks_are_placed_by_the_hint_in_disjoint_shares(hint: Hint) -> None:
    for threads in (2, 4):
        ends = [placed(rank, threads, hint, ALWAYS_PACKED) for rank in range(4)]
        assert all(state.phase == "placed" for state in ends)
        seats = [cpu for state in ends for cpu in state.placed.seats]
        assert len(set(seats)) == len(seats) == 4 * threads


def test_a_rank_with_one_thread_keeps_to_its_share() -> None:
    for rank in range(4):
        state = placed(rank, 1, None, ALWAYS_PACKED)
        assert state.phase == "left alone"
        assert ONE_OF_A_RANK in state.notes


def test_a_rank_about_which_nothing_is_decided_keeps_to_its_share() -> None:
    for rank in range(4):
        assert placed(rank, 4, None, None).phase == "left alone"


def test_a_rank_with_more_threads_than_its_share_keeps_to_it() -> None:
    state = placed(1, 6, PACKED, ALWAYS_PACKED)
    assert state.phase == "left alone"
    assert "cannot place 6 threads on 4 available CPUs" in state.notes[-1]
