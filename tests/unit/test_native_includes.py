"""Native code in layers: what a file includes, and so what it can call, lies beside it or below."""

import re
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

NATIVE = Path(__file__).parents[2] / "autofinity" / "native"
CAPTURE = NATIVE / "capture"
ROOMS = (
    {"core", "trace"},
    {"capture", "detect", "launcher", "learning", "marks", "measure", "topology"},
    {"affinity", "mapping", "qemu_plugin", "sim"},
)
"""A room includes files of its own and of rooms further up in this list."""
CAPTURE_LAYERS = ("state", "pace", "warm", "record", "order", "threads", "process", "interpose")
"""As capture/state/thread.h explains them."""
HOMES = {"threads/instructions.h": ("threads/blocks.c", "threads/plugin_side.c")}
"""Headers of the runtime that each library has a file of its own for."""
GENERATED = {"mechanism_lists.h"}
"""By the build, of tables that are not native code."""


@cache
def includes() -> dict[Path, list[Path]]:
    """For each file of the native code, below NATIVE, those of it that it includes."""
    found = {}
    for path in sorted(NATIVE.rglob("*")):
        if path.suffix in {".c", ".h", ".cpp", ".hpp"}:
            names = re.findall(r'^#include "([^"]+)"', path.read_text(), re.MULTILINE)
            found[path.relative_to(NATIVE)] = [
                resolved(path, name) for name in names if name not in GENERATED
            ]
    return found


def resolved(path: Path, name: str) -> Path:
    for folder in (path.parent, NATIVE):
        if (folder / name).exists():
            return (folder / name).resolve().relative_to(NATIVE)
    raise AssertionError(f"{path} includes {name}, which is not there")


def edges() -> Iterator[tuple[Path, Path]]:
    for path, targets in includes().items():
        for target in targets:
            yield path, target


def test_includes_form_no_cycle() -> None:
    order = list(TopologicalSorter(includes()).static_order())  # raises CycleError
    assert len(order) == len(includes()) > 100


def test_rooms_include_only_rooms_below_them() -> None:
    layer = {room: number for number, rooms in enumerate(ROOMS) for room in rooms}
    assert {path.parts[0] for path in includes()} <= layer.keys(), "a room has no place in ROOMS"
    upwards = [
        f"{path} includes {target}"
        for path, target in edges()
        if path.parts[0] != target.parts[0] and layer[path.parts[0]] <= layer[target.parts[0]]
    ]
    assert upwards == []


def test_the_layers_of_the_capture_runtime_include_only_layers_below_them() -> None:
    layer = {folder: number for number, folder in enumerate(CAPTURE_LAYERS)}
    inside = [(a, b) for a, b in edges() if a.parts[0] == b.parts[0] == "capture"]
    assert len(inside) > 100
    upwards = [
        f"{path} includes {target}"
        for path, target in inside
        if layer[path.parts[1]] < layer[target.parts[1]]
    ]
    assert upwards == []


def shared(header: Path) -> Iterator[str]:
    """Names of what a header declares for other files of the library."""
    text = re.sub(r"//.*|__attribute__.*(?=;)", "", header.read_text())
    for declared in re.findall(r"^(?:extern )?AF_(?:HIDDEN|API) ([^;]*);", text, re.MULTILINE):
        name = re.search(r"(\w+)\s*(?:\[[^]]*\]|\((?:[^()]|\([^()]*\))*\))?$", declared)
        assert name, declared
        yield name[1]


HEADERS = sorted(str(path.relative_to(CAPTURE)) for path in CAPTURE.rglob("*.h"))


@pytest.mark.parametrize("header", HEADERS)
def test_what_a_header_of_the_runtime_declares_is_defined_in_the_file_beside_it(
    header: str,
) -> None:
    for home in HOMES.get(header, (header.removesuffix(".h") + ".c",)):
        for name in shared(CAPTURE / header):
            # Text at the begin of a line there is no statement of a function.
            assert re.search(rf"^\w.*\b{name}\b", (CAPTURE / home).read_text(), re.MULTILINE), name


def test_files_of_the_runtime_reach_others_through_headers_only() -> None:
    for path in CAPTURE.rglob("*.c"):
        declared = re.findall(
            r"^(?:extern|AF_HIDDEN) .*\baf_\w+.*;", path.read_text(), re.MULTILINE
        )
        assert declared == [], path
        header = path.with_suffix(".h")
        if header.exists():  # first: it needs nothing that is not included by itself
            assert includes()[path.relative_to(NATIVE)][0] == header.relative_to(NATIVE)
