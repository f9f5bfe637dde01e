"""A Debian in a folder, to install packages in."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

_INSIDE = 'mount -t proc proc "$0/proc"; exec chroot "$0" "$@"'


@dataclass(frozen=True)
class Debian:
    """A Debian below a folder of this machine."""

    root: Path

    def run(self, *command: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        """Run a command there, as root. Raises AssertionError unless it ends with `code`.

        The last process to end unmounts the mounts that the command needs.
        """
        environment = {
            "DEBIAN_FRONTEND": "noninteractive",
            "HOME": "/root",
            "LC_ALL": "C.UTF-8",
            "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
        }
        apart = ("unshare", "--mount", "--pid", "--fork", "--kill-child")
        done = subprocess.run(
            [*apart, "sh", "-euc", _INSIDE, str(self.root), *command],
            env=environment,
            capture_output=True,
            text=True,
            timeout=900,
        )
        assert done.returncode == code, done.stdout + done.stderr
        assert "Traceback" not in done.stderr
        return done

    def named(self, part: str) -> set[str]:
        """Files and folders whose path contains a text, but those of the user."""
        found = self.run("find", "/", "-xdev", "-path", "/root", "-prune", "-o", "-print")
        return {line for line in found.stdout.splitlines() if part in line}
