"""Names for an option that may be repeated and takes lists: `-p cg,lu -p mg`."""

from __future__ import annotations

import click


def several_names(
    context: click.Context, option: click.Parameter, texts: tuple[str, ...]
) -> tuple[str, ...]:
    """Every name once, in the order given. Callback of an option that is `multiple`."""
    names = [name.strip() for text in texts for name in text.split(",")]
    if not all(names):
        raise click.BadParameter(
            f"got {','.join(texts)!r}; expected names with a comma between two, none left empty",
            context,
            option,
        )
    return tuple(dict.fromkeys(names))
