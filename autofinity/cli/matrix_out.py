"""Where a command's sharing matrix goes: a picture, a file that `autofinity map` reads, JSON."""

from __future__ import annotations

from pathlib import Path

from autofinity.model.errors import UsageError
from autofinity.model.sharing import SharingMatrix
from autofinity.whole_file import replace_file


def check_matrix_out(out: Path | None) -> None:
    """Raise `UsageError` for a name that no matrix can be kept under."""
    if out is not None and out.suffix not in {".svg", ".csv"}:
        raise UsageError(f"{out}: expected a name that ends in .svg or .csv")


def heterogeneities(sharing: SharingMatrix) -> dict[str, object]:
    """For JSON: by equation 1 of kMAF'14, and the same off the diagonal."""
    from autofinity.model.sharing_metrics import (
        heterogeneity,
        heterogeneity_off_diagonal,
        normalised,
    )

    matrix = normalised(sharing)
    return {
        "heterogeneity": heterogeneity(matrix),
        "heterogeneity_off_diagonal": heterogeneity_off_diagonal(matrix),
    }


def save_matrix(sharing: SharingMatrix, title: str, out: Path | None) -> None:
    """Draw the matrix (.svg) or write its numbers (.csv); nothing without a name."""
    if out is None:
        return
    if out.suffix == ".csv":
        from autofinity.mapping.matrix_file import write_matrix

        write_matrix(sharing, out)
        return
    from autofinity.report.heat_map import heat_svg

    replace_file(out, heat_svg(sharing, title), durable=False)
