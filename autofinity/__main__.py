"""`python -m autofinity`, and the console script beside the launcher."""

import signal


def main() -> None:
    """Run the command line."""
    # During the import Ctrl-C ends this process as any program, without a traceback of an import.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from autofinity.cli.main import main as command_line

    command_line()


if __name__ == "__main__":
    main()
