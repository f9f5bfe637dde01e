"""Runs hwloc in a child process, so that no machine description can crash the program."""

from __future__ import annotations

import json
import os
import re
import signal
import stat
import subprocess
from math import prod
from pathlib import Path
from typing import Any

from autofinity.linux.machine_tree import RawCache, RawMachine, RawNode, RawPU
from autofinity.model.errors import TopologyError
from autofinity.own_python import own_environment, own_python

TIMEOUT_S = 20.0
LARGEST_FILE_BYTES = 32 << 20
"""Limit for a machine file; the largest recorded machine (384 PUs, with devices) has 0.3 MB."""
MOST_SYNTHETIC_PUS = 1 << 14
"""Limit for synthetic machines: hwloc takes seconds for so many PUs and minutes for much larger
machines."""

_ARITY = re.compile(r":\s*(\d{1,18})")
_ATTRIBUTES = re.compile(r"\([^)]*\)")


def ask_host() -> RawMachine:
    """Ask for the present machine. Raises `TopologyError` when hwloc fails."""
    return _read(_answer("host", "", "this machine"))


def ask_synthetic(text: str) -> RawMachine:
    """A machine of hwloc's synthetic description, for example `pack:4 numa:2 l3:1 core:6 pu:1`.

    Raises `TopologyError`, which names the text and the reason.
    """
    size = prod(map(int, _ARITY.findall(_ATTRIBUTES.sub("", text))))
    if size > MOST_SYNTHETIC_PUS:
        raise TopologyError(
            f"the synthetic description {text!r} has {size} CPUs; expected at most "
            f"{MOST_SYNTHETIC_PUS}"
        )
    return _read(_answer("synthetic", text, f"the synthetic description {text!r}"))


def ask_xml(path: Path) -> RawMachine:
    """A machine from an hwloc XML file. A file that crashes hwloc is tried again with parts left
    out.

    Raises `TopologyError`, which names the file and the reason.
    """
    return _read(_answer_of_file(path, "machine"))


def ask_host_devices() -> list[dict[str, Any]]:
    """I/O devices of the present machine, as from `hwloc_child.devices`.

    Raises `TopologyError` when hwloc fails.
    """
    return _devices(_answer("host", "", "this machine", "devices"))


def ask_xml_devices(path: Path) -> list[dict[str, Any]]:
    """I/O devices that an hwloc XML file records. Raises as `ask_xml`."""
    return _devices(_answer_of_file(path, "devices"))


def _devices(answer: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = answer["devices"]
    return found


def _answer_of_file(path: Path, subject: str) -> dict[str, Any]:
    what = f"the machine file {path}"
    try:
        status = path.stat()
    except OSError as error:
        raise TopologyError(f"cannot read {what}: {error.strerror}") from None
    if not stat.S_ISREG(status.st_mode):
        kind = "a directory" if stat.S_ISDIR(status.st_mode) else "not a regular file"
        raise TopologyError(f"cannot read {what}: it is {kind}; expected an hwloc XML file")
    if status.st_size > LARGEST_FILE_BYTES:
        raise TopologyError(
            f"cannot read {what}: it has {status.st_size} bytes, expected an hwloc XML file of at "
            f"most {LARGEST_FILE_BYTES}"
        )
    try:
        with path.open("rb") as file:
            start = file.read(4096)
    except OSError as error:
        raise TopologyError(f"cannot read {what}: {error.strerror}") from None
    if not start.strip():
        raise TopologyError(f"cannot read {what}: it is empty; expected an hwloc XML file")
    if b"<" not in start or b"\0" in start:
        raise TopologyError(
            f"cannot read {what}: it is not XML; `lstopo FILE.xml` writes what is expected here"
        )
    try:
        return _answer("xml", str(path), what, subject)
    except _Crashed:
        return _answer("xml-reduced", str(path), what, subject)


class _Crashed(TopologyError):
    """hwloc was ended by a signal."""


def _answer(kind: str, value: str, what: str, subject: str = "machine") -> dict[str, Any]:
    """Answer of the child. Raises `TopologyError`, with the reason, where there is none."""
    if "\0" in value:
        raise TopologyError(f"cannot read {what}: it holds a zero byte")
    # HWLOC_* would make hwloc describe another machine than the requested one.
    plain = {key: text for key, text in os.environ.items() if not key.startswith("HWLOC_")}
    env = own_environment(plain | {"HWLOC_HIDE_ERRORS": "2"})
    try:
        done = subprocess.run(
            own_python("autofinity.linux.hwloc_child", kind, value, subject),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env=env,
            timeout=TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise TopologyError(
            f"cannot read {what}: hwloc gave no answer within {TIMEOUT_S:.0f} s"
        ) from None
    except OSError as error:
        raise TopologyError(f"cannot read {what}: {error.strerror or error}") from None
    if done.returncode < 0:
        died_of = signal.Signals(-done.returncode).name
        if died_of in ("SIGXCPU", "SIGKILL"):
            raise TopologyError(f"cannot read {what}: hwloc exceeded its time limit")
        raise _Crashed(f"cannot read {what}: hwloc crashed on it ({died_of})")
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        reason = said[-1] if said else f"exit code {done.returncode}"
        raise TopologyError(f"cannot read {what}: {reason}") from None
    if "error" in answer:
        expected = ""
        if kind == "synthetic":
            expected = "; expected levels from outside in, for example 'pack:2 l3:2 core:4 pu:1'"
        raise TopologyError(
            f"cannot read {what}: hwloc does not accept it ({answer['error']}){expected}"
        )
    found: dict[str, Any] = answer
    return found


def _read(answer: dict[str, Any]) -> RawMachine:
    distances: dict[tuple[int, int], int] = {}
    caches = {int(number): RawCache(**cache) for number, cache in answer["caches"].items()}
    for matrix in answer["distances"]:
        for a, row in zip(matrix["nodes"], matrix["rows"], strict=True):
            for b, value in zip(matrix["nodes"], row, strict=True):
                distances.setdefault((a, b), value)
    return RawMachine(
        pus=tuple(
            RawPU(
                pu["os_index"],
                pu["package"],
                pu["core"],
                tuple(pu["caches"]),
                pu["efficiency"],
                max((caches[number].level for number in pu["caches"]), default=0),
            )
            for pu in answer["pus"]
        ),
        nodes=tuple(
            RawNode(node["os_index"], frozenset(node["cpus"]), node["memory_bytes"] > 0)
            for node in answer["nodes"]
        ),
        caches=caches,
        distances=distances,
        allowed=frozenset(answer["allowed"]),
        model=answer["model"],
        page_sizes_bytes=tuple(answer["page_sizes"]),
        allowed_nodes=frozenset(answer["allowed_nodes"]),
        kinds_unranked=answer["kinds_unranked"],
    )
