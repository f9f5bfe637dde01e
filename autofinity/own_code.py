"""Digests of this installation's own code: stored results are stale after an edit of the code.

A version is not enough: between two releases, or in a source tree, the code changes without a new
version.
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from autofinity import _core

_PACKAGE = Path(__file__).resolve().parent


@cache
def digest_of_core() -> bytes:
    """SHA-256 of the built native core, with the libraries for all processors.

    The result does not depend on the library that this processor has loaded, which makes no
    difference to the results.
    """
    extension = Path(str(_core.__file__))
    libraries = sorted((extension.parent / "lib" / "core").rglob("*.so"))
    digest = hashlib.sha256()
    for path in (extension, *libraries):
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.digest()


@cache
def digest_of_code(*parts: str) -> bytes:
    """SHA-256 of the native core and of Python sources: sub-packages and modules of `autofinity`,
    such as `"mechanisms"` and `"evaluation/comparison.py"`.

    Raises `ValueError` for a part without source, which would never be stale.
    """
    digest = hashlib.sha256(digest_of_core())
    for part in parts:
        path = _PACKAGE / part
        sources = sorted(path.rglob("*.py")) if path.is_dir() else [path] * path.is_file()
        if not sources:
            raise ValueError(f"{part} has no source in {_PACKAGE}; expected a package or a module")
        for source in sources:
            digest.update(f"\0{source.relative_to(_PACKAGE).as_posix()}\0".encode())
            digest.update(source.read_bytes())
    return digest.digest()
