"""Whatever numa_maps and maps hold, reading them ends with numbers."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given
from hypothesis import strategies as st

from autofinity.linux import memory
from autofinity.linux.memory import memory_of, pages_on
from autofinity.model.topology import OsIndex

NODES = [OsIndex(0), OsIndex(7)]
WORDS = st.one_of(
    st.sampled_from(["0", "ff000", "default", "heap", "stack", "file=/x", "huge"]),
    st.from_regex(r"N\d{1,3}=-?\d{0,9}", fullmatch=True),
    st.from_regex(r"kernelpagesize_kB=\w{0,5}", fullmatch=True),
    st.text(max_size=6),
)
FILES = st.one_of(
    st.lists(st.lists(WORDS, max_size=6).map(" ".join), max_size=8).map("\n".join).map(str.encode),
    st.binary(max_size=60),
)


@given(numa_maps=FILES, maps=st.one_of(FILES, st.just(b"ff000-100000 rw-p\n0-1000 rw-p\n")))
def test_any_file_is_read_to_its_end(numa_maps: bytes, maps: bytes) -> None:
    real = memory.nodes_of
    memory.nodes_of = lambda pid, addresses: [0] * len(addresses)  # type: ignore[assignment]
    try:
        with TemporaryDirectory() as folder:
            process = Path(folder) / "3"
            process.mkdir()
            (process / "numa_maps").write_bytes(numa_maps)
            (process / "maps").write_bytes(maps)
            found = memory_of([3], NODES, folder)
            assert found is None or len(found.bytes_on) == len(NODES)
            for number in NODES:
                for pages in pages_on([3], number, folder):
                    assert all(page >= 0 for page in pages)
    finally:
        memory.nodes_of = real
