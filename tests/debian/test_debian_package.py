"""The Debian package, as users install it by `apt-get install ./autofinity_*.deb`."""

from __future__ import annotations

import gzip

import pytest
from debian_chroot import Debian

from autofinity.cli.completion import scripts

SHARE = "usr/share"


@pytest.mark.parametrize(
    "words",
    [
        ("doctor",),
        ("hints",),
        ("topology", "--machine", "opteron-6164he"),
        ("show", "any-machine"),
    ],
    ids=lambda words: words[0],
)
def test_commands_work_with_what_the_package_depends_on(
    debian: Debian, words: tuple[str, ...]
) -> None:
    assert debian.run("autofinity", *words).stdout


def test_a_program_runs_under_the_shipped_policy(debian: Debian) -> None:
    done = debian.run("autofinity", "run", "--", "sh", "-c", "sleep 0.3; exit 7", code=7)
    assert done.stdout == ""
    assert "no monitor" not in done.stderr
    assert debian.run("autofinity", "run", "--", "true").stdout == ""


def test_the_extension_is_imported_from_the_system(debian: Debian) -> None:
    code = "import autofinity as af; from autofinity import _core; print(_core.__file__)"
    assert debian.run("python3", "-c", code).stdout.startswith("/usr/lib/python3/dist-packages/")


def test_a_command_that_needs_what_debian_lacks_names_it(debian: Debian) -> None:
    refused = debian.run("autofinity", "evaluate", "--machine", "xeon-e5-2650", code=1)
    assert "pyarrow" in refused.stderr or "sklearn" in refused.stderr


def test_manual_pages_and_completion_are_where_shells_and_man_look(debian: Debian) -> None:
    for name in ("autofinity", "autofinity-run", "autofinity-doctor"):
        page = debian.root / SHARE / f"man/man1/{name}.1.gz"
        assert gzip.decompress(page.read_bytes()).startswith(f".TH {name.upper()} 1 ".encode())
    for place, script in scripts().items():
        here = place.replace("zsh/site-functions", "zsh/vendor-completions")
        assert (debian.root / SHARE / here).read_text() == script


def test_the_package_asks_for_the_very_python_of_its_extension(debian: Debian) -> None:
    asked = debian.run("dpkg-query", "-W", "-f", "${Depends}", "autofinity").stdout
    own = debian.run("python3", "-c", "import sys; print('%d.%d' % sys.version_info[:2])")
    version = own.stdout.strip()
    assert f"python3 (>= {version}~)" in asked
    major, minor = version.split(".")
    assert f"python3 (<< {major}.{int(minor) + 1})" in asked


def test_removing_the_package_leaves_nothing(debian: Debian) -> None:
    assert debian.named("autofinity")
    debian.run("apt-get", "purge", "-qq", "-y", "autofinity")
    assert {name for name in debian.named("autofinity") if not name.startswith("/var/log")} == set()
