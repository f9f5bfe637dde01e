"""Shipped policies by name, and by the machine that they were learned on."""

from __future__ import annotations

import math
import os
from dataclasses import astuple, replace
from pathlib import Path

import pytest
from made_up_machine import machine

from autofinity.model.errors import PolicyError, TopologyError
from autofinity.model.facts import Speeds
from autofinity.policy.shipped import (
    MACHINES,
    SPEEDS,
    KnownMachine,
    Shape,
    policy_names,
    policy_path,
    read_machines,
    read_speeds,
    shape_of,
    speeds_line,
    speeds_of_machine,
)
from autofinity.resources import shipped
from autofinity.sim.preset import cpu_models_of, load_preset, preset_names
from autofinity.sim.speeds import speeds_of


def test_machines_are_known_as_their_files_say() -> None:
    expected = {
        KnownMachine(name, shape_of(load_preset(name).topology), model)  # type: ignore[arg-type]
        for name in preset_names()
        for model in cpu_models_of(name)
    }
    assert set(read_machines(shipped("policies", MACHINES))) == expected
    assert len({(each.shape, each.cpu_model) for each in expected}) == len(expected)
    assert {"opteron-6164he", "epyc-9654", "xeon-8480"} < {each.name for each in expected}


def test_a_line_comes_back_as_it_was(tmp_path: Path) -> None:
    known = KnownMachine("m", Shape(4, 8, 2, 6), "AMD Opteron(tm) Processor 6164 HE")
    path = tmp_path / "machines.txt"
    lines = ("# name sockets nodes LLCs cores CPU", "", "x y", known.line(), "m 1 2 3 four CPU")
    path.write_text("\n".join(lines))
    assert tuple(read_machines(path)) == (known,)
    assert tuple(read_machines(tmp_path / "none")) == ()


def test_speeds_are_known_as_machine_files_say() -> None:
    known = dict(read_speeds(shipped("policies", SPEEDS)))
    assert set(known) == {name for name in preset_names() if cpu_models_of(name)}
    for name, speeds in known.items():
        expected = astuple(speeds_of(load_preset(name)))
        assert astuple(speeds) == pytest.approx(expected, rel=1e-5)


def test_speeds_come_back_as_they_were_and_other_lines_are_passed_over(tmp_path: Path) -> None:
    speeds = Speeds(2.5, math.inf, 94.5, 110.0, math.nan)
    path = tmp_path / "speeds.txt"
    path.write_text(
        "\n".join(("# name", "", "short 1 2", speeds_line("m", speeds), "bad a b c d e"))
    )
    ((name, read),) = read_speeds(path)
    assert name == "m" and repr(read) == repr(speeds)
    assert tuple(read_speeds(tmp_path / "none")) == ()


@pytest.mark.parametrize("speed", ["0", "-1", "-inf"])
def test_a_speed_that_cannot_be_is_none(tmp_path: Path, speed: str) -> None:
    path = tmp_path / "speeds.txt"
    path.write_text(f"m 2.5 {speed} 94.5 110 200\n")
    assert tuple(read_speeds(path)) == ()


def test_speeds_are_read_of_regular_files_of_any_bytes_and_nothing_is_waited_for(
    tmp_path: Path,
) -> None:
    path = tmp_path / "speeds.txt"
    path.write_bytes(b"\xff\xfe 1 2 3 4 5\nm 1 2 3 4 5\n")
    assert dict(read_speeds(path))["m"] == Speeds(1, 2, 3, 4, 5)
    os.mkfifo(tmp_path / "fifo")
    assert tuple(read_speeds(tmp_path / "fifo")) == tuple(read_speeds(tmp_path)) == ()
    with (tmp_path / "huge").open("wb") as huge:
        huge.truncate(1 << 34)
    assert tuple(read_speeds(tmp_path / "huge")) == ()


def test_a_machine_on_record_has_its_speeds_and_another_has_none() -> None:
    shape = shape_of(load_preset("epyc-9654").topology)
    assert speeds_of_machine("AMD EPYC 9654 96-Core Processor", shape).llc_path_gbs == 58.0
    for model, other in (("AMD EPYC 7742", shape), ("AMD EPYC 9654", None)):
        assert all(map(math.isnan, astuple(speeds_of_machine(model, other))))


@pytest.mark.parametrize(
    ("said", "fits"),
    [
        ("AMD EPYC 9654", True),
        ("AMD EPYC 9654 96-Core Processor", True),
        ("AMD EPYC 9654P 96-Core Processor", False),
        ("AMD EPYC", False),
        ("", False),
    ],
)
def test_a_cpu_is_known_by_the_beginning_of_its_name(said: str, fits: bool) -> None:
    shape = Shape(2, 8, 12, 8)
    known = KnownMachine("epyc-9654", shape, "AMD EPYC 9654")
    assert known.fits(said, shape) == fits
    assert not known.fits(said, shape._replace(nodes=2))


def test_a_machine_whose_parts_are_not_alike_has_no_shape() -> None:
    whole = machine(packages=2, llcs=2, cores=2, smt=2)
    assert shape_of(whole) == Shape(2, 2, 2, 2)
    assert shape_of(replace(whole, pus=tuple(pu for pu in whole.pus if pu.smt_rank == 0))) == (
        Shape(2, 2, 2, 2)  # hardware threads are not looked at
    )
    for gone in ({"core": 3}, {"llc": 3}):
        ((key, number),) = gone.items()
        left = tuple(pu for pu in whole.pus if getattr(pu, key) != number)
        assert shape_of(replace(whole, pus=left)) is None


def test_what_may_be_used_is_no_part_of_the_shape() -> None:
    whole = machine(packages=2, llcs=2, cores=2)
    one = frozenset({whole.pus[0].os_index})
    assert shape_of(replace(whole, allowed=one)) == shape_of(whole)


@pytest.mark.parametrize("name", policy_names())
def test_a_shipped_policy_is_found_by_its_name(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert policy_path(name) == shipped("policies", f"{name}.json").resolve()


def test_what_names_no_policy_is_refused_with_those_there_are() -> None:
    with pytest.raises(PolicyError, match=r"there is no policy 'nowhere'.*opteron-6164he"):
        policy_path("nowhere")


@pytest.mark.parametrize(
    "models", ['["Two  spaces"]', '[" before"]', '[""]', '"no list"', "[9654]"], ids=str
)
def test_a_wrong_cpu_model_is_an_error_that_names_the_key(models: str, tmp_path: Path) -> None:
    text = shipped("data", "machines", "tlb-simulated.toml").read_text()
    path = tmp_path / "mine.toml"
    path.write_text(text.replace("\nmodel = ", f"\ncpu_models = {models}\nmodel = ", 1))
    with pytest.raises(TopologyError, match="cpu_models"):
        load_preset(str(path))
