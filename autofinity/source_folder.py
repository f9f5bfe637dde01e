"""Import at the root of a clone, where `import autofinity` finds sources without the native core.

Python looks into the current folder first, so that there the sources shadow the installed package.
Unless the sources are named (`PYTHONPATH`), the installed package replaces them; without an
installed package, code that needs the core raises an error with the remedy.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType

_FOLDER = Path(__file__).parent
_CORE = "autofinity._core"


def stand_in(package: ModuleType) -> None:
    """Replace `package`, the sources in this folder that are being imported, by the installed
    package.

    Without an installed package, an import of the core raises an error with the remedy.
    """
    spec = None if _asked_for() else _installed()
    if spec is None or spec.loader is None:
        sys.meta_path.insert(0, _NoCore())
        package.__dict__["__getattr__"] = _refuse
        return
    del sys.modules[__name__]
    installed = importlib.util.module_from_spec(spec)
    sys.modules[package.__name__] = installed
    spec.loader.exec_module(installed)


def _asked_for() -> bool:
    """Whether the sources are named, as in builds and work in the source tree."""
    named = "" if sys.flags.ignore_environment else os.environ.get("PYTHONPATH", "")
    return any(_is_root(path) for path in named.split(os.pathsep) if path)


def _installed() -> ModuleSpec | None:
    """The first autofinity with a core that can be imported from elsewhere."""
    elsewhere = [path for path in sys.path if not _is_root(path or os.curdir)]
    spec = PathFinder.find_spec("autofinity", elsewhere)
    if spec is None or spec.submodule_search_locations is None:
        return None
    core = PathFinder.find_spec(_CORE, list(spec.submodule_search_locations))
    return spec if core is not None and core.origin is not None else None


def _is_root(path: str) -> bool:
    return os.path.realpath(path) == os.path.realpath(_FOLDER.parent)


class _NoCore:
    """Import finder that finds nothing, and explains why there is no core."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Raise `ImportError` for the core and its parts."""
        del path, target
        if name != _CORE and not name.startswith(f"{_CORE}."):
            return None
        raise ImportError(_why())


def _refuse(name: str) -> object:
    """Raise the error that replaces a public name."""
    if name in sys.modules["autofinity"].__all__:
        raise ImportError(_why())
    raise AttributeError(f"module 'autofinity' has no attribute {name!r}")


def _why() -> str:
    return (
        f"{_FOLDER} has the sources of autofinity without its native core, and "
        + (
            "PYTHONPATH names them, so that what is installed is not looked at"
            if _asked_for()
            else f"no autofinity is installed for {sys.executable}"
        )
        + "; `make setup` there makes an environment that has it (.venv/bin/python), `pip install "
        ".` puts it into this one, and for work in the sources `make dev` builds the core in place "
        "(CONTRIBUTING.md)"
    )
