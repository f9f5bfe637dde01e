"""Our Python: isolated (`-I`) from the application's environment, with libraries of its own path.

HPC modules set `PYTHONPATH`, `PYTHONHOME` and `LD_LIBRARY_PATH` for the application; our
interpreter would load its packages and libraries, and break. So the variables that affect an
interpreter's dynamic linker are set aside when ours is started, and restored inside: programs that
it starts get the application's environment. The launcher does the same (`python.c`).

    python -I own_python.py MODULE ARGUMENTS...

runs a module of this package, found from the place of this file. This module imports nothing of the
package.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, MutableMapping
from pathlib import Path

ISOLATED = "AUTOFINITY_ISOLATED"
"""Variable that is set where other variables were set aside."""
_ASIDE = "AUTOFINITY_ASIDE_"
_FOLDERS = "AUTOFINITY_IMPORT"
"""Variable with the folders that a Python which starts another Python of ours imports from."""
_LINKER = ("LD_LIBRARY_PATH", "LD_PRELOAD", "LD_AUDIT", "GLIBC_TUNABLES")
_ALLOCATOR = "MALLOC_"
_SCRIPT = str(Path(__file__).absolute())


def own_python(module: str, *arguments: str) -> list[str]:
    """Command that runs `module` of this package as a program.

    The command's environment must be that of `own_environment`.
    """
    return [sys.executable, "-I", "-B", _SCRIPT, module, *arguments]


def own_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment for `own_python`, made from the application's."""
    env = {
        (_ASIDE + name if _steers(name) else name): value
        for name, value in environment.items()
        if not name.startswith(_ASIDE)
    }
    env[ISOLATED] = "1"
    env[_FOLDERS] = _folders()
    libraries = library_folder(sys.executable)
    if libraries:
        env["LD_LIBRARY_PATH"] = libraries
    return env


def give_back(environment: MutableMapping[str, str]) -> None:
    """Restore the application's environment from that of `own_environment` or the launcher."""
    if environment.pop(ISOLATED, None) is None:
        return
    for name in [name for name in environment if _steers(name)]:
        del environment[name]
    for name in [name for name in environment if name.startswith(_ASIDE)]:
        environment[name.removeprefix(_ASIDE)] = environment.pop(name)


def library_folder(interpreter: str) -> str:
    """Folder of the interpreter's own shared library, when it is beside the interpreter; else
    empty.
    """
    prefix = Path(interpreter).resolve().parent.parent
    for name in ("lib", "lib64"):
        if next((prefix / name).glob("libpython3*.so*"), None) is not None:
            return str(prefix / name)
    return ""


def own_python_script(module: str, *arguments: str) -> str:
    """A POSIX shell script that becomes `module` with these arguments and those of the script."""
    import shlex

    lines = ["#!/bin/sh"]
    for name in _LINKER:
        lines.append(
            f'if [ "${{{name}+set}}" ]; then export {_ASIDE}{name}="${name}"; unset {name}; fi'
        )
    lines.append(f"export {ISOLATED}=1 {_FOLDERS}={shlex.quote(_folders())}")
    libraries = library_folder(sys.executable)
    if libraries:
        lines.append(f"export LD_LIBRARY_PATH={shlex.quote(libraries)}")
    lines.append(f'exec {shlex.join(own_python(module, *arguments))} "$@"')
    return "\n".join(lines) + "\n"


def _folders() -> str:
    return os.pathsep.join(str(Path(folder).absolute()) for folder in sys.path if folder)


def _steers(name: str) -> bool:
    return name in _LINKER or name.startswith(_ALLOCATOR)


def _main() -> None:
    import runpy
    import site

    ours = str(Path(__file__).resolve().parents[1])
    folders = os.environ.pop(_FOLDERS, "").split(os.pathsep)
    known = set(map(os.path.realpath, sys.path))
    if ours not in known:
        # Before another copy of this package that may be installed, and after the standard library.
        packages = ("site-packages", "dist-packages")
        at = (n for n, folder in enumerate(sys.path) if Path(folder).name in packages)
        sys.path.insert(next(at, len(sys.path)), ours)
        if ours not in map(os.path.realpath, folders):
            site.addsitedir(ours)  # for packages installed beside this one by a .pth file
    sys.path += [folder for folder in folders if folder and os.path.realpath(folder) not in known]
    give_back(os.environ)
    module = sys.argv[1]
    del sys.argv[:1]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    _main()
