"""A folder of traces where one trace is expected: `autofinity capture -o traces` makes both."""

from __future__ import annotations

from pathlib import Path

from autofinity.foreign_text import one_line
from autofinity.model.errors import TraceError

_INDEX = "index.aft"
_MOST_NAMES = 5


def refuse_folder_of_traces(given: Path) -> None:
    """Raise `TraceError`, which names them, where folders in `given` are traces and it is none."""
    try:
        if (given / _INDEX).exists():
            return
        names = sorted(each.name for each in given.iterdir() if (each / _INDEX).is_file())
    except OSError:  # no folder, or one that cannot be read
        return
    if not names:
        return
    first = one_line(str(given / names[0]))
    listed = ", ".join(map(one_line, names[:_MOST_NAMES]))
    if len(names) > _MOST_NAMES:
        listed += f" and {len(names) - _MOST_NAMES} more"
    many = "s" * (len(names) > 1)
    raise TraceError(
        f"{one_line(str(given))} is no trace, but holds the trace{many} {listed}; expected a "
        f"trace, such as {first}"
    )
