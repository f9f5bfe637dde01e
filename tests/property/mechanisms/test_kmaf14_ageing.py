"""kMAF'14, section 3.4.2, against the plain formula on whole numbers."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from autofinity._core.detect import SharingCounts
from autofinity.mechanisms.kmaf14 import aged
from autofinity.model.sharing import SharingMatrix

THREADS = 4
MOST = (1 << 32) - 1
"""Maximum of the paper's cells of 4 bytes (section 3.5.1)."""
PAIRS = st.lists(
    st.tuples(st.integers(0, THREADS - 1), st.integers(0, THREADS - 1), st.integers(0, MOST)),
    max_size=12,
)


def plain(cells: list[list[int]]) -> list[list[int]]:
    return [[cell - (cell >> 2) for cell in row] for row in cells]


def matrix(cells: list[list[int]]) -> SharingMatrix:
    return SharingMatrix(tuple(tuple(map(float, row)) for row in cells))


@given(PAIRS, st.integers(1, 90))
def test_section_3_4_2_ages_whole_numbers_by_m_minus_m_shifted_right_by_two(
    seen: list[tuple[int, int, int]], mappings: int
) -> None:
    cells = [[0] * THREADS for _ in range(THREADS)]
    for a, b, amount in seen:
        cells[a][b] = cells[b][a] = amount if a != b else 0
    found = matrix(cells)
    for _ in range(mappings):
        cells, found = plain(cells), aged(found)
    assert found == matrix(cells)
    assert (aged(found) is found) == (max(map(max, cells)) < 4)


@given(PAIRS)
def test_what_the_native_tables_count_is_aged_as_it_is(seen: list[tuple[int, int, int]]) -> None:
    counts = SharingCounts(THREADS)
    table = detect_table(seen, counts)
    assert table == counts.cells()
    found = aged(matrix(counts.cells()))
    assert found == matrix(plain(counts.cells()))
    assert all(cell.is_integer() for row in found.cells for cell in row)


def detect_table(seen: list[tuple[int, int, int]], counts: SharingCounts) -> list[list[int]]:
    """Both threads at one sub-block in turn, so often that cells get beyond 4."""
    from autofinity._core.detect import SubBlockTable

    cells = [[0] * THREADS for _ in range(THREADS)]
    for number, (a, b, amount) in enumerate(seen):
        table = SubBlockTable(2)
        for turn in range(amount % 50):
            table.touch(number, (a, b)[turn % 2], counts)
            if turn and a != b:
                cells[a][b] += 1
                cells[b][a] += 1
    return cells
