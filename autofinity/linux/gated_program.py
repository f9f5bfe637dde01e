"""Started by `gated_start` as a process of its own: waits at a pipe, then becomes the program.

    own_python.py autofinity.linux.gated_program DESCRIPTOR PROGRAM ARGUMENTS...

So no process of ours that has threads is forked. This module imports nothing of the package. It
ends with 126 or 127 when the program cannot be run, as a shell does. When the pipe is closed
without a byte, it ends without running anything.
"""

from __future__ import annotations

import os
import signal
import sys


def main(gate: int, argv: list[str]) -> int:
    """Become the program; return an exit code only when that failed."""
    if not os.read(gate, 1):
        return 126
    os.close(gate)
    for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execvp(argv[0], argv)
    except FileNotFoundError:
        return _refused(argv[0], "not found", 127)
    except OSError as error:
        return _refused(argv[0], str(error.strerror), 126)


def _refused(name: str, why: str, code: int) -> int:
    plain = "".join(char if char.isprintable() else "?" for char in name)
    os.write(2, f"autofinity: cannot run {plain}: {why}\n".encode())
    return code


if __name__ == "__main__":
    os._exit(main(int(sys.argv[1]), sys.argv[2:]))
