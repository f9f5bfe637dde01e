"""Tables of detectors (C++; see autofinity/native/detect). Wrong numbers are a `ValueError`."""

class SharingCounts:
    """How often each pair of threads shared."""

    def __init__(self, threads: int) -> None: ...
    def cells(self) -> list[list[int]]:
        """How much each pair shares: symmetric."""

    def rows(self) -> list[list[int]]:
        """The counts of each thread."""

class BlockTable:
    """Hash table of blocks with their last threads (SPCD; kMAF'16, section 4.3.2)."""

    def __init__(self, entries: int = 1 << 20, sharers: int = 2) -> None: ...
    def touch(self, block: int, thread: int, counts: SharingCounts) -> None: ...
    def __len__(self) -> int:
        """Entries that were taken by a block."""
    def threads_at(self, block: int) -> list[int]:
        """Latest first."""

class SubBlockTable:
    """Sub-block vectors (kMAF'14, section 3.2)."""

    def __init__(self, sharers: int = 2) -> None: ...
    def touch(self, block: int, thread: int, counts: SharingCounts) -> None: ...
    def __len__(self) -> int:
        """Blocks that were touched."""
    def threads_at(self, block: int) -> list[int]:
        """Latest first."""

class NumaTable:
    """Saturating counters of each page's nodes."""

    def __init__(self, nodes: int, most: int = 255, pages: int = 1 << 32) -> None: ...
    def count(self, page: int, node: int) -> bool:
        """Whether the page is among those that are counted."""

    def halve(self, page: int) -> None: ...
    def vector_of(self, page: int) -> list[int]: ...
    def take_seen(self, most: int = 1 << 32) -> list[int]:
        """Pages counted since they were last taken; the others stay where there are more."""

class PageHistory:
    """Page history table (SAMMU, section 3)."""

    def __init__(
        self,
        pages: int,
        nodes: int,
        sharers: int = 2,
        most_counted: int = 15,
        v_add: int = 2,
        numa_threshold: int = 10,
    ) -> None: ...
    def update(
        self, page: int, thread: int, node: int, accesses: int, counts: SharingCounts
    ) -> bool:
        """Whether the accesses reached the page's threshold."""

    def should_move(self, page: int, home: int, node: int) -> bool: ...
    def state(self, page: int) -> tuple[int, list[int], list[int]]:
        """AT, SV (latest first) and NC."""

def adjusted_threshold(at: int, ac: int) -> int:
    """Equations 1 and 2 of SAMMU."""

class TlbMirrors:
    """Copies of TLBs, and their equal entries (Cruz, Diener & Navaux 2014, section 4.2)."""

    def __init__(self, cores: int, sets: int) -> None: ...
    def put(self, core: int, set: int, page: int, thread: int) -> None: ...
    def match(self, core: int, counts: SharingCounts) -> int:
        """Entries of other cores that were looked at."""

    def match_all(self, counts: SharingCounts) -> int: ...

def fence() -> None:
    """Whoever shares memory with us sees what is before as before what is after, and we them."""
