"""The Debian package, installed by apt in a new Debian 13: `make test-debian` builds and tests it.

Without a request they skip: a Debian is fetched, and takes minutes.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from debian_chroot import Debian


def _missing() -> str:
    """Why these tests cannot run; empty: they can."""
    if "AUTOFINITY_DEBIAN" not in os.environ:
        return "tests of the Debian package: `make test-debian`"
    if os.geteuid() != 0:
        return "a Debian is made by root"
    lacking = [name for name in ("debootstrap", "unshare", "chroot") if shutil.which(name) is None]
    return f"no {', '.join(lacking)}" if lacking else ""


@pytest.fixture(scope="session")
def package() -> Path:
    """The package that `make debian` wrote."""
    if missing := _missing():
        pytest.skip(missing)
    folder = Path(os.environ["AUTOFINITY_DEBIAN"]).absolute()
    found = sorted(folder.glob("autofinity_*.deb"))
    assert len(found) == 1, (
        f"{folder} has {len(found)} files autofinity_*.deb; `make debian` makes one"
    )
    return found[0]


@pytest.fixture(scope="session")
def debian(package: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Debian]:
    """A new Debian with the package and what it depends on, nothing recommended.

    AUTOFINITY_DEBIAN_ROOT may name a Debian 13 to copy, which is quicker than to fetch one.
    """
    there = Debian(tmp_path_factory.mktemp("debian") / "root")
    ready = os.environ.get("AUTOFINITY_DEBIAN_ROOT")
    make = ["debootstrap", "--variant=minbase", "trixie", there.root]
    copy = ["cp", "-a", "--one-file-system", str(ready), there.root]
    try:
        made = subprocess.run(copy if ready else make, capture_output=True, text=True)
        assert made.returncode == 0, made.stdout[-2000:] + made.stderr
        shutil.copy(package, there.root / "autofinity.deb")
        there.run("apt-get", "update", "-qq")
        there.run("apt-get", "install", "-qq", "-y", "--no-install-recommends", "/autofinity.deb")
        (there.root / "autofinity.deb").unlink()
        yield there
    finally:
        shutil.rmtree(there.root, ignore_errors=True)
