"""Threads that the launcher's half seated as they were created, and named (`creation.c`)."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Sequence

from autofinity.model.topology import OsIndex

SEATED = "its threads got their seats as they were created, in the order of their numbers"
_NAMED = struct.Struct("=ii")  # tid, number


class SeatedThreads:
    """The pipe that names them. Until it is closed more threads may be seated."""

    def __init__(
        self,
        descriptor: int,
        masks: Sequence[frozenset[OsIndex]],
        tell: Callable[[str], None] = lambda line: None,
    ) -> None:
        """`masks` are the seats by number of the thread; `tell` gets a line when the first thread
        is named.
        """
        self._descriptor = descriptor
        self._masks = masks
        self._tell = tell
        self._told = False
        os.set_blocking(descriptor, False)

    def named(self) -> list[tuple[int, frozenset[OsIndex]]]:
        """Threads that were named since the last call, with the mask that each was given."""
        found = []
        try:
            while self._descriptor >= 0 and (text := os.read(self._descriptor, _NAMED.size)):
                tid, number = _NAMED.unpack(text)
                found.append((tid, self._masks[number]))
        except BlockingIOError:
            pass
        if found and not self._told:
            self._told = True
            self._tell(SEATED)
        return found

    def close(self) -> None:
        """Seat no more threads."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
