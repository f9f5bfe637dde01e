"""The detectors' native tables against plain references."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from autofinity._core import detect

THREADS, NODES = 5, 3
TOUCHES = st.lists(st.tuples(st.integers(0, 6), st.integers(0, THREADS - 1)), max_size=60)


def counted(pairs: Sequence[tuple[int, int]]) -> list[list[int]]:
    cells = [[0] * THREADS for _ in range(THREADS)]
    for a, b in pairs:
        if a != b:
            cells[a][b] += 1
            cells[b][a] += 1
    return cells


@given(TOUCHES, st.integers(1, 8))
def test_a_block_table_counts_a_new_latest_thread_with_all_that_are_there(
    touches: list[tuple[int, int]], sharers: int
) -> None:
    table, counts = detect.BlockTable(1 << 12, sharers), detect.SharingCounts(THREADS)
    last: dict[int, list[int]] = defaultdict(list)
    pairs = []
    for block, thread in touches:
        table.touch(block, thread, counts)
        if last[block][:1] != [thread]:
            pairs += [(thread, other) for other in last[block]]
            last[block] = [thread, *(t for t in last[block] if t != thread)][:sharers]
    assert counts.cells() == counted(pairs)
    assert {block: table.threads_at(block) for block in last} == last
    assert len(table) == len(last)


@given(TOUCHES, st.integers(1, 8))
def test_a_sub_block_table_counts_all_pairs_after_every_touch(
    touches: list[tuple[int, int]], sharers: int
) -> None:
    table, counts = detect.SubBlockTable(sharers), detect.SharingCounts(THREADS)
    last: dict[int, list[int]] = defaultdict(list)
    pairs = []
    for block, thread in touches:
        table.touch(block, thread, counts)
        last[block] = [thread, *(t for t in last[block] if t != thread)][:sharers]
        pairs += [(a, b) for i, a in enumerate(last[block]) for b in last[block][:i]]
    assert counts.cells() == counted(pairs)
    assert {block: table.threads_at(block) for block in last} == last


@given(
    st.lists(
        st.tuples(
            st.integers(0, THREADS - 1), st.integers(0, NODES - 1), st.integers(0, 2**32 - 1)
        ),
        max_size=60,
    ),
    st.integers(1, 4),
)
def test_a_page_history_is_that_of_the_equations(
    updates: list[tuple[int, int, int]], sharers: int
) -> None:
    history = detect.PageHistory(1, NODES, sharers)
    counts = detect.SharingCounts(THREADS)
    threshold, last, numa, pairs = 0, [], [0] * NODES, []
    for thread, node, accesses in updates:
        enough = accesses >= threshold
        assert history.update(0, thread, node, accesses, counts) == enough
        if enough:
            threshold = (threshold + accesses) // 2
            pairs += [(thread, other) for other in last]
            last = [thread, *last][:sharers]
            numa = [min(15, n + 2) if i == node else max(0, n - 1) for i, n in enumerate(numa)]
        else:
            lowered = threshold - (threshold - accesses) * accesses // threshold
            assert 4 * lowered >= 3 * threshold
            threshold = lowered
        assert history.state(0) == (threshold, last, numa)
    assert counts.cells() == counted(pairs)


@given(
    st.lists(
        st.tuples(
            st.integers(0, 3), st.integers(0, 2), st.integers(0, 7), st.integers(0, THREADS - 1)
        ),
        unique=True,
        max_size=40,
    )
)
def test_all_mirrors_at_once_count_every_pair_of_equal_entries_of_a_set(
    entries: list[tuple[int, int, int, int]],
) -> None:
    mirrors, counts = detect.TlbMirrors(4, 3), detect.SharingCounts(THREADS)
    for entry in entries:
        mirrors.put(*entry)
    pairs = [
        (a[3], b[3])
        for i, a in enumerate(entries)
        for b in entries[:i]
        if a[1:3] == b[1:3]  # the same page in the same set, of two cores or two users
    ]
    mirrors.match_all(counts)
    assert counts.cells() == counted(pairs)


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, NODES - 1)), max_size=80),
    st.integers(1, 20),
    st.integers(1, 4),
    st.integers(1, 4),
)
def test_numa_vectors_count_until_they_saturate(
    faults: list[tuple[int, int]], most: int, pages: int, shown: int
) -> None:
    table = detect.NumaTable(NODES, most, pages)
    vectors: dict[int, list[int]] = {}
    for page, node in faults:
        is_counted = page in vectors or len(vectors) < pages
        assert table.count(page, node) == is_counted
        if is_counted:
            vector = vectors.setdefault(page, [0] * NODES)
            vector[node] = min(most, vector[node] + 1)
    assert table.take_seen(shown) == list(vectors)[:shown]
    for page in list(vectors)[shown:]:
        table.count(page, 0)  # it waits already
    assert table.take_seen() == list(vectors)[shown:]
    for page in list(vectors)[shown:]:
        vectors[page][0] = min(most, vectors[page][0] + 1)
    assert {page: table.vector_of(page) for page in vectors} == vectors
