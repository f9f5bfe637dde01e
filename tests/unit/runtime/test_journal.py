"""The monitor's journal: rows as they happen, in order, in spite of a database that is locked."""

from __future__ import annotations

import math
import sqlite3
import tracemalloc
from dataclasses import replace
from pathlib import Path

import pytest
from live_states import placed_as, sampled_as
from made_up_machine import machine

from autofinity.linux.thread_masks import MaskChange
from autofinity.model.affinity import PACKED, SPREAD, Affinity
from autofinity.model.answer_on_record import AnswerOnRecord
from autofinity.model.counters import Behaviour, CounterSample
from autofinity.model.errors import StoreError
from autofinity.model.policy import Decision
from autofinity.model.topology import OsIndex
from autofinity.ports import Interval, Outcome, ThreadEvent
from autofinity.runtime.creation_seats import NO_SEATS
from autofinity.runtime.decisions import ANY, read_decisions
from autofinity.runtime.journal import Journal
from autofinity.runtime.live_state import LiveState
from autofinity.runtime.machine_text import machine_text, place_text
from autofinity.runtime.masks import Binding
from autofinity.runtime.placed import Placed
from autofinity.runtime.row_queue import Row, RowQueue
from autofinity.runtime.run_header import RunHeader
from autofinity.runtime.samples import Samples
from autofinity.runtime.workers import Workers
from autofinity.store.behaviour_db import BehaviourDB

KEY, DIGEST = "k" * 64, "d" * 64
TURN = Interval(0, 1, ())
MACHINE = machine(packages=2, llcs=2, cores=4)


def header(bind: Binding = "llc", threads: int = 0) -> RunHeader:
    return RunHeader(KEY, "/bin/app", 42, "software events", threads, DIGEST, bind, "0-15")


def decided() -> tuple[LiveState, LiveState]:
    """A state before its sample was taken, and after the policy has spoken."""
    settling = LiveState(phase="sampling", placed=Placed((1, 2), hint=SPREAD))
    placed = replace(
        settling,
        phase="placed",
        placed=Placed((1, 2), hint=PACKED, cpus=frozenset(map(OsIndex, range(4)))),
        samples=Samples(Behaviour({"ipc": 1.5})),
        notes=("a note",),
    )
    return settling, placed


def test_a_decision_becomes_a_row_a_run_and_a_line_of_the_cache(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "db", header())
    journal.saw(*decided(), TURN, Outcome(2, 1, ("1 × pinned",)))
    journal.end({"cycles": 9})
    with BehaviourDB.open(tmp_path / "db") as database:
        (known,) = database.programs()
        (run,) = database.runs()
    assert (known.threads, known.hint, known.policy) == (2, PACKED, DIGEST)
    assert known.sample == {"ipc": 1.5}
    assert (run.bound, run.threads, run.hint) == (2, 2, PACKED)
    assert run.notes == "a note\nnot bound: 1 × pinned"
    assert run.totals == {"cycles": 9}
    (line,) = read_decisions(tmp_path / "decisions")
    assert (line.program, line.threads, line.mask, line.allowed) == (KEY, 2, "0-3", "0-15")


def seated() -> tuple[LiveState, LiveState]:
    """The same with three threads, which have a seat each."""
    before, after = decided()
    seats = {"seated": (1, 2, 3), "seats": tuple(map(OsIndex, (1, 0, 2)))}
    available = {"available": MACHINE.allowed, "allowed": MACHINE.allowed}
    before, after = (placed_as(state, threads=(1, 2, 3)) for state in (before, after))
    return before, placed_as(after, **seats, **available)


def test_the_cache_has_seats_of_the_program_and_of_unknown_programs(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "db", header(), MACHINE)
    journal.saw(*seated(), TURN, None)
    journal.end({})
    own, unknown = read_decisions(tmp_path / "decisions")
    assert (own.program, own.hint, own.seats) == (KEY, PACKED, "4*0-3")
    assert (unknown.program, unknown.policy, unknown.hint) == (ANY, ANY, SPREAD)
    assert (unknown.threads, unknown.mask) == (3, "0-11")
    assert unknown.seats == "1*0-3;1*4-7;1*8-11"


def test_a_program_with_pins_of_its_own_has_no_seats(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "db", header(), MACHINE)
    journal.saw(*seated(), TURN, Outcome(2, 1, ("1 × pinned by the program or by others",)))
    journal.end({})
    (own,) = read_decisions(tmp_path / "decisions")
    assert (own.program, own.seats) == (KEY, NO_SEATS)


@pytest.mark.parametrize(
    ("bind", "promised", "sampled"), [("core", 3, True), ("llc", 2, True), ("llc", 3, False)]
)
def test_unknown_programs_get_no_seats_of_another_number_of_threads_or_of_single_cpus(
    tmp_path: Path, bind: Binding, promised: int, sampled: bool
) -> None:
    """Nor where the program was not sampled: whether that is possible here is not known."""
    before, after = seated()
    if not sampled:
        after = replace(after, samples=Samples())
    journal = Journal(tmp_path / "db", header(bind, promised), MACHINE)
    journal.saw(before, after, TURN, None)
    journal.end({})
    assert [line.program for line in read_decisions(tmp_path / "decisions")] == [KEY]


def test_two_threads_give_unknown_programs_no_seats(tmp_path: Path) -> None:
    """The second of two may go on to make all others, as in Java."""
    before, after = decided()
    after = placed_as(after, allowed=MACHINE.allowed, available=MACHINE.allowed)
    journal = Journal(tmp_path / "db", header(), MACHINE)
    journal.saw(before, after, TURN, None)
    journal.end({})
    assert [line.program for line in read_decisions(tmp_path / "decisions")] == [KEY]


def test_looks_on_record_have_reads_by_node_where_the_topology_is_known(tmp_path: Path) -> None:
    counts = {"dram_reads_local": 5, "dram_reads_remote": 2}
    watching = LiveState(workers=Workers(alive=((0, 77),)))
    for name, topology in (("with", machine(packages=2, cores=2)), ("without", None)):
        journal = Journal(tmp_path / name, header(), topology)
        for start in (0, 1):
            sample = CounterSample(77, start, start + 1, counts, 1, 1)
            turn = Interval(start, start + 1, (sample,), cpus=(OsIndex(3 - start),))
            journal.saw(watching, watching, turn, None)
        journal.end({})
        with BehaviourDB.open(tmp_path / name) as database:
            (run,) = database.runs()
            *_, last = database.looks.of_run(run.id)
        by_node = {"dram_reads_node_1": 5.0, "dram_reads_node_0": 2.0}
        assert last.counts[0] == {**counts, **(by_node if topology is not None else {})}


def test_the_first_look_after_a_move_is_on_record_while_the_program_runs(tmp_path: Path) -> None:
    before, after = decided()
    after = placed_as(after, affinity=Affinity.parse("{2}"))
    journal = Journal(tmp_path / "db", header())
    places = []
    for at, states in enumerate(((before, after), (after, after), (after, after), (after, after))):
        journal.saw(*states, Interval(at, at + 1, ()), None)
        with BehaviourDB.open(tmp_path / "db", read_only=True) as database:
            (run,) = database.runs()
            places.append([look.place for look in database.looks.of_run(run.id)])
    assert run.phase == "placed"
    assert places == [[""], ["", "{2}"], ["", "{2}", "{2}"], ["", "{2}", "{2}"]]
    journal.end({})


def test_who_reads_of_a_phase_reads_what_led_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever looks between any two rows of a turn: a program that waits to be placed does."""
    placed = set()
    flush = RowQueue.flush

    def look(rows: RowQueue) -> None:
        flush(rows)
        with BehaviourDB.open(tmp_path / "db", read_only=True) as database:
            (run,) = database.runs()
            known = tuple(program.hint for program in database.programs())
        if run.phase == "placed":
            placed.add((run.hint, run.bound, run.notes, known))

    monkeypatch.setattr(RowQueue, "flush", look)
    journal = Journal(tmp_path / "db", header())
    journal.saw(*decided(), TURN, Outcome(1, 1, ("1 × pinned",)))
    assert placed == {(PACKED, 1, "a note\nnot bound: 1 × pinned", (PACKED,))}


def observed(path: Path, before: LiveState, after: LiveState, first: Outcome | None) -> list[str]:
    """Affinities of the rows to learn from, when the first placement came out as `first`."""
    journal = Journal(path, header())
    journal.saw(LiveState(), before, TURN, first)
    journal.saw(before, after, TURN, Outcome(2, 0))
    journal.saw(after, sampled_as(after, outcome=Behaviour({"ipc": 2.0})), TURN, None)
    journal.end({})
    with BehaviourDB.open(path) as database:
        return [str(row.affinity) for row in database.observations()]


def test_both_samples_of_a_run_are_kept_to_learn_from(tmp_path: Path) -> None:
    before, after = decided()
    spread, packed = Affinity.parse("{1}{1}"), Affinity.parse("{2}")
    before = placed_as(before, affinity=spread)
    after = sampled_as(placed_as(after, affinity=packed), start_in=spread)
    assert observed(tmp_path / "a", before, after, Outcome(2, 0)) == ["{1}{1}", "{2}"]
    # Some thread was not where the first affinity says: that sample shows nothing.
    assert observed(tmp_path / "b", before, after, Outcome(1, 1, ("pinned",))) == ["{2}"]
    # Nothing was bound at all.
    unbound = sampled_as(placed_as(after, affinity=None), start_in=None)
    assert observed(tmp_path / "c", before, unbound, Outcome(2, 0)) == []
    # The sample is of another number of threads than the one on record.
    three = Affinity.parse("{2}{1}")
    other = sampled_as(placed_as(after, affinity=three), start_in=three)
    assert observed(tmp_path / "d", before, other, Outcome(2, 0)) == []


def test_a_promised_thread_count_is_the_one_on_record(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "db", header(threads=8))
    journal.saw(*decided(), TURN, None)
    journal.end({})
    assert read_decisions(tmp_path / "decisions")[0].threads == 8


def test_without_binding_no_later_start_is_bound_either(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "db", header(bind="none"))
    journal.saw(*decided(), TURN, None)
    journal.end({})
    assert not (tmp_path / "decisions").exists()


@pytest.mark.parametrize("sampled", [False, True], ids=["no sample", "of other threads"])
def test_rows_that_follow_an_answer_without_a_sample_of_these_threads_are_written(
    tmp_path: Path, sampled: bool
) -> None:
    before, after = decided()
    if sampled:
        before = replace(placed_as(before, threads=(1, 2, 3)), samples=after.samples)
    else:
        decision = Decision(PACKED, None, math.inf, None)
        after = replace(after, samples=Samples(), decision=decision)
    journal = Journal(tmp_path / "db", header())
    journal.saw(LiveState(), before, TURN, None)
    journal.saw(before, after, TURN, Outcome(2, 0))
    journal.note("another note")
    journal.end({"cycles": 9})
    with BehaviourDB.open(tmp_path / "db") as database:
        (run,) = database.runs()
    assert (run.phase, run.notes, run.cpus) == ("ended", "a note\nanother note", "0-3")
    assert run.totals == {"cycles": 9}
    assert read_decisions(tmp_path / "decisions")[0].hint == PACKED
    assert not (tmp_path / "monitor.log").exists()


def test_a_row_that_the_database_never_takes_does_not_keep_the_later_ones(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "db", header())
    settling, placed = decided()
    too_long = "x" * (2 << 20)  # longer than a value may be
    placed = replace(placed, samples=Samples(Behaviour({too_long: 1.5})))
    journal.saw(settling, placed, TURN, Outcome(2, 0, ()))
    journal.end({"cycles": 9})
    with BehaviourDB.open(tmp_path / "db") as database:
        (run,) = database.runs()
    assert (run.bound, run.phase, run.totals) == (2, "ended", {"cycles": 9})
    (line,) = (tmp_path / "monitor.log").read_text().splitlines()
    assert "1 rows lost: the behaviour database" in line and "refuses a row: " in line


def test_without_the_row_of_its_run_a_journal_keeps_nothing_and_says_why(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "db", replace(header(), path="/" + "x" * (2 << 20)))
    journal.saw(*decided(), TURN, Outcome(2, 0, ()))
    journal.end({"cycles": 9})
    with BehaviourDB.open(tmp_path / "db") as database:
        assert database.runs() == ()
    assert "refuses a row: " in (tmp_path / "monitor.log").read_text()


def test_any_number_of_long_notes_is_kept_in_part_the_first_and_the_last(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "db", header())
    for number in range(500):
        journal.note(f"note {number} " + "↯" * 3000)
    journal.end({"cycles": 9})
    with BehaviourDB.open(tmp_path / "db") as database:
        (run,) = database.runs()
    kept = run.notes.splitlines()
    assert kept[0].startswith("note 0 ↯") and kept[-1].startswith("note 499 ↯")
    assert len(kept) == 200 and kept[100] == "notes are left out here: there were too many"
    assert run.phase == "ended" and not (tmp_path / "monitor.log").exists()


def test_rows_wait_for_a_lock_and_are_written_in_order(tmp_path: Path) -> None:
    BehaviourDB.open(tmp_path / "db").close()
    holder = sqlite3.connect(tmp_path / "db", isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    journal = Journal(tmp_path / "db", header())
    journal.saw(*decided(), TURN, Outcome(2, 0))
    with BehaviourDB.open(tmp_path / "db", read_only=True) as database:
        assert database.runs() == ()
    holder.execute("COMMIT")
    holder.close()
    journal.end({})
    with BehaviourDB.open(tmp_path / "db") as database:
        assert database.programs()[0].hint == PACKED
        assert database.runs()[0].ended is not None
    assert not (tmp_path / "monitor.log").exists()


def test_what_could_never_be_written_is_logged(tmp_path: Path) -> None:
    (tmp_path / "db").write_bytes(b"garbage " * 100)
    journal = Journal(tmp_path / "db", header())
    journal.saw(*decided(), TURN, None)
    assert journal.answer_on_record(2) is None
    journal.end({})
    log = (tmp_path / "monitor.log").read_text()
    assert "/bin/app (42)" in log
    assert "rows lost" in log
    assert (tmp_path / "db").read_bytes() == b"garbage " * 100


def test_one_row_of_looks_and_one_of_notes_wait_with_all_that_came_since(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[object] = []

    def full(database: BehaviourDB, run: int, **changes: object) -> None:
        tried.append(changes)
        raise StoreError("the disk is full")

    journal = Journal(tmp_path / "db", header())
    with monkeypatch.context() as patch:
        patch.setattr(BehaviourDB, "update_run", full)
        for number in range(300):
            journal.note(f"note {number}")
            journal.saw(LiveState(), LiveState(), Interval(number, number + 1, ()), None)
    assert tried
    journal.end({})
    with BehaviourDB.open(tmp_path / "db") as database:
        (run,) = database.runs()
        assert database.looks.of_run(run.id)[-1].end_ns == 300
    assert run.notes.splitlines()[-1] == "note 299"
    assert not (tmp_path / "monitor.log").exists()


def test_where_too_many_rows_wait_the_oldest_but_the_first_are_lost_and_logged(
    tmp_path: Path,
) -> None:
    is_full = True
    written: list[int] = []

    def row(number: int) -> Row:
        def write(_: BehaviourDB) -> None:
            if is_full:
                raise StoreError("the disk is full")
            written.append(number)

        return write

    rows = RowQueue(tmp_path / "db", "app")
    for number in range(1000):
        rows.write(row(number))
    is_full = False
    rows.close()
    assert written == [0, *range(1000 - len(written) + 1, 1000)]
    assert 100 < len(written) < 500
    (line,) = (tmp_path / "monitor.log").read_text().splitlines()
    assert line.endswith(f" app: {1000 - len(written)} rows lost: the disk is full")


def test_without_a_database_nothing_is_kept_and_nothing_fails(tmp_path: Path) -> None:
    journal = Journal(None, header())
    journal.saw(*decided(), TURN, None)
    assert journal.answer_on_record(2) is None
    journal.end({})
    assert list(tmp_path.iterdir()) == []


def test_the_answer_on_record_is_that_of_this_policy(tmp_path: Path) -> None:
    first = Journal(tmp_path / "db", header())
    first.saw(*decided(), TURN, None)
    first.end({})
    assert Journal(tmp_path / "db", header()).answer_on_record(2) == AnswerOnRecord(PACKED)
    other = replace(header(), policy="e" * 64)
    assert Journal(tmp_path / "db", other).answer_on_record(2) is None
    assert Journal(tmp_path / "db", replace(header(), policy="")).answer_on_record(2) is None


def test_an_answer_from_a_part_of_a_node_is_none_for_a_whole_one(tmp_path: Path) -> None:
    """A batch job on the four CPUs of one cache, then one on all: hints differ only there."""
    part = place_text(MACHINE, frozenset(map(OsIndex, range(4))))
    whole = place_text(MACHINE, MACHINE.allowed)
    first = Journal(tmp_path / "db", replace(header(), place=part))
    first.saw(*decided(), TURN, None)
    first.end({})
    for place, known in ((whole, None), (part, AnswerOnRecord(PACKED))):
        journal = Journal(tmp_path / "db", replace(header(), place=place))
        assert journal.answer_on_record(2) == known
        journal.end({})


def test_parts_of_one_size_are_one_place_and_other_machines_are_not() -> None:
    low, high = (frozenset(map(OsIndex, cpus)) for cpus in ((0, 1, 2, 3), (8, 9, 10, 11)))
    assert place_text(MACHINE, low) == place_text(MACHINE, high)
    assert place_text(MACHINE, low) == "sockets:1 llcs:1 cores:4 pus:4 nodes:1 unknown CPU"
    assert place_text(MACHINE, low | high) != place_text(MACHINE, low)
    assert place_text(replace(MACHINE, model="another"), low) != place_text(MACHINE, low)
    assert place_text(MACHINE, ()) == machine_text(MACHINE)


def test_masks_of_threads_that_come_and_go_do_not_fill_the_database(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "db", header())
    state = LiveState()
    everywhere, packed, spread = (frozenset(map(OsIndex, cpus)) for cpus in ((0, 1), (0,), (1,)))

    def begins(tid: int, given: frozenset[OsIndex]) -> None:
        journal.keep_masks([MaskChange(tid, 7, everywhere, given)])

    def ends(tid: int) -> None:
        event = ThreadEvent("end", 1, tid, 0)
        journal.saw(state, state, Interval(0, 1, (), (event,)), None)

    begins(1, everywhere)
    begins(2, spread)
    ends(2)  # a thread that it made may have its mask
    for tid in range(1000, 3000):
        begins(tid, packed)
        ends(tid)
    for tid in (2998, 2999):  # their numbers are used again
        begins(tid, packed)
    for tid in range(3000, 3300):
        begins(tid, packed)
        ends(tid)
    with BehaviourDB.open(tmp_path / "db") as database:
        (run,) = database.runs()
        rows = database.masks.of_run(run.id)
    assert len(rows) < 600
    assert {1, 2, 2998, 2999} <= {row.tid for row in rows}
    assert {row.given for row in rows} == {"0-1", "0", "1"}
    journal.leave()


def test_without_a_database_masks_of_threads_that_come_and_go_fill_no_memory() -> None:
    journal = Journal(None, header())
    everywhere, packed = (frozenset(map(OsIndex, cpus)) for cpus in ((0, 1), (0,)))

    def bind(tids: range) -> None:
        for tid in tids:
            journal.keep_masks([MaskChange(tid, 7, everywhere, packed)])

    bind(range(100))
    tracemalloc.start()
    bind(range(100, 5100))
    grown_bytes, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert grown_bytes < 20_000


def test_pages_are_no_threads_that_were_bound_or_refused(tmp_path: Path) -> None:
    """A mechanism binds and moves in one turn, and some pages are always gone or busy."""
    journal = Journal(tmp_path / "db", header(), MACHINE)
    before, after = seated()
    gone, busy = ("7 × ENOENT",), ("9 × EBUSY",)
    moved = Outcome(2 + 40, 7, pages_done=40, pages_skipped=7, pages_reasons=gone)
    journal.saw(before, after, TURN, moved)
    journal.saw(after, after, TURN, Outcome(0, 9, pages_skipped=9, pages_reasons=busy))
    journal.end({})
    with BehaviourDB.open(tmp_path / "db") as database:
        (run,) = database.runs()
    assert run.bound == 2
    assert "not bound" not in run.notes
    assert read_decisions(tmp_path / "decisions")[0].seats == "4*0-3"


def test_pages_that_move_later_do_not_make_refused_masks_good(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "db", header(), MACHINE)
    before, after = seated()
    journal.saw(before, after, TURN, Outcome(2, 1, ("1 × pinned by the program or by others",)))
    journal.saw(after, after, TURN, Outcome(40, 0, (), pages_done=40))
    journal.end({})
    assert read_decisions(tmp_path / "decisions")[0].seats == NO_SEATS
