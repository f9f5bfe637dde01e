"""Sharing matrices from CSV files: one row on each line, cells separated by commas, semicolons or
blanks.
"""

from __future__ import annotations

import io
import math
import re
from pathlib import Path

from autofinity.given_file import read_given
from autofinity.model.errors import MeasurementError, UsageError
from autofinity.model.sharing import SharingMatrix
from autofinity.reporter import SILENT, Reporter
from autofinity.whole_file import replace_file

MOST_THREADS = 2048
LARGEST_FILE_BYTES = 128 << 20
"""Room for the largest number of rows and columns, with 30 characters for each cell."""
MOST_SHARING = 1e150
"""Largest sharing between two threads: sums of its squares, and of its products with distances,
stay finite."""
_SEPARATOR = re.compile(r"\s*[,;]\s*|\s+")


def read_matrix(
    path: Path, *, directed: bool = False, last_first: bool = False, reporter: Reporter = SILENT
) -> SharingMatrix:
    """The matrix in `path`. Empty lines and lines that begin with `#` are left out; the diagonal is
    ignored. Rows may start with the last thread (`last_first`), as numalize writes them; columns
    are always in order. Rows that are symmetric only so, with nothing on the diagonal only so, are
    taken so, of which there is a notice.

    Cells i,j and j,i must be equal, unless each is an amount in one direction (`directed`): then
    they are added. Raises `UsageError`, which names file, line and column (from 1), for a cell that
    is no number of 0 or more, a row that is too short or too long, more than `MOST_THREADS` rows
    and unequal cells; `MeasurementError` where there is no such file.
    """
    rows = _rows(path)
    if last_first:
        rows.reverse()
    elif not directed and _only_last_first(rows):
        reporter.notice(
            f"{path}: its first row is taken for the last thread's, as numalize writes them: only "
            "so cells i,j and j,i are equal, and threads share nothing with themselves"
        )
        rows.reverse()
    for i, (line, row) in enumerate(rows):
        if len(row) != len(rows):
            raise UsageError(
                f"{path}, line {line}: {len(row)} columns; expected {len(rows)}, as many as rows"
            )
        for j in range(i):
            if not directed and row[j] != rows[j][1][i]:
                raise UsageError(
                    f"{path}, line {line}, column {j + 1}: {row[j]:g}, but {rows[j][1][i]:g} in "
                    f"line {rows[j][0]}, column {i + 1}; expected the same; --directed adds the "
                    "two directions, --last-first takes the first row for the last thread's"
                )
    cells = [row for _, row in rows]
    size = range(len(cells))
    if directed:
        cells = [[cells[i][j] + cells[j][i] for j in size] for i in size]
    return SharingMatrix(tuple(tuple(0.0 if i == j else cells[i][j] for j in size) for i in size))


def write_matrix(sharing: SharingMatrix, path: Path) -> None:
    """Write the cells so that `read_matrix` gives the same matrix."""
    rows = (",".join(f"{cell:.17g}" for cell in row) + "\n" for row in sharing.cells)
    replace_file(path, "".join(rows), durable=False)


def _only_last_first(rows: list[tuple[int, list[float]]]) -> bool:
    """Amounts of one direction each may be symmetric the other way round by chance (a pipeline's
    are), but not with a diagonal there alone.
    """
    cells = [row for _, row in rows]
    if any(len(row) != len(cells) for row in cells):
        return False
    reversed_ = cells[::-1]
    return (
        any(row[i] for i, row in enumerate(cells))
        and not any(row[i] for i, row in enumerate(reversed_))
        and not _symmetric(cells)
        and _symmetric(reversed_)
    )


def _symmetric(cells: list[list[float]]) -> bool:
    return all(row[j] == cells[j][i] for i, row in enumerate(cells) for j in range(i))


def _rows(path: Path) -> list[tuple[int, list[float]]]:
    """Line number and cells of each row."""
    rows: list[tuple[int, list[float]]] = []
    try:
        lines = io.StringIO(read_given(path, LARGEST_FILE_BYTES).decode("utf-8-sig"), newline=None)
    except FileNotFoundError:
        raise MeasurementError(
            f"there is no file {path}; expected a CSV file of a sharing matrix, a row for each "
            "thread, as `autofinity detect -o FILE.csv` writes"
        ) from None
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: not text ({error.reason}); expected rows of numbers") from None
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        if len(rows) == MOST_THREADS:
            raise UsageError(
                f"{path}, line {number}: more than {MOST_THREADS} rows; expected one a thread"
            )
        rows.append((number, _cells(path, number, text)))
    if not rows:
        raise UsageError(f"{path}: no rows; expected a matrix of numbers, a row a thread")
    return rows


def _cells(path: Path, line: int, text: str) -> list[float]:
    found = []
    for column, cell in enumerate(_SEPARATOR.split(text, MOST_THREADS), 1):
        try:
            value = float(cell)
        except ValueError:
            value = math.nan
        if not 0 <= value <= MOST_SHARING:
            shown = cell if len(cell) <= 20 else cell[:20] + "…"
            raise UsageError(
                f"{path}, line {line}, column {column}: {shown!r}; expected a number from 0 to "
                f"{MOST_SHARING:g}"
            )
        found.append(value)
    return found
