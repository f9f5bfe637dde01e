"""The observations store keeps whole runs, survives damage beside it, and names what is wrong."""

import errno
import math
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from observed import observation

from autofinity.model.affinity import UNPLACED, Affinity
from autofinity.model.counters import Behaviour
from autofinity.model.errors import StoreError
from autofinity.model.observation import Observation
from autofinity.store import observation_file
from autofinity.store.observation_table import ObservationTable
from autofinity.store.observations import ObservationStore, key_of, read, table_of, write_one


def run(
    program: str, affinity: str, seed: int = 1, rows: int = 3, **extra: float
) -> list[Observation]:
    return [
        observation(
            program=program,
            affinity=Affinity.parse(affinity),
            sample=i,
            progress=(i + 0.5) / rows,
            behaviour=Behaviour({"instructions": 1e9 + i, **extra}),
            performance=0.5 + i,
            roi_s=1.5,
            seed=seed,
        )
        for i in range(rows)
    ]


def test_what_was_written_is_read(tmp_path: Path) -> None:
    store = ObservationStore(tmp_path / "new" / "folder")
    rows = run("b", "{2}") + run("a", "{1}{1}")
    store.write(rows)
    assert list(store.read().observations()) == sorted(
        rows, key=lambda row: (*key_of(row), row.sample)
    )


def test_done_names_the_complete_runs(tmp_path: Path) -> None:
    store = ObservationStore(tmp_path)
    assert store.done() == frozenset()
    store.write(run("a", "{2}") + run("a", "{1}{1}", seed=7))
    assert store.done() == {
        ("a", "small", 2, "affinity", "{2}", 1),
        ("a", "small", 2, "affinity", "{1}{1}", 7),
    }


def test_writing_a_run_again_replaces_it(tmp_path: Path) -> None:
    store = ObservationStore(tmp_path)
    store.write(run("a", "{2}"))
    store.write(run("b", "{2}"))
    store.write(run("a", "{2}", rows=5))
    assert [len(store.read().of_program(name)) for name in "ab"] == [5, 3]


def test_runs_of_a_workload_that_changed_are_forgotten_and_others_kept(tmp_path: Path) -> None:
    store = ObservationStore(tmp_path)
    a, b = ("a", "small", 2), ("b", "small", 2)
    store.expect({a: "trace 1", b: "trace 1"})
    store.write(run("a", "{2}") + run("b", "{2}"))
    store.expect({a: "trace 1", b: "trace 1"})
    assert {key[0] for key in store.done()} == {"a", "b"}
    store.expect({a: "trace 2"})
    assert {key[0] for key in store.done()} == {"b"}
    (tmp_path / "origins.json").write_text("damaged")
    store.expect({b: "trace 1"})  # what runs are made of is not known any more
    assert store.done() == frozenset()


def test_the_digest_depends_on_every_value_and_not_on_the_order_of_writing(tmp_path: Path) -> None:
    one, other = ObservationStore(tmp_path / "one"), ObservationStore(tmp_path / "other")
    runs = [run("a", "{2}"), run("b", "{2}"), run("a", "{1}{1}")]
    for rows in runs:
        one.write(rows)
    for rows in reversed(runs):
        other.write(rows[::-1])
    assert one.read().digest() == other.read().digest()
    assert table_of([row for rows in runs for row in rows]).digest() == one.read().digest()
    other.write(run("b", "{2}", cache_misses=1.0))
    assert one.read().digest() != other.read().digest()


def test_a_counter_a_run_did_not_measure_is_nan_there(tmp_path: Path) -> None:
    store = ObservationStore(tmp_path)
    store.write(run("a", "{2}"))
    store.write(run("b", "{2}", cache_misses=3.0))
    values = store.read().counters["cache_misses"]
    assert [math.isnan(v) for v in values] == [True] * 3 + [False] * 3


def test_one_file_of_a_store_can_be_read_alone(tmp_path: Path) -> None:
    store = ObservationStore(tmp_path)
    store.write(run("a", "{2}"))
    store.write(run("b", "{2}"))
    assert {read(path).programs() for path in tmp_path.iterdir()} == {("a",), ("b",)}


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100])


def flip_header(path: Path) -> None:
    path.write_bytes(b"not a parquet file")


def foreign(path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"x": [1]}), path)


def wipe_data(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[4 : len(data) // 4] = b"\xff" * (len(data) // 4 - 4)
    path.write_bytes(bytes(data))


@pytest.mark.parametrize("damage", [cut, flip_header, foreign, wipe_data])
def test_a_damaged_or_foreign_file_is_named(tmp_path: Path, damage: Callable[[Path], None]) -> None:
    store = ObservationStore(tmp_path)
    store.write(run("a", "{2}"))
    store.write(run("b", "{2}"))
    victim = sorted(tmp_path.iterdir())[0]
    damage(victim)
    with pytest.raises(StoreError, match=victim.name):
        store.read()


def test_no_flipped_bit_anywhere_in_a_file_is_read(tmp_path: Path) -> None:
    store = ObservationStore(tmp_path)
    store.write(run("a", "{2}"))
    [file] = tmp_path.glob("*.parquet")
    sound = file.read_bytes()
    seal = sound.rindex(b"sha256:")
    for position in {*range(0, len(sound), 29), *range(seal, seal + 71), len(sound) - 1}:
        flipped = bytearray(sound)
        flipped[position] ^= 1 << position % 8
        file.write_bytes(flipped)
        for ask in (store.read, store.done):
            with pytest.raises(StoreError, match=file.name):
                ask()
    file.write_bytes(sound)
    assert store.done() == {("a", "small", 2, "affinity", "{2}", 1)}


@pytest.mark.parametrize("program", ["sha256:" + "0" * 64, "a\nb", "é", "autofinity-seal"])
def test_no_name_can_be_taken_for_the_seal(tmp_path: Path, program: str) -> None:
    rows = run(program, "{2}")
    write_one(table_of(rows), tmp_path / "one.parquet")
    assert list(read(tmp_path / "one.parquet").observations()) == rows


def test_packing_rounds_rates_and_progress_a_little_and_nothing_else(tmp_path: Path) -> None:
    rows = [
        row
        for seed in range(40)
        for row in run("a", "{2}", seed=seed, rows=9, ratio=1 / (seed + 3), never=0.0)
    ]
    table = table_of(rows)
    write_one(table, tmp_path / "plain.parquet")
    write_one(table, tmp_path / "packed.parquet", packed=True)
    packed = read(tmp_path / "packed.parquet")
    for name, values in table.counters.items():
        assert np.allclose(packed.counters[name], values, rtol=0.0005, atol=0), name
        assert (packed.counters[name] == values).all() == (name == "never"), name
    assert np.allclose(packed.performance, table.performance, rtol=0.0005, atol=0)
    assert np.allclose(packed.progress, table.progress, rtol=0, atol=0.00001)
    assert (packed.progress != table.progress).any()
    as_it_was = {name: getattr(table, name) for name in ("counters", "performance", "progress")}
    assert replace(packed, **as_it_was).digest() == table.digest()
    sizes = [(tmp_path / f"{name}.parquet").stat().st_size for name in ("packed", "plain")]
    assert sizes[0] < sizes[1]
    write_one(packed, tmp_path / "again.parquet", packed=True)
    assert read(tmp_path / "again.parquet").digest() == packed.digest()


def test_a_newer_version_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = ObservationStore(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr("autofinity.store.observation_file.FORMAT_VERSION", 4)
        store.write(run("a", "{2}"))
    with pytest.raises(StoreError, match="version 4"):
        store.done()


def test_a_run_in_two_files_of_a_folder_is_refused(tmp_path: Path) -> None:
    for name, roi_s in (("before", 1.0), ("after", 4.0)):
        write_one(table_of([observation(roi_s=roi_s)]), tmp_path / f"{name}.parquet")
    with pytest.raises(StoreError, match=r"after.parquet and .*before.parquet both have the run p"):
        read(tmp_path)
    write_one(table_of([observation(machine="other")]), tmp_path / "after.parquet")
    assert len(read(tmp_path)) == 2


def test_nothing_to_read_says_what_was_expected(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="autofinity profile"):
        read(tmp_path / "absent")


def test_a_full_disk_keeps_what_was_written_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = ObservationStore(tmp_path)
    store.write(run("a", "{2}"))
    before = store.read().digest()

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(StoreError, match=r"No space left.*kept"):
            store.write(run("b", "{2}"))
    assert store.read().digest() == before
    assert len(list(tmp_path.iterdir())) == 1, "no temporary file stays behind"


def test_a_folder_that_cannot_be_made_is_a_store_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreError, match="cannot write observations"):
        ObservationStore(tmp_path / "file" / "store").write(run("a", "{2}"))


def test_columns_select_programs_and_workloads(tmp_path: Path) -> None:
    table = table_of(run("a", "{2}") + run("b", "{2}") + run("b", "{1}{1}"))
    assert table.programs() == ("a", "b")
    assert table.workload().tolist() == [0] * 3 + [1] * 6
    assert table.without_program("a").programs() == ("b",)
    assert len(table.without_program("absent")) == 9


def test_a_table_written_to_one_file_reads_back_the_same(tmp_path: Path) -> None:
    table = table_of(run("a", "{2}") + run("b", "{1}{1}", cache_misses=3.0))
    part = table.without_program("absent").of_program("b")
    for name, written in (("all", table), ("part", part)):
        write_one(written, tmp_path / f"{name}.parquet")
        assert read(tmp_path / f"{name}.parquet").digest() == written.digest()


def test_energy_is_kept_and_older_stores_without_it_are_read(tmp_path: Path) -> None:
    known = [replace(row, energy_j=2.5) for row in run("a", "{2}", rows=1)]
    unknown = run("b", "{2}", rows=1)
    table = table_of(known + unknown)
    assert [row.energy_j for row in table.observations()] == [2.5, None]
    older = table.to_arrow().drop_columns(["energy_j"])
    assert [row.energy_j for row in ObservationTable.from_arrow(older).observations()] == [
        None,
        None,
    ]
    assert table.digest() != ObservationTable.from_arrow(older).digest()


def test_a_file_from_before_placements_says_that_affinities_placed_its_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = run("a", "{2}")
    arrow = table_of(rows).to_arrow().drop_columns(["placement"])
    monkeypatch.setattr(observation_file, "FORMAT_VERSION", 2)
    observation_file.write_file(tmp_path / "old.parquet", arrow, [("a", "small", 2, "{2}", 1)])
    monkeypatch.undo()
    store = ObservationStore(tmp_path)
    assert store.done() == {("a", "small", 2, "affinity", "{2}", 1)}
    store.write([replace(row, placement="os", affinity=UNPLACED) for row in run("a", "{2}")])
    table = store.read()
    assert [row.placement for row in table.observations()] == ["affinity"] * 3 + ["os"] * 3
    assert table.placed_by("affinity").digest() == table_of(rows).digest()
