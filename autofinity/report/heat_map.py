"""A sharing matrix as a heat map: in the terminal, and as an SVG. The darker, the more."""

from __future__ import annotations

from html import escape

from autofinity.foreign_text import one_line
from autofinity.model.sharing import SharingMatrix
from autofinity.model.sharing_metrics import normalised

_SHADES = " ░▒▓█"
_CELL = 14
_MARGIN = 36
_LETTER = 6.0
"""Width of a letter of the title, at most on average."""


def heat_lines(matrix: SharingMatrix) -> list[str]:
    """Lines with one row for each thread and two characters for each cell; the numbers of every
    fourth thread are above.
    """
    label = len(str(max(0, matrix.threads - 1)))
    ruler = "".join(
        f"{thread:<8}" for thread in range(0, matrix.threads, 4) if thread < matrix.threads
    )
    lines = [f"{' ' * label}  {ruler}".rstrip()]
    for thread, row in enumerate(normalised(matrix).cells):
        cells = "".join(_shade(share) * 2 for share in row)
        lines.append(f"{thread:>{label}} │{cells}│")
    return lines


def heat_svg(matrix: SharingMatrix, title: str) -> str:
    """The same map as an SVG; every cell has its amount as a tooltip."""
    side = matrix.threads * _CELL
    size = side + 2 * _MARGIN
    width = max(size, 2 * _MARGIN + round(len(one_line(title)) * _LETTER))
    named = escape(one_line(title))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{size}" '
        f'viewBox="0 0 {width} {size}" font-family="sans-serif" font-size="10">',
        f"<title>{named}</title>",
        f'<text x="{_MARGIN}" y="14">{named}</text>',
    ]
    for i, row in enumerate(normalised(matrix).cells):
        y = _MARGIN + i * _CELL
        for j, share in enumerate(row):
            gray = round(255 * (1 - share))
            parts.append(
                f'<rect x="{_MARGIN + j * _CELL}" y="{y}" width="{_CELL}" height="{_CELL}" '
                f'fill="rgb({gray},{gray},{gray})"><title>{i}, {j}: {matrix.cells[i][j]:g}'
                "</title></rect>"
            )
        if i % 4 == 0:
            parts += [
                f'<text x="{_MARGIN - 4}" y="{y + _CELL - 4}" text-anchor="end">{i}</text>',
                f'<text x="{_MARGIN + i * _CELL}" y="{_MARGIN + side + 12}">{i}</text>',
            ]
    parts += [
        f'<rect x="{_MARGIN}" y="{_MARGIN}" width="{side}" height="{side}" fill="none" '
        'stroke="black"/>',
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _shade(share: float) -> str:
    """Shade of a cell; any sharing above 0 is visible."""
    step = round(share * (len(_SHADES) - 1))
    return _SHADES[max(step, 1) if share > 0 else 0]
