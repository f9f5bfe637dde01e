"""Affinities (isomorphism classes of core sets) and hints (wishes that hold for any thread count).

Source: Moore & Childers, CC 2013, section 2.1 and figures 4 and 5.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from autofinity.model.errors import UnknownHintError


@dataclass(frozen=True, slots=True, order=True)
class Affinity:
    """How many threads sit in each LLC domain of each socket, up to isomorphism.

    `occupancy` holds one tuple for each used socket: the thread counts of its used LLC domains.
    Counts are sorted in descending order, sockets by (total, counts) in descending order, and
    unused domains and sockets are left out. So equal affinities are equal values.

    >>> af.Affinity.parse("{2,6}{1}").occupancy
    ((6, 2), (1,))
    >>> placed = af.Affinity.of([[0, 1], [3, 4]])
    >>> str(placed), placed.threads, placed.sockets
    ('{4,3}{1}', 8, 2)
    """

    occupancy: tuple[tuple[int, ...], ...]

    @property
    def threads(self) -> int:
        """Number of threads placed."""
        return sum(map(sum, self.occupancy))

    @property
    def sockets(self) -> int:
        """Number of sockets used."""
        return len(self.occupancy)

    @property
    def fullest_llc(self) -> int:
        """Threads on the last-level cache that most share; 0 of `UNPLACED`."""
        return max((counts[0] for counts in self.occupancy), default=0)

    @staticmethod
    def of(occupancy: object) -> Affinity:
        """Canonical affinity of any nested iterable of counts (zeros and order do not matter)."""
        sockets = []
        for socket in occupancy:  # type: ignore[attr-defined]
            counts = tuple(sorted((int(c) for c in socket if c), reverse=True))
            if counts:
                sockets.append(counts)
        sockets.sort(key=lambda counts: (sum(counts), counts), reverse=True)
        return Affinity(tuple(sockets))

    def __str__(self) -> str:
        """Text as in the paper: `{6,2}` for one socket with LLCs of 6 and 2, `{1}{1}` for two;
        empty for `UNPLACED`.
        """
        return "".join("{" + ",".join(map(str, counts)) + "}" for counts in self.occupancy)

    @staticmethod
    def parse(text: str) -> Affinity:
        """Inverse of `str`. Raises `ValueError` on anything else."""
        if not text:
            return UNPLACED
        if not re.fullmatch(r"(\{\d{1,7}(,\d{1,7})*\})+", text, re.ASCII):
            raise ValueError(f"not an affinity: {text!r}; expected for example '{{6,2}}{{1}}'")
        return Affinity.of([[int(c) for c in part.split(",")] for part in text[1:-1].split("}{")])


UNPLACED = Affinity(())
"""Affinity of threads that nobody has placed: the operating system moves them as it likes."""


@dataclass(frozen=True, slots=True)
class Hint:
    """Two wishes about the placement of threads, and their order; GETAFFINITY turns a hint and a
    number of threads into cores (figure 4).

    * `spread_sockets` (S): the threads use as many sockets as possible; False: as few as possible.
    * `spread_llcs` (L): the threads use as many last-level caches as possible; False: as few.
    * `socket_first` (P): the wish about sockets counts where both cannot be met; False: the wish
      about caches.

    >>> hint = af.Hint.parse("packed")
    >>> str(hint), hint.name, hint.spread_sockets
    ('slp', 'packed', False)
    """

    spread_sockets: bool
    spread_llcs: bool
    socket_first: bool

    def __repr__(self) -> str:
        return f"Hint.parse({self.name!r})"

    def __str__(self) -> str:
        """Letters S, L and P, in lower case where false: `sLp` is S false, L true, P false."""
        return (
            ("S" if self.spread_sockets else "s")
            + ("L" if self.spread_llcs else "l")
            + ("P" if self.socket_first else "p")
        )

    @property
    def name(self) -> str:
        """Name for people: `spread`, `packed`, or the two wishes, the first one first."""
        return HINT_NAMES[self]

    @property
    def shown(self) -> str:
        """Name and letters, as a hint is shown to people: `packed (slp)`."""
        return f"{self.name} ({self})"

    @staticmethod
    def parse(text: str) -> Hint:
        """The hint that a person wrote: its name, in any case, or its letters, whose case counts.

        Raises `UnknownHintError`, a `ValueError`, which names all eight hints.
        """
        if not isinstance(text, str):
            raise UnknownHintError(f"not a hint: a {type(text).__name__}; expected text, a name")
        # Only ASCII, as in the launcher: the sign for kelvin is a `k` in lower case.
        name = text.lower() if text.isascii() else ""
        hint = _BY_NAME.get(name) or _BY_LETTERS.get(text)
        if hint is None:
            raise UnknownHintError(
                f"not a hint: {text!r}; expected a name, or three letters, S, L, P in capitals "
                "when true: " + ", ".join(each.shown for each in HINTS)
            )
        return hint

    @staticmethod
    def from_letters(text: str) -> Hint:
        """Inverse of `str`, for files and databases. Raises `ValueError` on anything else."""
        hint = _BY_LETTERS.get(text)
        if hint is None:
            raise ValueError(
                f"not a hint: {text!r}; expected three letters, S, L, P in capitals when true: "
                + ", ".join(_BY_LETTERS)
            )
        return hint


HINTS: tuple[Hint, ...] = tuple(
    Hint(s, l, p) for s in (True, False) for l in (True, False) for p in (True, False)
)
"""All eight hints, in the documented order in which ties between hints are labelled: SLP, SLp, SlP,
Slp, sLP, sLp, slP, slp (truth-table order; the spread hint, where a run starts, comes
first)."""

HINT_NAMES: Mapping[Hint, str] = dict(
    zip(
        HINTS,
        (
            "spread",
            "own-caches-many-sockets",
            "many-sockets-shared-caches",
            "shared-caches-many-sockets",
            "few-sockets-own-caches",
            "own-caches-few-sockets",
            "few-sockets-shared-caches",
            "packed",
        ),
        strict=True,
    )
)
"""Name of each hint, in the same order. The launcher has the same names
(`native/launcher/hints.c`)."""
_BY_NAME = {name: hint for hint, name in HINT_NAMES.items()}
_BY_LETTERS = {str(hint): hint for hint in HINTS}

SPREAD = Hint(True, True, True)
"""Hint of the starting affinity (section 3: one thread in each LLC as far as they go)."""
PACKED = Hint(False, False, False)
"""The paper's packed static policy."""
