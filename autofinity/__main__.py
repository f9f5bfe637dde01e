"""`python -m autofinity`, and the console script beside the launcher."""

import os
import signal

_HELD = "AUTOFINITY_SIGINT"
"""Set by the launcher where it has blocked SIGINT."""


def main() -> None:
    """Run the command line."""
    # During the import Ctrl-C ends this process as any program, without a traceback of an import.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    if os.environ.pop(_HELD, None):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    from autofinity.cli.main import main as command_line

    command_line()


if __name__ == "__main__":
    main()
