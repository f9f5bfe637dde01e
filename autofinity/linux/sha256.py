"""SHA-256 without OpenSSL, which `hashlib` loads: 4 MB of the monitor's 25. The interpreter has its
own.
"""

from __future__ import annotations

from importlib import import_module


def sha256_hex(data: bytes) -> str:
    """Digest of 64 hexadecimal digits."""
    try:
        sha256 = import_module("_sha2").sha256
    except ImportError:
        sha256 = import_module("hashlib").sha256
    return str(sha256(data).hexdigest())
