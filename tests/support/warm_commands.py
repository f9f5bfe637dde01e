"""Commands of this package without the seconds in which each of them would import the libraries of
others: `warm_server.py` has them, and forks.

A command gets streams, an environment and a folder as from `subprocess.run`, imports all of the
package, and ends like any other. Two servers take turns, as the order of sets differs between them:
what two commands in a row agree on does not hang on it. Claims on how a process starts (what it
imports, signals, closed streams, variables of the interpreter) need `python -m autofinity` itself.
"""

from __future__ import annotations

import atexit
import itertools
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from warm_server import NUMBER

_SERVER = Path(__file__).with_name("warm_server.py")
_SERVERS = 2


def run_warm(
    words: Sequence[str | Path],
    *,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    timeout_s: float = 600,
) -> subprocess.CompletedProcess[str]:
    """Run the command with these words to its end. Raises `subprocess.TimeoutExpired`."""
    arguments = [os.fspath(word) for word in words]
    environment = dict(os.environ if env is None else env)
    assert _of_interpreters(environment) == _of_interpreters(os.environ), "too late for a variable"
    asked = {
        "words": arguments,
        "environment": environment,
        "folder": os.fspath(cwd or Path.cwd()),
    }
    (out, out_end), (err, err_end) = os.pipe(), os.pipe()
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs:
        ends = [out_end, err_end, theirs.fileno()]
        try:
            socket.send_fds(next(_turns), [json.dumps(asked).encode()], ends)
        finally:
            os.close(out_end)
            os.close(err_end)
        theirs.close()
        child = _number(ours)
        end = time.monotonic() + timeout_s
        try:
            said = _read([out, err], end)
            ours.settimeout(max(0.0, end - time.monotonic()))
            code = _number(ours)
        except TimeoutError as error:
            os.kill(child, signal.SIGKILL)
            raise subprocess.TimeoutExpired(arguments, timeout_s) from error
        finally:
            os.close(out)
            os.close(err)
    texts = [part.decode().replace("\r\n", "\n") for part in said]
    return subprocess.CompletedProcess(arguments, code, *texts)


def _of_interpreters(environment: Mapping[str, str]) -> dict[str, str]:
    read_at_start = ("PYTHON", "LC_", "LANG", "LD_")
    return {name: value for name, value in environment.items() if name.startswith(read_at_start)}


def _read(pipes: list[int], end: float) -> list[bytearray]:
    said = {pipe: bytearray() for pipe in pipes}
    with selectors.DefaultSelector() as ready:
        for pipe in pipes:
            ready.register(pipe, selectors.EVENT_READ)
        while ready.get_map():
            found = ready.select(max(0.0, end - time.monotonic()))
            if not found:
                raise TimeoutError
            for key, _ in found:
                part = os.read(key.fd, 65536)
                said[key.fd] += part
                if not part:
                    ready.unregister(key.fd)
    return list(said.values())


def _number(told: socket.socket) -> int:
    packet = told.recv(NUMBER.size)
    assert packet, "the server of commands has ended"
    number: int = NUMBER.unpack(packet)[0]
    return number


def _servers() -> Iterator[socket.socket]:
    started = []
    for _ in range(_SERVERS):
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            server = subprocess.Popen(
                [sys.executable, "-P", _SERVER, str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                # Pipes, as those of commands: Python's objects for them remain.
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
        atexit.register(_ended, ours, server)
        started.append(ours)
        yield ours
    yield from itertools.cycle(started)


def _ended(control: socket.socket, server: subprocess.Popen[bytes]) -> None:
    control.close()
    server.communicate()


_turns = _servers()
