"""A page as data, and its HTML: one file that needs nothing else, opened from a disk without a net.

    evaluation, decision, advice, comparison ─► Page: sections of blocks ─► one template ─► HTML

A block is text, facts, a table, a drawing, a plot, or more blocks behind a heading that unfolds.
The template escapes all texts. By a content security policy the page forbids itself to load
anything and to run any script but its own two.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

from autofinity.foreign_text import one_line

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

type Block = Sentences | Facts | Table | Drawing | Plot | Folded
type Figure = Mapping[str, Any]
"""A figure of plotly: `data` and `layout`."""


@dataclass(frozen=True, slots=True)
class Sentences:
    """Lines of text; a line that begins with spaces is indented."""

    lines: tuple[str, ...]
    strong: bool = False
    """Whether the first line stands out."""
    kind: ClassVar = "sentences"

    @property
    def levels(self) -> list[tuple[int, str]]:
        """Indentation, in steps of two spaces, and text of each line."""
        return [((len(line) - len(line.lstrip(" "))) // 2, line.strip()) for line in self.lines]


@dataclass(frozen=True, slots=True)
class Facts:
    """Names and values, the values with units."""

    pairs: tuple[tuple[str, str], ...]
    kind: ClassVar = "facts"


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a table: its text, and what it is sorted by."""

    text: str
    value: float | None = None
    """Number behind the text: it is aligned to the right and sorted by this."""
    tone: str = ""
    """`good`, `bad` or `quiet`."""
    bar: float | None = None
    """Length of a bar behind the text, 0 to 1."""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows below headings, which sort them on a click."""

    headings: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    caption: str = ""
    choices: tuple[int, ...] = ()
    """Columns that rows are filtered by: a list of their texts above the table."""
    search: int | None = None
    """Column that a field above the table is searched for in; None: no field."""
    plot: str = ""
    """Name of the plot whose points are dimmed with the rows that are filtered out."""
    kind: ClassVar = "table"

    def texts_of(self, column: int) -> list[str]:
        """The different texts in a column, numbers in their order."""
        cells = {row[column].text: row[column].value for row in self.rows}
        return sorted(cells, key=lambda text: (cells[text] or 0.0, text))


@dataclass(frozen=True, slots=True)
class Drawing:
    """An SVG that this project made, such as that of a machine."""

    svg: str
    caption: str = ""
    kind: ClassVar = "drawing"


@dataclass(frozen=True, slots=True)
class Plot:
    """A figure of plotly. Texts in it that others wrote have gone through `plot_text`."""

    name: str
    """Unique on the page; letters and `-`."""
    figure: Figure
    caption: str
    height_px: int
    kind: ClassVar = "plot"


@dataclass(frozen=True, slots=True)
class Folded:
    """Blocks behind a heading that unfolds; on paper they are unfolded."""

    title: str
    blocks: tuple[Block, ...]
    opened: bool = False
    kind: ClassVar = "folded"


@dataclass(frozen=True, slots=True)
class Section:
    """Blocks below a heading."""

    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Page:
    """A whole page."""

    title: str
    lead: str
    """A sentence below the title."""
    sections: tuple[Section, ...]
    made: str
    """Which command made it, and when; the page's last line."""


def html_of(page: Page) -> str:
    """The page as HTML. Raises `CapabilityError` without plotly, where the page has plots."""
    from autofinity.report.plotly_script import plotly_script

    environment = _environment()
    own = _shipped(environment, "page.js")
    scripts = [plotly_script(), own] if _has_plots(_all_blocks(page)) else [own]
    return environment.get_template("page.html.j2").render(
        page=page,
        style=_trusted(_shipped(environment, "page.css")),
        scripts=[_trusted(script) for script in scripts],
        hashes=" ".join(f"'sha256-{_digest(script)}'" for script in scripts),
    )


def plot_text(text: str) -> str:
    """A text for plotly, which takes `<b>`, `<a href=…>` and the like in any text for markup."""
    return one_line(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _all_blocks(page: Page) -> list[Block]:
    return [block for section in page.sections for block in section.blocks]


def _has_plots(blocks: Sequence[Block]) -> bool:
    return any(
        isinstance(block, Plot) or (isinstance(block, Folded) and _has_plots(block.blocks))
        for block in blocks
    )


@cache
def _environment() -> Environment:
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("autofinity.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        # Unprintable characters, such as those that reorder text, are shown as escapes.
        finalize=lambda value: one_line(value) if type(value) is str else value,
    )
    environment.filters["figure"] = _figure
    environment.filters["svg"] = _trusted
    return environment


def _shipped(environment: Environment, name: str) -> str:
    assert environment.loader is not None
    return environment.loader.get_source(environment, name)[0]


def _figure(figure: Figure) -> Markup:
    """JSON in which nothing can end the element that it stands in; a gap is null."""
    text = json.dumps(_without_nan(figure), allow_nan=False, separators=(",", ":"))
    return _trusted(text.replace("<", r"\u003c").replace(">", r"\u003e").replace("&", r"\u0026"))


def _without_nan(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _without_nan(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nan(part) for part in value]
    return value


def _trusted(text: str) -> Markup:
    from markupsafe import Markup

    return Markup(text)


def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
