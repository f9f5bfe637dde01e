"""`autofinity figure` for the mapping papers, as people and programs call it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from commands import autofinity

QUICK = ("--threads", "4", "--size", "tiny", "--repeats", "1", "--program", "prodcons")


def figure(name: str, work: Path, *more: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    return autofinity("figure", name, *QUICK, "--work", str(work), *more, code=code)


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("work")


def test_a_figure_of_times_has_the_papers_beside_ours(work: Path, tmp_path: Path) -> None:
    said = json.loads(figure("kmaf16-4", work, "--json").stdout)
    assert said["source"] == "Diener et al., TPDS 2016, section 6.1, figure 4"
    assert said["series"].keys() == {"compact", "kmaf16", "oracle-trace"}
    for series in said["series"].values():
        assert series["prodcons"] == pytest.approx(series["mean"])
        assert 0.8 < series["the paper's mean"] < 1
    shown = figure("kmaf16-4", work).stdout
    assert "time on the Itanium, altix-450, 4 threads, inputs: tiny" in shown
    assert "the paper's mean" in shown
    picture = tmp_path / "figure.svg"
    figure("kmaf16-4", work, "-o", str(picture))
    assert "<svg" in picture.read_text()


def test_matrices_are_shown_and_drawn(work: Path, tmp_path: Path) -> None:
    said = json.loads(figure("kmaf14-4", work, "--json").stdout)
    (matrix,) = said["matrices"].values()
    assert len(matrix) == 4
    assert matrix[0][1] == matrix[1][0] > 0
    assert "█" in figure("sammu-2", work).stdout
    picture = tmp_path / "matrices.png"
    figure("tlb-10", work, "-o", str(picture))
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_kmaf16_figure_9a_a_fifth_more_faults_show_that_neighbours_share(work: Path) -> None:
    words = ("figure", "kmaf16-9a-matrices", "--threads", "16", "--work", str(work), "--json")
    matrices = json.loads(autofinity(*words).stdout)["matrices"]
    assert list(matrices) == [f"stencil, {n} % more faults" for n in (0, 10, 20)]
    none, *_, more = matrices.values()
    assert sum(map(sum, none)) < sum(map(sum, more))
    assert sum(2 * more[i][i + 1] for i in range(15)) > 0.8 * sum(map(sum, more))


def test_exclusivity_falls_with_the_size_of_pages(work: Path) -> None:
    (small, large) = json.loads(figure("kmaf14-1", work, "--json").stdout)["series"].values()
    assert small["prodcons"] >= large["prodcons"] > 0
    assert (small["the paper's mean"], large["the paper's mean"]) == (83.6, 78.3)


def test_large_pages_and_operations_are_figures_of_runs(work: Path) -> None:
    said = json.loads(figure("kmaf16-10", work, "--json").stdout)
    ours = said["series"]["ours"]
    assert ours["os 4K"] == 1
    assert ours.keys() == {"os 4K", "os 2M", "kmaf16 4K", "kmaf16 2M"}
    said = json.loads(figure("kmaf16-t5", work, "--json").stdout)
    assert said["series"]["ours"]["fault"] > 0
    said = json.loads(figure("kmaf16-t5-events", work, "--json").stdout)
    assert said["series"]["ours"]["mappings a 1,000 extra faults"] > 0


def test_a_figure_is_of_another_suite_with_as_many_faults_as_asked_for(work: Path) -> None:
    of = ("--suite", "solvers/suite.toml", "--program", "ssor", "--threads", "4")
    few, many = (
        json.loads(
            autofinity(
                *("figure", "kmaf16-t5", *of, "--size", "tiny", "--repeats", "2"),
                *("--faults-per-page", faults, "--work", str(work), "--json"),
            ).stdout
        )["series"]["ours"]["fault"]
        for faults in ("1", "40")
    )
    assert 0 < 2 * few < many


def test_kmaf16_figure_8_is_of_the_pairs_of_the_programs_named(work: Path) -> None:
    of = ("--suite", "solvers/suite.toml", "--program", "ssor,amr", "--threads", "2")
    words = ("figure", "kmaf16-8", *of, "--size", "tiny", "--work", str(work), "--json")
    series = json.loads(autofinity(*words).stdout)["series"]
    ways = ("one after the other", "at once")
    assert list(series["kmaf16"]) == [
        f"{pair} {way}" for pair in ("ssor+ssor", "ssor+amr") for way in ways
    ]


def test_a_figure_with_an_input_of_its_own_takes_no_other(work: Path) -> None:
    refused = figure("tlb-3", work, code=2).stderr
    assert "figure tlb-3 is of prodcons with a fixed input, 256 4 131072" in refused


def test_a_figure_that_is_none_of_mechanisms_has_no_json(work: Path) -> None:
    assert "figure 2a has no JSON form" in figure("2a", work, "--json", code=2).stderr
