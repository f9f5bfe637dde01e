"""A process that has imported large libraries and starts commands of this package by forking.

usage: warm_server.py FD

FD is a socket of sequenced packets. Each packet is a request: as JSON the words, the environment
and the folder of a command, and with it three descriptors: stdout, stderr, and a socket that gets
the command's number and then its exit status. Only libraries of others are imported beforehand; the
package imports its own modules in each command, as always.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import runpy
import signal
import socket
import struct
import sys
import warnings
from contextlib import suppress

LIBRARIES = (
    "click",
    "numpy",
    "pandas",
    "pyarrow.compute",
    "pyarrow.parquet",
    "rich.console",
    "sklearn.model_selection",
    "sklearn.utils.multiclass",
)
_LARGEST = 1 << 20
NUMBER = struct.Struct("=q")


def serve(control: socket.socket) -> list[str]:
    """Starts what is asked for until nobody can ask any more; returns in each command, with its
    words.
    """
    while True:
        request, descriptors, _, _ = socket.recv_fds(control, _LARGEST, 3)
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG if request else 0)[0]:
                pass
        if not request:
            sys.exit()
        if not _fork():
            control.close()
            return _command(json.loads(request), *descriptors)
        for each in descriptors:
            os.close(each)


def _command(asked: dict[str, object], out: int, err: int, answer: int) -> list[str]:
    """Becomes the command in a child; this process reports its end."""
    if child := _fork():
        os.close(out)
        os.close(err)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        told = socket.socket(fileno=answer)
        told.send(NUMBER.pack(child))
        told.send(NUMBER.pack(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])))
        os._exit(0)
    os.dup2(out, 1)
    os.dup2(err, 2)
    os.closerange(3, max(out, err, answer) + 1)
    os.chdir(str(asked["folder"]))
    os.environ.clear()
    os.environ.update(asked["environment"])  # type: ignore[call-overload]
    words = asked["words"]
    assert isinstance(words, list)
    return words


def _fork() -> int:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # a BLAS ends its threads at a fork
        return os.fork()


def main() -> None:
    for name in LIBRARIES:
        with suppress(ImportError):
            importlib.import_module(name)
    gc.freeze()
    try:
        words = serve(socket.socket(fileno=int(sys.argv[1])))
    except KeyboardInterrupt:  # the tests are interrupted
        return
    sys.argv = ["autofinity", *words]
    runpy.run_module("autofinity", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
