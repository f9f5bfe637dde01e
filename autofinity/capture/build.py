"""Builds a suite's programs for capture in a cache folder, once for each set of sources and
flags.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from autofinity.capture import ways
from autofinity.capture.blocks import write_block_tables
from autofinity.capture.compilers import Compilers, skip_reason, version
from autofinity.capture.own_folder import is_at, make_own, take
from autofinity.capture.sources import changed_since, digest_of_sources, states
from autofinity.capture.vectors import vector_flags
from autofinity.child_program import ChildProgram
from autofinity.model.errors import SuiteError
from autofinity.private_file import why_not_ours
from autofinity.trace.manifest import ProgramSpec, Suite
from autofinity.whole_file import replace_file

BLOCKS = ".blocks"
"""Folder of the tables of instructions by block, beside the built files."""
_HOOKS = "-Wl,--wrap=__parsec_roi_begin,--wrap=__parsec_roi_end"
"""Flags that redirect calls of PARSEC's hooks to the runtime, also where the program has its own
hooks."""
_COMPLETE = ".complete"
_TEMPORARY = "tmp"
_SHOWN_LINES = 12
_PLAIN = re.compile(r"[\w./+@%=:,-]+")


@dataclass(frozen=True, slots=True)
class Built:
    """A program that is ready to be captured."""

    out: Path
    """Folder that the build lines wrote to, which `{out}` stands for."""
    blocks: Path | None
    """Folder with instructions by block, one table for each program (see `blocks.py`), or None."""
    counted: ways.Counted
    """Kind of the build, which decides how instructions are counted (see `ways.py`)."""
    digest: str
    left_beside: tuple[str, ...] = ()
    """Files beside the manifest that this build has left, and that run only under capture."""


def runtime_folder() -> Path:
    """Folder of the capture runtime, `libtsan.so.2`. Raises `SuiteError` when it is not built."""
    folder = Path(__file__).resolve().parent.parent / "lib" / "capture"
    if not (folder / "libtsan.so.2").exists():
        raise SuiteError(
            f"the capture runtime {folder / 'libtsan.so.2'} is missing; "
            "install autofinity with a C compiler at hand (in a source tree: make dev)"
        )
    return folder


def expand(text: str, values: Mapping[str, str]) -> str:
    """Replace `{placeholders}` by their values."""
    for key, value in values.items():
        text = text.replace("{" + key + "}", value)
    return text


def build_program(
    suite: Suite,
    spec: ProgramSpec,
    compilers: Compilers,
    cache: Path,
    *,
    instrumented: bool = True,
) -> Built:
    """Build the program unless the cache has it. Raises `SuiteError` with the compiler's output,
    and where another user has put a folder in the place of the build.

    The flags of the capture replace the manifest's placeholders. Where the build fails with the
    best flags, the next best are tried (`ways.py`).
    """
    reason = skip_reason(spec, compilers)
    if reason is not None:
        raise SuiteError(f"program {spec.name} cannot be built: {reason}")
    identity = _identity(suite, spec, compilers, instrumented)
    written = _written(cache, spec, identity)
    digest = _digest(identity, digest_of_sources(suite.folder, spec, written))
    final = cache / f"{spec.name}-{digest}"
    if _is_kept(final):
        return _built(final, digest)
    make_own(cache)
    try:
        turn = take(final)
    except OSError as error:
        raise SuiteError(
            f"program {spec.name} cannot be built in {final}: {error.strerror}; name another work "
            "folder with --work"
        ) from None
    try:
        others_could_write = _made_private(turn)
        if (final / _COMPLETE).exists() and not others_could_write:
            return _built(final, digest)  # another process has just made it
        before = states(suite.folder)
        _build(suite, spec, compilers, final, instrumented)
        changed = changed_since(suite.folder, before)
        _note_written(cache, spec, identity, changed)
        left = tuple(name for name in changed if ways.runs_only_captured(suite.folder / name))
        return replace(_built(final, digest), left_beside=left)
    finally:
        if is_at(turn, final) and not (final / _COMPLETE).exists():
            shutil.rmtree(final, ignore_errors=True)
        os.close(turn)


def _build(
    suite: Suite,
    spec: ProgramSpec,
    compilers: Compilers,
    final: Path,
    instrumented: bool,
) -> None:
    """Build in the folder where the program will run: built files may hold the path."""
    said = ""
    for way in _ways(spec, compilers) if instrumented else [None]:
        _clear(final)
        said = _run_lines(suite, spec, compilers, final, way)
        if said or (way is not None and way.counted == "code" and not ways.instrumented(final)):
            continue
        if way is not None and way.counted == "blocks":
            write_block_tables(final, final / BLOCKS)
        (final / _COMPLETE).write_text(way.counted if way is not None else "")
        return
    raise SuiteError(f"program {spec.name} of {suite.path} does not build:\n{said}")


def _made_private(folder: int) -> bool:
    """Close a folder of ours, whose files are executed, to others; whether they could write to it.

    False on a file system without modes, which can keep nothing private.
    """
    flaw = why_not_ours(os.fstat(folder))
    with suppress(OSError):
        os.fchmod(folder, 0o700)
    return bool(flaw) and not why_not_ours(os.fstat(folder))


def _is_kept(folder: Path) -> bool:
    """Whether the folder has a whole build that nobody else can have exchanged."""
    try:
        info = folder.lstat()
    except OSError:
        return False
    return not why_not_ours(info) and (folder / _COMPLETE).exists()


def _clear(folder: Path) -> None:
    for left in folder.iterdir():
        if left.is_dir() and not left.is_symlink():
            shutil.rmtree(left)
        else:
            left.unlink()


def _built(folder: Path, digest: str) -> Built:
    said = (folder / _COMPLETE).read_text()
    blocks = folder / BLOCKS
    counted: ways.Counted = "accesses"
    if said == "code":
        counted = "code"
    elif blocks.exists():
        counted = "blocks"
    return Built(folder, blocks if blocks.exists() else None, counted, digest)


def _written(cache: Path, spec: ProgramSpec, identity: str) -> list[str]:
    """Files beside the manifest that an earlier build of the same lines has written."""
    try:
        content = (cache / f".{spec.name}-{identity}.written").read_bytes()
    except OSError:
        return []
    return [os.fsdecode(name) for name in content.split(b"\0") if name]


def _note_written(cache: Path, spec: ProgramSpec, identity: str, names: Sequence[str]) -> None:
    names = sorted({*names, *_written(cache, spec, identity)})
    if names:
        content = b"\0".join(os.fsencode(name) for name in names)
        replace_file(cache / f".{spec.name}-{identity}.written", content)


def _ways(spec: ProgramSpec, compilers: Compilers) -> list[ways.Way]:
    used = compilers.used_by(spec)
    return ways.ways({name: version(name) for name in used}, os.environ)


def _vectors(spec: ProgramSpec, compilers: Compilers) -> str:
    return vector_flags([version(name) for name in compilers.used_by(spec)])


def _run_lines(
    suite: Suite,
    spec: ProgramSpec,
    compilers: Compilers,
    out: Path,
    way: ways.Way | None,
) -> str:
    """Run the build lines; return the error output, or the empty text.

    make and many manifests cannot handle a path with spaces: such a path is passed by an alias.
    """
    with tempfile.TemporaryDirectory(prefix="autofinity-") as name:
        folder, alias, helpers = suite.folder, out, Path(name) / "helpers"
        (helpers / _TEMPORARY).mkdir(parents=True)
        if not _PLAIN.fullmatch(f"{out}{suite.folder}"):
            folder, alias = Path(name) / "dir", Path(name) / "out"
            folder.symlink_to(suite.folder)
            alias.symlink_to(out)
        return _run_lines_in(folder, alias, helpers, spec, compilers, way)


def _run_lines_in(
    folder: Path,
    out: Path,
    helpers: Path,
    spec: ProgramSpec,
    compilers: Compilers,
    way: ways.Way | None,
) -> str:
    if way is not None:
        flags, link = _flags_of(way, helpers)
    else:
        flags, link = "", _link_with_marks(helpers)
    values = {
        "cc": compilers.cc,
        "cxx": compilers.cxx,
        "fc": compilers.fc or "",
        "cflags": flags,
        "cxxflags": flags,
        "fflags": flags,
        "ldflags": link,
        "vectors": _vectors(spec, compilers),
        "dir": str(folder),
        "out": str(out),
        "jobs": str(len(os.sched_getaffinity(0))),
    }
    for line in spec.build:
        command = expand(line, values)
        code, said = _run_line(command, folder, helpers / _TEMPORARY)
        if code != 0:
            last = "\n".join(said.strip().splitlines()[-_SHOWN_LINES:])
            return f"$ {command}\n{last}\n(exit code {code})"
    return ""


def _run_line(command: str, folder: Path, temporary: Path) -> tuple[int, str]:
    """Exit code and output of a shell's line. An interruption ends all programs of the line, and
    they have ended when this raises it.
    """
    line = ChildProgram(
        ["/bin/sh", "-c", command],
        own_session=True,
        cwd=folder,
        # Compilers' temporary files go with the build, also where compilers are killed.
        env={**os.environ, "LC_ALL": "C", "TMPDIR": str(temporary)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    pipe: IO[bytes] | None = None
    try:
        with line as process:
            pipe = process.stdout
            assert pipe is not None
            said = pipe.read()
            code = process.wait()
    finally:
        if pipe is not None:
            pipe.read()  # its end comes when all programs that hold it have ended
            pipe.close()
    return code, said.decode(errors="replace")


def _flags_of(way: ways.Way, helpers: Path) -> tuple[str, str]:
    """Flags that make the compiler record, and those of the linker; `helpers` gets what they
    need.
    """
    tools = helpers / "tools"
    if way.counted == "code":
        ways.write_tools(tools, os.environ)
    flags = expand(way.flags, {"tools": str(tools)})
    # -ltsan finds our runtime: the compiler's own has no hook for counting instructions.
    (helpers / "libtsan.so").symlink_to(runtime_folder() / "libtsan.so.2")
    return flags, f"{flags} {_HOOKS} -L{helpers} -Wl,--no-as-needed -ltsan"


def _link_with_marks(helpers: Path) -> str:
    """Flags of the linker: profiling preloads the marks; until then the hooks need a definition."""
    marks = Path(__file__).resolve().parent.parent / "lib" / "marks" / "libautofinity-marks.so"
    (helpers / marks.name).symlink_to(marks)
    return (
        f"{_HOOKS} -L{helpers} -Wl,--push-state,--as-needed -lautofinity-marks "
        f"-Wl,--pop-state -Wl,-rpath,{shlex.quote(str(marks.parent))}"
    )


def _digest(*parts: str) -> str:
    state = hashlib.sha256()
    for part in parts:
        state.update(os.fsencode(part) + b"\0")
    return state.hexdigest()[:16]


def _identity(
    suite: Suite,
    spec: ProgramSpec,
    compilers: Compilers,
    instrumented: bool,
) -> str:
    """Digest of everything that the binary depends on except its sources: lines, compilers, the
    architecture, our part.
    """
    parts = [*spec.build, *spec.sources, spec.run[0], str(instrumented), str(suite.folder)]
    for compiler in compilers.used_by(spec):
        parts += [compiler, version(compiler)]
    parts.append(_vectors(spec, compilers))
    machine = platform.machine()
    if machine != "x86_64":  # nodes of several architectures may share a home
        parts.append(machine)
    parts += [hashlib.sha256(path.read_bytes()).hexdigest() for path in _own_code()]
    return _digest(*parts)


def _own_code() -> list[Path]:
    """Our own files that affect the result of a build."""
    here = Path(__file__).parent
    return [here / "blocks.py", here / "ways.py", *sorted((here / "assembly").glob("*.py"))]
