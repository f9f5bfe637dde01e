"""Verdicts on private stages, beside the trace: compared once, for all later sweeps.

    TRACE/private-KEY.verdict    magic | key | SHA-256 of the rest | JSON

To derive a stage takes about two replays of its program, to compare it with the full stream ten to
twenty. So what is kept is how the comparison ended, or why there was none, and the races that the
first of two derivations finds; a stage that is used is derived again from these.

The key is the digest of everything a stage and its verdict depend on: the trace, the machine, which
streams share cores, the seed of the page colours, and the native core that derived it. A file that
is damaged, of another key or cannot be read is as good as none: the stage is compared again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from autofinity.own_code import digest_of_core
from autofinity.sim.spec import MachineSpec
from autofinity.sim.stage_agreement import ByRaces, Difference
from autofinity.sim.stage_fitting import Racing
from autofinity.whole_file import replace_file

STAGE_VERSION = 7
"""Of what the digests do not know: how stages are compared, and this file."""

_MAGIC = b"AFSTAGE2"
_DIGEST_BYTES = 32

_KINDS: dict[str, type[Difference | Racing]] = {
    "worst": Difference,
    "by_races": ByRaces,
    "racing": Racing,
}
"""What a verdict says, by its name in the file."""

type Races = tuple[Sequence[int], Sequence[int]]
"""Pages and lines that threads race for, as the native core numbers them."""


@dataclass(frozen=True, slots=True)
class StoredVerdict:
    """Whether a stage is used, and what it takes to derive it again."""

    worst: Difference | Racing
    """Where it was compared with the full stream, or why it was not."""
    races: Races | None
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


def read_verdict(trace: Path, key: bytes) -> StoredVerdict | None:
    """What is kept under the key, or None."""
    try:
        content = _path(trace, key).read_bytes()
    except OSError:
        return None
    head = _MAGIC + key
    begin = len(head) + _DIGEST_BYTES
    seal, text = content[len(head) : begin], content[begin:]
    if not content.startswith(head) or hashlib.sha256(text).digest() != seal:
        return None
    try:
        document = json.loads(text)
        (name,) = _KINDS.keys() & document.keys()
        worst, races = _KINDS[name](**document[name]), document["races"]
        return StoredVerdict(worst, races and (_numbers(races[0]), _numbers(races[1])))
    except (ValueError, TypeError, KeyError, IndexError):
        return None


def write_verdict(trace: Path, key: bytes, verdict: StoredVerdict) -> None:
    """Keep it, if the folder can be written to."""
    races = verdict.races and [_ranges(each) for each in verdict.races]
    (name,) = (name for name, kind in _KINDS.items() if type(verdict.worst) is kind)
    document = {name: asdict(verdict.worst), "races": races}
    text = json.dumps(document, separators=(",", ":")).encode()
    with contextlib.suppress(OSError):
        content = _MAGIC + key + hashlib.sha256(text).digest() + text
        replace_file(_path(trace, key), content, durable=False)


def _ranges(numbers: Iterable[int]) -> list[int]:
    """Ascending numbers as how many are left out, how many follow, and so on."""
    lengths: list[int] = []
    end = 0
    for number in numbers:
        if lengths and number == end:
            lengths[-1] += 1
        else:
            lengths += [number - end, 1]
        end = number + 1
    return lengths


def _numbers(lengths: Sequence[int]) -> list[int]:
    """What `_ranges` was given. Raises ValueError for what it did not give."""
    numbers: list[int] = []
    end = 0
    for left_out, follow in zip(lengths[::2], lengths[1::2], strict=True):
        first = end + left_out
        end = first + follow
        if not 0 <= left_out <= first < end < 1 << 32:
            raise ValueError(f"got {follow} numbers after {left_out} others")
        numbers += range(first, end)
    return numbers


def _path(trace: Path, key: bytes) -> Path:
    return trace / f"private-{key.hex()[:16]}.verdict"
