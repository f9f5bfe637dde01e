"""A library's name for LD_PRELOAD, which the dynamic linker splits at blanks and colons."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_SPLIT = re.compile(r"[\s:;]")


@contextmanager
def preloadable(library: Path) -> Iterator[str]:
    """A name of the library that is not split: its own, or that of a link inside the context.

    Raises `OSError` where no folder for a link can be made.
    """
    if not _SPLIT.search(str(library)):
        yield str(library)
        return
    where = "/tmp" if _SPLIT.search(tempfile.gettempdir()) else None
    with tempfile.TemporaryDirectory(prefix="autofinity-", dir=where) as folder:
        link = Path(folder) / library.name
        link.symlink_to(library)
        yield str(link)
