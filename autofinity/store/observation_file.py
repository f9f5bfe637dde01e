"""One Parquet file of observations, sealed: a damaged file is never taken for another table.

    table ─► Parquet with a blank seal in its metadata ─► SHA-256 over every byte ─► seal ─► file

Parquet has checksums for its pages but none for its footer, which assigns the bytes to columns. So
the digest is in the footer itself, computed with zeros in its place, and is checked before a byte
of the file is parsed. Other readers of Parquet see one more entry of metadata.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from autofinity.given_file import read_given
from autofinity.model.errors import StoreError
from autofinity.new_folder import make_missing
from autofinity.ports import RunKey
from autofinity.store.observation_columns import checked_columns
from autofinity.store.observation_table import (
    COUNTER_PREFIX,
    PLACEMENT_COLUMN,
    TEXT_COLUMNS,
)
from autofinity.whole_file import replace_file

FORMAT = "autofinity-observations"
FORMAT_VERSION = 3
LARGEST_FILE_BYTES = 1 << 30
"""Largest size of a file: hundreds of times the shipped file of a machine. A file is read into
memory as a whole."""
_BEFORE_PLACEMENTS = 2
"""Version of files in which every run was placed by an affinity, and run keys had no placement."""
_RATE_BITS = 11
_PROGRESS_STEPS = 65_536
_SEAL_KEY = "autofinity-seal"
_SEAL = b"sha256:"
_BLANK = b"0" * 64


def write_file(
    path: Path, table: pa.Table, keys: Sequence[RunKey], *, packed: bool = False
) -> Path:
    """Write a file of observations, complete or not at all.

    `packed` rounds (`_rounded`) and compresses strongly: half as large, for files that are shipped.
    Raises `StoreError`; an earlier file is then kept.
    """
    try:
        content = _sealed(_parquet(table, keys, packed))
        make_missing(path.parent)
        replace_file(path, content)
    except (OSError, pa.ArrowException) as error:
        raise StoreError(
            f"cannot write observations to {path}: {_reason(error)}; what was written before "
            "is kept. Free some space or name another folder, then start again: finished runs "
            "are skipped."
        ) from error
    return path


def read_file(path: Path) -> tuple[list[RunKey], pa.Table]:
    """The runs and the rows of a file. Raises `StoreError` when the file is damaged or not ours."""
    content, keys = _checked(path)
    try:
        table = pq.read_table(pa.BufferReader(content), use_threads=False, pre_buffer=False)
        return keys, checked_columns(table)
    except (OSError, ValueError, pa.ArrowException) as error:
        raise _damaged(path, _reason(error)) from error


def keys_of(path: Path) -> list[RunKey]:
    """Runs of a file. Raises `StoreError` when the file is damaged or not ours."""
    return _checked(path)[1]


def _parquet(table: pa.Table, keys: Sequence[RunKey], packed: bool) -> bytearray:
    header = json.dumps({"version": FORMAT_VERSION, "runs": keys})
    options: dict[str, Any] = {}
    if packed:
        counters = [name for name in table.column_names if name.startswith(COUNTER_PREFIX)]
        single = [*counters, "performance", "progress"]
        for name in single:
            values = pa.array(_rounded(name, table.column(name).to_numpy()))
            table = table.set_column(table.column_names.index(name), name, values)
        options = {
            "compression_level": 19,
            "use_dictionary": [*TEXT_COLUMNS, PLACEMENT_COLUMN],
            "column_encoding": dict.fromkeys(single, "BYTE_STREAM_SPLIT"),
            "write_statistics": False,
        }
    # Only the schema, in base 64, follows the seal: no later text can be mistaken for the seal.
    table = table.replace_schema_metadata({FORMAT: header, _SEAL_KEY: _SEAL + _BLANK})
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd", **options)
    return bytearray(sink.getvalue())


def _rounded(name: str, values: npt.NDArray[np.float64]) -> npt.NDArray[np.float32]:
    """A column as packed files store it: the removed bits are noise, which does not compress.

    Progress is a share of the run; one part in 65,536 is a hundredth of a period or less. A rate
    keeps 11 bits, so that it is at most 0.05 % from the measured value.
    """
    if name == "progress":
        return (np.round(values * _PROGRESS_STEPS) / _PROGRESS_STEPS).astype(np.float32)
    mantissa, exponent = np.frexp(values)
    whole = np.round(np.ldexp(mantissa, _RATE_BITS))
    return np.asarray(np.ldexp(whole, exponent - _RATE_BITS), dtype=np.float32)


def _sealed(content: bytearray) -> bytearray:
    at = _seal_at(content)
    content[at : at + len(_BLANK)] = hashlib.sha256(content).hexdigest().encode()
    return content


def _seal_at(content: bytes | bytearray) -> int:
    """Position of the seal's digits; -1 where there is none."""
    at = content.rfind(_SEAL)
    return at + len(_SEAL) if at >= 0 else -1


def _checked(path: Path) -> tuple[pa.Buffer, list[RunKey]]:
    """Bytes of an undamaged file, and the runs in it."""
    try:
        content = read_given(path, LARGEST_FILE_BYTES)
    except OSError as error:
        raise StoreError(f"cannot read observations from {path}: {_reason(error)}") from error
    at = _seal_at(content)
    if at < 0:
        raise StoreError(
            f"{path} is no observation file of this autofinity (it has no seal); expected one that "
            "`autofinity profile` wrote. If it was one, it is damaged: remove it, and its runs are "
            "profiled again"
        )
    total = hashlib.sha256(memoryview(content)[:at])
    total.update(_BLANK)
    total.update(memoryview(content)[at + len(_BLANK) :])
    if total.hexdigest().encode() != content[at : at + len(_BLANK)]:
        raise _damaged(path, "its bytes are not those that were written")
    try:
        buffer = _arrow_owned(content)
        metadata: Mapping[bytes, bytes] = pq.read_schema(pa.BufferReader(buffer)).metadata or {}
        header: Any = json.loads(metadata[FORMAT.encode()])
        version = header["version"]
        runs = header["runs"]
        if version == _BEFORE_PLACEMENTS:
            runs = [[*run[:3], "affinity", *run[3:]] for run in runs]
        keys = [(str(p), str(i), int(t), str(b), str(a), int(s)) for p, i, t, b, a, s in runs]
    except (ArithmeticError, LookupError, RecursionError) as error:  # a header of other things
        raise _damaged(path, f"{type(error).__name__} in its header: {error}") from error
    except (ValueError, TypeError, OSError, pa.ArrowException) as error:
        raise _damaged(path, _reason(error)) from error
    if version not in (_BEFORE_PLACEMENTS, FORMAT_VERSION):
        raise StoreError(
            f"{path} has version {version}, this autofinity reads {_BEFORE_PLACEMENTS} and "
            f"{FORMAT_VERSION}; update it"
        )
    return buffer, keys


def _arrow_owned(content: bytes) -> pa.Buffer:
    """A copy that Arrow may release in any of its threads.

    A thread that releases Python's bytes needs the interpreter; when the interpreter is just
    exiting, the process ends with an abort. Reading in one thread is not enough: another thread may
    release the reader itself.
    """
    stream = pa.BufferOutputStream()
    stream.write(content)
    return stream.getvalue()


def _damaged(path: Path, reason: str) -> StoreError:
    return StoreError(
        f"{path} is damaged ({reason}); remove it: the runs it held are then profiled again"
    )


def _reason(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
