"""Boxes within boxes: sizes first, coordinates when they are drawn. Pixels throughout."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

LETTER = 6.3
"""Width of a letter of 11 pixels, on average."""

type Drawn = Callable[[int, int], list[str]]
"""Left and top → elements of SVG."""


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle of a picture."""

    width: int
    height: int
    drawn: Drawn
    stretched: Callable[[int], Drawn] | None = None
    """The same box with another height; None: it keeps its height."""

    def at_least(self, width: int) -> Box:
        """The box with room for `width`."""
        return Box(max(self.width, width), self.height, self.drawn, self.stretched)

    def framed(self, kind: str, pad: int, top: int, radius: int, head: str = "") -> Box:
        """The box in a frame of class `kind`, `pad` wide and `top` high above, with a heading."""
        width, height = self.width + 2 * pad, self.height + top + pad

        def of_height(high: int) -> Drawn:
            def drawn(x: int, y: int) -> list[str]:
                frame = (
                    f'<rect class="{kind}" x="{x}" y="{y}" width="{width}" height="{high}" '
                    f'rx="{radius}"/>'
                )
                text = f'<text x="{x + pad}" y="{y + 12}">{escape(head)}</text>' if head else ""
                return [frame + text, *self.drawn(x + pad, y + top)]

            return drawn

        return Box(width, height, of_height(height), of_height)


def flowed(children: Sequence[Box], limit: int, gap: int) -> Box:
    """The boxes from left to right in rows at most `limit` wide, `gap` apart; boxes of a row are
    equally high, and rows are equally full where boxes are alike.
    """
    rows = _rows(children, limit, gap)
    width = max(sum(box.width + gap for box in row) - gap for row in rows)
    heights = [max(box.height for box in row) for row in rows]

    def drawn(x: int, y: int) -> list[str]:
        parts: list[str] = []
        for row, height in zip(rows, heights, strict=True):
            left = x
            for box in row:
                draw = box.stretched(height) if box.stretched else box.drawn
                parts += draw(left, y)
                left += box.width + gap
            y += height + gap
        return parts

    return Box(width, sum(heights) + gap * (len(rows) - 1), drawn)


def stacked(boxes: Sequence[Box], gap: int) -> Box:
    """The boxes below each other, `gap` apart."""

    def drawn(x: int, y: int) -> list[str]:
        parts: list[str] = []
        for box in boxes:
            parts += box.drawn(x, y)
            y += box.height + gap
        return parts

    height = sum(box.height + gap for box in boxes) - gap
    return Box(max(box.width for box in boxes), height, drawn)


def _rows(children: Sequence[Box], limit: int, gap: int) -> list[list[Box]]:
    widest = max(box.width for box in children)
    most = max(1, (limit + gap) // (widest + gap))
    count = -(-len(children) // most)
    in_a_row = -(-len(children) // count)
    return [list(children[at : at + in_a_row]) for at in range(0, len(children), in_a_row)]
