"""The one place where errors become a line on stderr and an exit code."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable

import click

from autofinity.cli.closed_streams import stand_in_for_closed_streams
from autofinity.cli.fault_report import keep_report
from autofinity.cli.interruption import Interruption
from autofinity.cli.printer import complain, say
from autofinity.foreign_text import one_line
from autofinity.model.errors import AutofinityError

FAULT = 70
"""The exit code of a fault of ours (sysexits.h: EX_SOFTWARE)."""

_HELP = getattr(click.exceptions, "NoArgsIsHelpError", ())
"""What click 8.2 and later raises to show a page of help: lines of our own."""


class ReaderGoneError(Exception):
    """The reader of our output went away (`autofinity hints … | head`): no error of ours."""


def reported(action: Callable[[], object]) -> None:
    """Do it; every error becomes one line and `sys.exit` with its code. A fault of ours says where
    its report is kept.

    A command that was interrupted ends by the signal that did it, whatever it made of that.
    """
    stand_in_for_closed_streams()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # who cannot read a box or a dash sees a `?`
    interruption = Interruption()
    interruption.listen()
    try:
        action()
    except click.exceptions.Exit as done:
        sys.exit(done.exit_code)
    except click.ClickException as error:
        shown = io.StringIO()
        error.show(shown)
        text = shown.getvalue()
        if not isinstance(error, _HELP):  # no argument in it begins a line
            text = text.replace(error.message, one_line(error.message))
        say(text, err=True, newline=False)
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        complain("interrupted; what was recorded is kept")
        interruption.end()
    except (ReaderGoneError, BrokenPipeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
    except AutofinityError as error:
        complain(str(error))
        sys.exit(error.exit_code)
    except (MemoryError, RecursionError) as error:
        # Input files are bounded where they are read; this is the net below that.
        complain(f"the input is too large or too deeply nested for this machine ({error!r})")
        sys.exit(1)
    except OSError as error:
        complain(f"{error.strerror or error}" + (f": {error.filename}" if error.filename else ""))
        sys.exit(1)
    except Exception as error:
        complain(keep_report(error))
        sys.exit(FAULT)
