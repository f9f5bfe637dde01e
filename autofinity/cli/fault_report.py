"""Report of an error that nobody foresaw: a file, and a sentence that says where."""

from __future__ import annotations

import os
import platform
import shlex
import sys
import tempfile
import traceback
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from autofinity import __version__
from autofinity.foreign_text import one_line
from autofinity.model.errors import StoreError
from autofinity.private_file import make_folder
from autofinity.store.behaviour_file import default_path
from autofinity.store.site_address import is_other_url, is_site, site_name

_LONGEST = 300
"""Characters of the error in the sentence; the report has all of it."""


def keep_report(error: Exception) -> str:
    """Write the report, readable to its owner only; the sentence that says where it is."""
    said = one_line(f"{type(error).__name__}: {error}")
    what = f"internal error of autofinity: {said[:_LONGEST]}"
    command = shlex.join(map(_without_password, sys.argv))
    report = (
        f"autofinity {__version__}, Python {platform.python_version()}, {platform.platform()}\n"
        f"command: {command}\n\n{''.join(traceback.format_exception(error))}"
    )
    for folder in _folders():
        try:
            descriptor, name = tempfile.mkstemp(".txt", "fault-", folder)
            with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace") as file:
                file.write(report)
        except OSError:
            continue
        return f"{what}; the report is kept in {name}"
    return f"{what}; the report was not kept: no folder is writable"


def _without_password(word: str) -> str:
    """A word of the command: users send reports to others, and a URL may hold a password."""
    option, equals, value = word.partition("=") if word.startswith("-") else ("", "", word)
    if is_site(value):
        value = site_name(value)
    elif is_other_url(value):
        value = "(a URL)"
    return option + equals + value


def _folders() -> Iterator[Path]:
    with suppress(StoreError, OSError):
        folder = default_path().parent
        make_folder(folder)
        yield folder
    yield Path(tempfile.gettempdir())
