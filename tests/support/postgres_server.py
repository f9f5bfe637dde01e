"""A PostgreSQL server of this test alone, from the system's packages, in a temporary folder.

The server runs as an ordinary user (root starts it as `nobody`), listens on a Unix socket and on a
loopback port, and is stopped by its pid.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psycopg
import pytest

ADMIN = "admin"
_START_S = 60


def binaries() -> Path:
    """Folder of the server's programs; skips the test, with the reason, where there are none."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda f: f.parent.name)
    found = shutil.which("postgres")
    folders += [Path(found).resolve().parent] if found else []
    for folder in reversed(folders):
        if (folder / "initdb").exists() and (folder / "postgres").exists():
            return folder
    pytest.skip("no PostgreSQL server here (Debian: apt install postgresql)")


class Server:
    """A server whose data lie in `folder`."""

    def __init__(self, folder: Path, *settings: str) -> None:
        self._bin = binaries()
        self.folder = folder
        self._settings = settings
        self._process: subprocess.Popen[bytes] | None = None
        self._user = "nobody" if os.geteuid() == 0 else pwd.getpwuid(os.geteuid()).pw_name
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]

    def make(self) -> None:
        """Make the data folder. Connections by the socket need no password, by the port they do."""
        if os.geteuid() == 0:
            shutil.chown(self.folder, self._user)
        words = ["initdb", "-D", self.data, "-U", ADMIN, "-E", "UTF8", "--locale=C.UTF-8"]
        self._call(*words, "--no-sync", "--auth-local=trust", "--auth-host=scram-sha-256")

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def start(self) -> None:
        """Start the server and wait until it answers; a killed one must let go of its memory."""
        give_up = time.monotonic() + _START_S
        while True:
            with (self.folder / "log").open("ab") as log:
                self._process = subprocess.Popen(
                    [
                        self._bin / "postgres",
                        *("-D", self.data, "-k", self.folder, "-p", str(self.port)),
                        *("-c", "listen_addresses=127.0.0.1", "-c", "shared_buffers=16MB"),
                        *(word for setting in self._settings for word in ("-c", setting)),
                    ],
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                    cwd="/",
                    **self._as_user(),
                )
            while self._process.poll() is None:
                with suppress(psycopg.OperationalError):
                    self.admin().close()
                    return
                assert time.monotonic() < give_up, (self.folder / "log").read_text()
                time.sleep(0.05)
            assert time.monotonic() < give_up, (self.folder / "log").read_text()
            time.sleep(0.1)

    def kill(self) -> None:
        """Kill the server and all its processes at once, as a loss of power does."""
        assert self._process is not None
        os.kill(self._process.pid, signal.SIGSTOP)  # it starts no more
        for child in _children(self._process.pid):
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        self._process.kill()
        self._process.wait()

    def hang(self, stopped: bool) -> None:
        """Stop all processes of the server, or let them go on."""
        assert self._process is not None
        for pid in (self._process.pid, *_children(self._process.pid)):
            with suppress(ProcessLookupError):  # a worker of the server that has just ended
                os.kill(pid, signal.SIGSTOP if stopped else signal.SIGCONT)

    @property
    def alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def stop(self) -> None:
        """Stop the server quickly."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGQUIT)
            self._process.wait(timeout=600)

    def url(self, role: str = ADMIN, database: str = "postgres") -> str:
        """URL by the socket, without a password."""
        return f"postgresql://{role}@:{self.port}/{database}?host={self.folder}"

    def tcp_url(self, role: str, password: str, database: str = "postgres") -> str:
        """URL by the loopback port, with a password."""
        return f"postgresql://{role}:{password}@127.0.0.1:{self.port}/{database}"

    def admin(self, database: str = "postgres") -> psycopg.Connection[Any]:
        """A connection as the one who may do all."""
        return psycopg.connect(self.url(database=database), autocommit=True, connect_timeout=5)

    def _call(self, *words: str | Path) -> None:
        done = subprocess.run(
            [self._bin / words[0], *words[1:]], capture_output=True, cwd="/", **self._as_user()
        )
        assert done.returncode == 0, done.stderr

    def _as_user(self) -> dict[str, Any]:
        env = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
        if os.geteuid() != 0:
            return {"env": env}
        user = pwd.getpwnam(self._user)
        return {"env": env, "user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


@contextmanager
def running(*settings: str, folder: Path | None = None) -> Iterator[Server]:
    """A server in a folder of its own, or in this one, stopped at the end."""
    binaries()
    place = folder or Path(tempfile.mkdtemp(prefix="autofinity-pg-"))
    place.chmod(0o755)
    server = Server(place, *settings)
    try:
        server.make()
        server.start()
        yield server
    finally:
        server.stop()
        if folder is None:
            shutil.rmtree(place)


def _children(parent: int) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        with suppress(OSError, ValueError, IndexError):
            stat = (entry / "stat").read_text()
            if int(stat[stat.rindex(")") + 2 :].split()[1]) == parent:
                found.append(int(entry.name))
    return found
