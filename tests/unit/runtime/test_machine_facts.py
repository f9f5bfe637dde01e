"""Facts of the machine at hand: measured here, else on record, else not known."""

import math
from pathlib import Path

import pytest

from autofinity.model.facts import Speeds
from autofinity.policy.shipped import speeds_line
from autofinity.runtime.machine_facts import MEASURED, facts_here, kind_here, name_here, speeds_here
from autofinity.sim.preset import load_preset
from autofinity.workflow.measure_speeds import keep_speeds

EPYC = load_preset("epyc-9654").topology


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """That of a user on a machine of two EPYC 9654."""
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text("processor\t: 0\nmodel name\t: AMD EPYC 9654 96-Core Processor\n")
    return {"AUTOFINITY_CPUINFO": str(cpuinfo), "XDG_CONFIG_HOME": str(tmp_path)}


def test_a_machine_on_record_is_known(environment: dict[str, str]) -> None:
    facts = facts_here(EPYC, environment)(8)
    assert facts["packed_lines_pkc"] == pytest.approx(1e3 * 58 / 2.4 / 64 / 8)


def test_the_kind_of_a_machine_is_the_name_of_its_preset(
    environment: dict[str, str], tmp_path: Path
) -> None:
    assert kind_here(EPYC, environment) == "epyc-9654"
    assert kind_here(load_preset("epyc-9654-nps1").topology, environment) == "epyc-9654-nps1"
    (tmp_path / "cpuinfo").write_text("model name\t: Some CPU\n")
    assert kind_here(EPYC, environment) == ""


def test_what_was_measured_comes_first(environment: dict[str, str]) -> None:
    speeds = Speeds(3.0, 40.0, 80.0, 20.0, 220.0)
    folder = Path(environment["XDG_CONFIG_HOME"]) / "autofinity"
    folder.mkdir()
    line = speeds_line(name_here(environment), speeds)
    (folder / MEASURED).write_text(f"# by hand\n{line}\n")
    assert speeds_here(EPYC, environment) == speeds


def test_nodes_of_several_kinds_that_share_a_home_have_speeds_of_their_own(
    environment: dict[str, str], tmp_path: Path
) -> None:
    cpus = tmp_path / "devices" / "system" / "cpu"
    cpus.mkdir(parents=True)
    there = {**environment, "AUTOFINITY_SYSFS": str(tmp_path)}
    (tmp_path / "autofinity").mkdir()
    path = tmp_path / "autofinity" / MEASURED
    slow, fast = Speeds(1.0, 4.0, 8.0, 2.0, 22.0), Speeds(3.0, 40.0, 80.0, 20.0, 220.0)
    (cpus / "present").write_text("0-31\n")
    keep_speeds(path, name_here(there), slow)
    (cpus / "present").write_text("0-191\n")
    assert speeds_here(EPYC, there).llc_path_gbs == 58.0  # on record, not measured there
    keep_speeds(path, name_here(there), fast)
    assert speeds_here(EPYC, there) == fast
    (cpus / "present").write_text("0-31\n")
    assert speeds_here(EPYC, there) == slow


@pytest.mark.parametrize("text", ["", "here 1 2\n", "there 1 2 3 4 5\n", "\0\n"])
def test_a_file_that_says_nothing_of_here_is_passed_over(
    environment: dict[str, str], text: str
) -> None:
    folder = Path(environment["XDG_CONFIG_HOME"]) / "autofinity"
    folder.mkdir()
    (folder / MEASURED).write_text(text)
    assert speeds_here(EPYC, environment).llc_path_gbs == 58.0


def test_of_an_unknown_machine_no_fact_is_known(
    environment: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "cpuinfo").write_text("model name\t: Some CPU\n")
    assert all(map(math.isnan, facts_here(EPYC, environment)(8).values()))
