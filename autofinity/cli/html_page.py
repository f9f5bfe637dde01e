"""Writing a page for `--html`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from autofinity.cli.printer import say
from autofinity.foreign_text import one_line
from autofinity.whole_file import replace_file

if TYPE_CHECKING:
    from autofinity.report.page import Section


def keep_page(path: Path, title: str, lead: str, sections: Sequence[Section]) -> None:
    """Write the page, whole or not at all, and say where it is on stderr.

    Raises `OSError`, `CapabilityError` without plotly.
    """
    from autofinity import __version__
    from autofinity.report.page import Page, html_of

    now = datetime.now().astimezone().strftime("%Y-%m-%d %H:%M %Z")
    made = f"{click.get_current_context().command_path}, autofinity {__version__}, {now}"
    page = Page(title, lead, tuple(sections), made)
    replace_file(path, html_of(page), durable=False)
    say(one_line(f"page: kept in {path}"), err=True)
