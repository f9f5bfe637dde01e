"""The monitor: watches a program that the launcher started, and places its threads.

    launcher ─► (native half: detached, counters open, 150 ms old) ─► this, by `python -m`

The monitor gets everything by arguments, holds no descriptor of the program, prints nothing, and
ends with the program. An error in the monitor ends the watching, never the program: masks are valid
at every instant, and rows are written as they arise.
"""

from __future__ import annotations

import os
import sys

from autofinity.model.errors import AutofinityError
from autofinity.runtime.request import Request
from autofinity.runtime.surroundings import Make
from autofinity.runtime.watching import watch


def main(make: Make) -> None:
    """Watch by what `make` gives, and exit. Exit code 1: nothing was watched."""
    try:
        request = Request.parse(sys.argv[1:])
        watch(request, make)
        if request.db is not None and (request.site or request.auto_rebuild):
            os.closerange(3, 256)  # descriptors of the program that has ended
            # Loaded only now: memory of the monitor is the program's while that runs.
            if request.site:
                from autofinity.runtime.sending import start_sending

                start_sending(request.db, request.site)
            if request.auto_rebuild:
                from autofinity.runtime.rebuilding import start_rebuild_if_due

                start_rebuild_if_due(request.db)
    except (AutofinityError, OSError, ValueError, KeyError):
        # Nobody can be notified: no terminal, no log of ours, and a program that must not notice.
        os._exit(1)
    os._exit(0)  # nothing is buffered; the interpreter's teardown would only take time


if __name__ == "__main__":
    from autofinity.runtime.by_policy import by_policy

    main(by_policy)
