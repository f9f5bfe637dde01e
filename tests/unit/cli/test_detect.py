"""`autofinity detect`, and the heat map it draws."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner
from sim_programs import BASE, LINES_PER_PAGE

from autofinity._core.trace import TraceBuilder
from autofinity.cli.detect import command as detect
from autofinity.detect.scaled import SCALED
from autofinity.mapping.matrix_file import read_matrix
from autofinity.model.errors import UsageError
from autofinity.model.sharing import SharingMatrix
from autofinity.model.sharing_metrics import heterogeneity, normalised
from autofinity.report.heat_map import heat_lines, heat_svg

PAGES = 40


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Threads 0 and 1, and 2 and 3, take turns at a line of each of their pair's pages."""
    folder = tmp_path_factory.mktemp("trace") / "two-pairs"
    folder.mkdir()
    builder = TraceBuilder()
    streams = [builder.stream() for _ in range(4)]
    builder.roi_begin(streams[0])
    for turn in range(60):
        for thread in streams:
            for page in range(PAGES):
                line = BASE + ((thread // 2) * PAGES + page) * LINES_PER_PAGE + turn % 8
                builder.access(thread, line, 1, 1, gap=50)
    for thread in streams:
        builder.barrier(thread, 1, 4)
    builder.roi_end(streams[0])
    builder.write(str(folder))
    return str(folder)


@pytest.mark.parametrize("source", [*SCALED, "trace"])
def test_every_source_finds_the_two_pairs_and_says_what_that_cost(trace: str, source: str) -> None:
    arguments = [trace, "-t", "4", "--with", source, "-m", "xeon-x7550", "--json"]
    result = CliRunner().invoke(detect, arguments, catch_exceptions=False)
    found = json.loads(result.stdout)
    assert found["with"] == source
    assert [row.index(max(row)) for row in found["sharing"]] == [1, 0, 3, 2]
    assert found["whole_trace_correlation"] > 0.9
    matrix = normalised(SharingMatrix(tuple(map(tuple, found["sharing"]))))
    assert found["heterogeneity"] == pytest.approx(heterogeneity(matrix)) != 0
    assert found["heterogeneity_off_diagonal"] > found["heterogeneity"]
    if source == "trace":
        assert found["detector"] is None
        assert found["pages"] >= 2 * PAGES
    else:
        assert found["roi_ns"] >= found["roi_ns_without"]
    if source == "faults":
        assert found["exclusivity"] > 0.25
        assert found["overhead_ns"]["fault"] > 0


def test_a_page_says_what_the_text_does_of_heterogeneity(trace: str, tmp_path: Path) -> None:
    """Equation 1 of kMAF'14, and the same off the diagonal."""
    page = tmp_path / "page.html"
    arguments = [trace, "-t", "4", "--with", "trace", "--html", str(page)]
    result = CliRunner().invoke(detect, arguments, catch_exceptions=False)
    said = re.search(r"heterogeneity ([0-9.]+ \([0-9.]+ off the diagonal\))", result.stdout)
    assert said and said[1] in page.read_text()


def test_detect_draws_a_heat_map_here_and_into_a_file(trace: str, tmp_path: Path) -> None:
    out = tmp_path / "pairs.svg"
    arguments = [trace, "-t", "4", "--with", "trace", "-o", str(out)]
    result = CliRunner().invoke(detect, arguments, catch_exceptions=False)
    assert "0 │  ██    │" in result.stdout.splitlines()
    assert "correlation with the whole trace 1.000" in result.stdout
    drawing = ElementTree.parse(out).getroot()
    assert len(drawing.findall("{*}rect")) == 4 * 4 + 1


def test_what_detect_finds_can_be_mapped(trace: str, tmp_path: Path) -> None:
    out = tmp_path / "pairs.csv"
    arguments = [trace, "-t", "4", "--with", "trace", "-o", str(out)]
    CliRunner().invoke(detect, arguments, catch_exceptions=False)
    sharing = read_matrix(out)
    assert sharing.threads == 4
    assert sharing.cells[0][1] > 0


def test_a_picture_of_another_kind_is_refused_before_anything_runs(tmp_path: Path) -> None:
    arguments = [str(tmp_path), "-t", "4", "-o", str(tmp_path / "pairs.png")]
    with pytest.raises(UsageError, match=r"ends in \.svg"):
        CliRunner().invoke(detect, arguments, catch_exceptions=False)


def test_heat_maps_show_little_sharing_and_none_apart() -> None:
    matrix = SharingMatrix(((0, 100, 1), (100, 0, 0), (1, 0, 0)))
    assert heat_lines(matrix) == ["   0", "0 │  ██░░│", "1 │██    │", "2 │░░    │"]
    assert heat_lines(SharingMatrix(((0, 0), (0, 0))))[1:] == ["0 │    │", "1 │    │"]
    assert "&lt;1 &amp; 2&gt;" in heat_svg(matrix, "<1 & 2>")


def test_a_title_longer_than_the_heat_map_is_wide_has_room() -> None:
    matrix = SharingMatrix(((0, 1), (1, 0)))
    drawn = [heat_svg(matrix, "m" * letters) for letters in (1, 60)]
    narrow, wide = (int(re.findall(r'width="(\d+)"', svg)[0]) for svg in drawn)
    assert wide >= 60 * 6 > narrow
