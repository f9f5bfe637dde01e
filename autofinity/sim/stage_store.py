"""Private stages on disk, beside the trace: derived and compared once, for all later sweeps.

    TRACE/private-KEY.stage    magic | key | SHA-256 of the rest | JSON, its length first | stage

The key is the digest of everything a stage and its verdict depend on: the trace, the machine, which
streams share cores, the seed of the page colours, and the native core that derived it. A file that
is damaged, of another key or cannot be read is as good as none: the stage is derived again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path

from autofinity.own_code import digest_of_core
from autofinity.sim.spec import MachineSpec
from autofinity.sim.stage_agreement import Difference
from autofinity.whole_file import replace_file

STAGE_VERSION = 4
"""Of what the digests do not know: how stages are compared, and this file."""

_MAGIC = b"AFSTAGE1"
_DIGEST_BYTES = 32
_LENGTH_BYTES = 4


@dataclass(frozen=True, slots=True)
class StoredStage:
    """A stage as bytes, or why there is none."""

    worst: Difference
    """Where it was compared with the full stream."""
    packed: bytes | None
    """None where it is not to be used."""


def key_of(trace: Path, spec: MachineSpec, groups: tuple[int, ...], seed: int) -> bytes | None:
    """The key of a stage, or None where the trace has no index to know it by."""
    try:
        index = (trace / "index.aft").read_bytes()
    except OSError:
        return None
    digest = hashlib.sha256()
    for part in (
        f"{STAGE_VERSION} {groups} {seed} {spec!r}".encode(),
        digest_of_core(),
        index,
    ):
        digest.update(hashlib.sha256(part).digest())
    return digest.digest()


def read_stage(trace: Path, key: bytes) -> StoredStage | None:
    """What is kept under the key, or None."""
    try:
        content = _path(trace, key).read_bytes()
    except OSError:
        return None
    head = _MAGIC + key
    begin = len(head) + _DIGEST_BYTES
    seal, rest = content[len(head) : begin], content[begin:]
    if not content.startswith(head) or hashlib.sha256(rest).digest() != seal:
        return None
    length = int.from_bytes(rest[:_LENGTH_BYTES], "little")
    packed = rest[_LENGTH_BYTES + length :]
    try:
        worst = Difference(**json.loads(rest[_LENGTH_BYTES : _LENGTH_BYTES + length]))
    except (ValueError, TypeError):
        return None
    return StoredStage(worst, packed or None)


def write_stage(trace: Path, key: bytes, stage: StoredStage) -> None:
    """Keep it, if the folder can be written to."""
    text = json.dumps(asdict(stage.worst)).encode()
    rest = len(text).to_bytes(_LENGTH_BYTES, "little") + text + (stage.packed or b"")
    with contextlib.suppress(OSError):
        content = _MAGIC + key + hashlib.sha256(rest).digest() + rest
        replace_file(_path(trace, key), content, durable=False)


def _path(trace: Path, key: bytes) -> Path:
    return trace / f"private-{key.hex()[:16]}.stage"
