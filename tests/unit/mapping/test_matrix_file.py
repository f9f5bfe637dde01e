"""Sharing matrices from files, and what is said of those that are none."""

from __future__ import annotations

from pathlib import Path

import pytest
from told import Told

from autofinity.mapping.matrix_file import MOST_THREADS, read_matrix, write_matrix
from autofinity.model.errors import MeasurementError, UsageError
from autofinity.model.sharing import SharingMatrix


def written(folder: Path, text: str | bytes) -> Path:
    path = folder / "m.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize(
    "text", ["0,1.5\n1.5,0\n", "# a,b\n\n 7 ; 1.5 \n1.5;\t7\n", "\ufeff0 1.5\r\n1.5 0"]
)
def test_commas_semicolons_and_blanks_part_cells(tmp_path: Path, text: str) -> None:
    assert read_matrix(written(tmp_path, text)).cells == ((0, 1.5), (1.5, 0))


def test_a_file_that_is_not_there_is_an_error_that_names_what_is_expected(tmp_path: Path) -> None:
    with pytest.raises(MeasurementError) as error:
        read_matrix(tmp_path / "none.csv")
    assert str(error.value).startswith(f"there is no file {tmp_path}/none.csv; expected a CSV file")


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    matrix = SharingMatrix(((0.0, 1 / 3), (1 / 3, 0.0)))
    write_matrix(matrix, tmp_path / "m.csv")
    assert read_matrix(tmp_path / "m.csv") == matrix


def test_rows_may_begin_with_the_last_thread_as_numalize_has_them(tmp_path: Path) -> None:
    path = written(tmp_path, "0,0,5,0\n0,0,0,5\n5,0,0,0\n0,5,0,0\n")
    pairs = {(0, 1), (1, 0), (2, 3), (3, 2)}
    cells = read_matrix(path, last_first=True).cells
    assert {(i, j) for i, row in enumerate(cells) for j, cell in enumerate(row) if cell} == pairs
    uneven = written(tmp_path, "5,1,0\n0,7,1\n9,0,5\n")  # its diagonal runs the other way, too
    assert read_matrix(uneven, last_first=True).cells == ((0, 0, 5), (0, 0, 1), (5, 1, 0))


def test_rows_that_are_symmetric_from_the_last_thread_on_only_are_taken_so_and_that_is_said(
    tmp_path: Path,
) -> None:
    path, told = written(tmp_path, "5,1,0\n2,0,1\n0,2,5\n"), Told()
    assert read_matrix(path, reporter=told).cells == ((0, 2, 5), (2, 0, 1), (5, 1, 0))
    assert ["as numalize writes them" in line for line in told.notices] == [True]
    pipeline, neither = "0,1,0\n0,0,1\n0,0,0\n", "0,1,2\n3,0,4\n5,6,0\n"
    for text in (pipeline, neither):
        with pytest.raises(UsageError, match="--last-first takes the first row for the last"):
            read_matrix(written(tmp_path, text), reporter=told)
    either = written(tmp_path, "0,5\n5,0\n")
    assert read_matrix(either, reporter=told).cells == ((0, 5), (5, 0))
    assert len(told.notices) == 1


def test_two_directions_are_added_when_asked_for(tmp_path: Path) -> None:
    path = written(tmp_path, "0,1\n2,0\n")
    assert read_matrix(path, directed=True).cells == ((0, 3), (3, 0))
    with pytest.raises(UsageError, match=r"line 2, column 1: 2, but 1 in line 1, column 2"):
        read_matrix(path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no rows"),
        ("0,1\n1,zero\n", r"line 2, column 2: 'zero'; expected a number"),
        ("0,1\n1,\n", r"line 2, column 2: ''"),
        ("0,-1\n-1,0\n", r"line 1, column 2: '-1'"),
        ("0,inf\ninf,0\n", r"line 1, column 2: 'inf'"),
        ("0,nan\nnan,0\n", r"line 1, column 2: 'nan'"),
        ("0,1\n#\n1\n", r"line 3: 1 columns; expected 2"),
        ("0,1\n", r"line 1: 2 columns; expected 1"),
        (b"\xff\xfe\x00", "not text"),
        ("0\n" * (MOST_THREADS + 1), f"more than {MOST_THREADS} rows"),
        ("x" * 100_000, "'xxxxxxxxxxxxxxxxxxxx…'"),
    ],
)
def test_what_is_no_matrix_is_refused_with_its_line(
    tmp_path: Path, text: str | bytes, said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        read_matrix(written(tmp_path, text))
