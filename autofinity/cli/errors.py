"""The one place where errors become a line on stderr and an exit code."""

from __future__ import annotations

import errno
import io
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import NoReturn

import click

from autofinity.cli.closed_streams import stand_in_for_closed_streams
from autofinity.cli.fault_report import keep_report
from autofinity.cli.interruption import Interruption
from autofinity.cli.last_output import flush_output
from autofinity.cli.printer import complain, say
from autofinity.foreign_text import one_line
from autofinity.model.errors import AutofinityError

FAULT = 70
"""The exit code of a fault of ours (sysexits.h: EX_SOFTWARE)."""
_UNWRITTEN = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)
"""Without a file's name: of a standard stream."""
_READER_GONE = 141
"""As a shell says of a program that SIGPIPE ended."""

_HELP = getattr(click.exceptions, "NoArgsIsHelpError", ())
"""Raised by click 8.2 and later to show a page of help: lines of our own."""


class ReaderGoneError(Exception):
    """The reader of our output went away (`autofinity hints … | head`): no error of ours."""


def reported(action: Callable[[], object], interruption: Interruption | None = None) -> NoReturn:
    """Do it; every error becomes one line and `sys.exit` with its code. A fault of ours says where
    its report is kept.

    Remaining output is written here, once: lost output is one line, too, and exit code 1 where
    nothing else went wrong. A command that was interrupted ends by the signal that did it, whatever
    it made of that.
    """
    stand_in_for_closed_streams()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # who cannot read a box or a dash sees a `?`
    interruption = interruption or Interruption()
    try:
        code, said = _outcome(action, interruption)
        interruption.stop_listening()
    except KeyboardInterrupt:  # after the work
        interruption.end()
    lost = flush_output()
    if isinstance(lost, BrokenPipeError):
        sys.exit(code or _READER_GONE)
    if lost is not None:
        code, said = code or 1, _lost(lost)
    if said:
        complain(said)
        flush_output()  # stderr may be full as well
    sys.exit(code)


def _lost(error: OSError) -> str:
    why = "standard output is closed" if error.errno == errno.EBADF else error.strerror
    return f"the output could not be written: {why}"


def _outcome(action: Callable[[], object], interruption: Interruption) -> tuple[int, str]:
    """Do it: its exit code, and what is to be said of an error."""
    try:
        interruption.listen()
        action()
    except click.exceptions.Exit as done:
        return done.exit_code, ""
    except SystemExit as done:
        return done.code if isinstance(done.code, int) else int(done.code is not None), ""
    except click.ClickException as error:
        shown = io.StringIO()
        error.show(shown)
        text = shown.getvalue()
        if not isinstance(error, _HELP):  # no argument in it begins a line
            text = text.replace(error.message, one_line(error.message))
        with suppress(OSError):
            say(text, err=True, newline=False)
        return error.exit_code, ""
    except (click.Abort, KeyboardInterrupt):
        complain(interruption.said)
        interruption.end()
    except (ReaderGoneError, BrokenPipeError):
        return _READER_GONE, ""
    except AutofinityError as error:
        return error.exit_code, str(error)
    except (MemoryError, RecursionError) as error:
        # Input files are bounded where they are read; this is the net below that.
        return 1, f"the input is too large or too deeply nested for this machine ({error!r})"
    except OSError as error:
        if error.filename is None and error.errno in _UNWRITTEN:
            return 1, _lost(error)
        return 1, f"{error.strerror or error}" + (f": {error.filename}" if error.filename else "")
    except Exception as error:
        if interruption.caused(error):
            complain(interruption.said)
            interruption.end()
        if missing := _missing_package(error):
            return 1, (
                f"the Python package {missing}, which this command uses, is not installed; install "
                f"it for {sys.executable}, with pip or as packages of your system"
            )
        return FAULT, keep_report(error)
    return 0, ""


def _missing_package(error: Exception) -> str:
    """The package of others that an import did not find; empty where it is none of theirs.

    A system's package of autofinity may leave out what its users seldom need.
    """
    name = (error.name or "") if isinstance(error, ModuleNotFoundError) else ""
    package = name.partition(".")[0]
    return "" if package == "autofinity" or package in sys.stdlib_module_names else package
