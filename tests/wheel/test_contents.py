"""Content of the wheel and the sdist: binaries that the tag is true for, licences, sources."""

from __future__ import annotations

import email
import re
import shutil
import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
VERSION = re.compile(rb"\0GLIBC_(\d+)\.(\d+)(?:\.\d+)?(?=\0)")
SYSTEM = {"libc.so.6", "libm.so.6", "libstdc++.so.6", "libgcc_s.so.1"}
"""Libraries that every manylinux system has."""


def test_every_binary_runs_with_the_glibc_that_the_tag_names(wheel: Path) -> None:
    tag = re.search(r"manylinux_(\d+)_(\d+)_", wheel.name)
    assert tag is not None
    named = tuple(map(int, tag.groups()))
    asked = {}
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            binary = archive.read(name)
            if binary.startswith(b"\x7fELF"):
                asked[name] = max(tuple(map(int, found)) for found in VERSION.findall(binary))
    assert len(asked) >= 5
    assert any(name.endswith("/scripts/autofinity") for name in asked)
    assert {name: asks for name, asks in asked.items() if asks > named} == {}


def test_binaries_need_libraries_of_the_system_and_their_own(wheel: Path, tmp_path: Path) -> None:
    if shutil.which("readelf") is None:
        pytest.skip("no readelf")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    binaries = [path for path in tmp_path.rglob("*") if path.is_file() and is_elf(path)]
    allowed = SYSTEM | {path.name for path in binaries}
    for path in binaries:
        text = subprocess.run(["readelf", "-d", path], capture_output=True, text=True).stdout
        needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", text))
        loader = {name for name in needed if name.startswith("ld-linux")}
        assert needed - loader <= allowed, path


def is_elf(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def test_the_wheel_has_the_licence_of_every_part(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (metadata,) = (name for name in names if name.endswith(".dist-info/METADATA"))
        fields = email.message_from_bytes(archive.read(metadata))
        held = [
            archive.read(metadata.replace("METADATA", f"licenses/{file}")).decode()
            for file in fields.get_all("License-File", [])
        ]
        beside = archive.read("autofinity/lib/qemu/COPYING").decode()
    assert fields["License-Expression"] == (
        "Apache-2.0 AND GPL-2.0-or-later AND BSD-3-Clause AND MIT"
    )
    for words in (
        "Apache License",
        "GNU GENERAL PUBLIC LICENSE",
        "Wenzel Jakob",
        "Thibaut Goetghebuer-Planchon",
    ):
        assert any(words in text for text in held), words
    assert beside in held


def test_the_wheel_has_the_source_of_the_plugin_under_the_gpl_and_no_other(
    wheel: Path, tmp_path: Path
) -> None:
    with zipfile.ZipFile(wheel) as archive:
        below = re.compile(r"autofinity/native/.*[^/]")
        native = [name for name in archive.namelist() if below.fullmatch(name)]
        archive.extractall(tmp_path, native)
    assert {Path(name).parts[2] for name in native} == {"capture", "qemu_plugin", "trace"}
    if shutil.which("cmake") is None or shutil.which("cc") is None:
        pytest.skip("no cmake or no C compiler to build the plugin with")
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.24)\nproject(plugin LANGUAGES C)\n"
        "add_subdirectory(autofinity/native/qemu_plugin)\n"
    )
    for words in (["-S", ".", "-B", "build"], ["--build", "build"]):
        done = subprocess.run(["cmake", *words], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    assert list(tmp_path.glob("build/**/autofinity-qemu.so"))


def test_the_sdist_has_every_file_of_the_repository_and_no_other(sdist: Path) -> None:
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("no git repository to compare with")
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    own = {name for name in listed.stdout.splitlines() if not name.startswith(".ci/")}
    links = {name for name in own if (ROOT / name).is_symlink() and (ROOT / name).is_dir()}
    with tarfile.open(sdist) as archive:
        held = {member.name.split("/", 1)[1] for member in archive if not member.isdir()}
    behind = {name for name in held if any(name.startswith(f"{link}/") for link in links)}
    assert held - behind - {"PKG-INFO"} == own - links
