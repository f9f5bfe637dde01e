"""Builds a suite's programs for capture, in a cache folder, once per sources and flags."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from autofinity.capture import ways
from autofinity.capture.blocks import block_table
from autofinity.capture.vectors import vector_flags
from autofinity.model.errors import SuiteError
from autofinity.trace.manifest import ProgramSpec, Suite

_BLOCKS = "blocks.aft"
_COMPLETE = ".complete"
_SHOWN_LINES = 12
_PLAIN = re.compile(r"[\w./+@%=:,-]+")


@dataclass(frozen=True, slots=True)
class Built:
    """A program that is ready to be captured."""

    out: Path
    """Folder the build lines wrote to: what `{out}` stands for."""
    blocks: Path | None
    """Instructions by block (see `blocks.py`), or None."""
    counted: ways.Counted
    """How it was built, so what its instructions are counted by (see `ways.py`)."""
    digest: str


@dataclass(frozen=True, slots=True)
class Compilers:
    """Commands by placeholder; Fortran may be missing."""

    cc: str
    cxx: str
    fc: str | None

    @classmethod
    def find(cls, environment: Mapping[str, str]) -> Compilers:
        """CC, CXX and FC of the environment, or the first usual name on the path."""

        def first(variable: str, *names: str) -> str | None:
            if environment.get(variable):
                return environment[variable]
            return next((n for n in names if shutil.which(n, path=environment.get("PATH"))), None)

        cc = first("CC", "gcc", "cc")
        cxx = first("CXX", "g++", "c++")
        if cc is None or cxx is None:
            raise SuiteError(
                "no C and C++ compiler: expected gcc and g++ on the path (or CC and CXX); "
                "install them, for example `apt install gcc g++`"
            )
        return cls(cc=cc, cxx=cxx, fc=first("FC", "gfortran"))

    def all(self) -> list[str]:
        """Those that there are."""
        return [name for name in (self.cc, self.cxx, self.fc) if name is not None]


def runtime_folder() -> Path:
    """Folder of the capture runtime, `libtsan.so.2`. Raises `SuiteError` when it is not built."""
    folder = Path(__file__).resolve().parent.parent / "lib" / "capture"
    if not (folder / "libtsan.so.2").exists():
        raise SuiteError(
            f"the capture runtime {folder / 'libtsan.so.2'} is missing; "
            "install autofinity with a C compiler at hand (in a source tree: make dev)"
        )
    return folder


def skip_reason(spec: ProgramSpec, compilers: Compilers) -> str | None:
    """Why the program cannot be built here, or None."""
    if spec.language == "fortran" and compilers.fc is None:
        return "no Fortran compiler (gfortran on the path, or FC)"
    return None


def expand(text: str, values: Mapping[str, str]) -> str:
    """Put values in for `{placeholders}`."""
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
    environment: Mapping[str, str] = os.environ,
) -> Built:
    """Build the program unless the cache has it. Raises `SuiteError` with the compiler's words.

    The flags of the capture come in by the manifest's placeholders. Where the build does not take
    the best of them, the next best are tried (`ways.py`).
    """
    reason = skip_reason(spec, compilers)
    if reason is not None:
        raise SuiteError(f"program {spec.name} cannot be built: {reason}")
    digest = _digest(suite, spec, compilers, instrumented, environment)
    final = cache / f"{spec.name}-{digest}"
    if (final / _COMPLETE).exists():
        return _built(final, digest)
    cache.mkdir(parents=True, exist_ok=True)
    said = ""
    for way in _ways(spec, compilers, environment) if instrumented else [None]:
        with tempfile.TemporaryDirectory(prefix=f".{spec.name}-", dir=cache) as name:
            work = Path(name) / "out"
            work.mkdir()
            said = _run_lines(suite, spec, compilers, work, way, environment)
            if said or (way is not None and way.counted == "code" and not ways.instrumented(work)):
                continue
            if way is not None and way.counted == "blocks":
                _write_blocks(spec, work)
            (work / _COMPLETE).write_text(way.counted if way is not None else "")
            shutil.rmtree(final, ignore_errors=True)
            try:
                work.rename(final)
            except OSError:
                if not (final / _COMPLETE).exists():  # not another process's, just as good
                    raise
            return _built(final, digest)
    raise SuiteError(f"program {spec.name} of {suite.path} does not build:\n{said}")


def _built(folder: Path, digest: str) -> Built:
    blocks = folder / _BLOCKS
    counted: ways.Counted = "accesses"
    if blocks.exists():
        counted = "blocks"
    elif (folder / _COMPLETE).read_text() == "code":
        counted = "code"
    return Built(folder, blocks if blocks.exists() else None, counted, digest)


def _ways(
    spec: ProgramSpec, compilers: Compilers, environment: Mapping[str, str]
) -> list[ways.Way]:
    used = [compilers.cc, compilers.cxx]
    if spec.language == "fortran" and compilers.fc is not None:
        used.append(compilers.fc)
    return ways.ways({name: _version(name, environment) for name in used}, environment)


def _vectors(compilers: Compilers, environment: Mapping[str, str]) -> str:
    return vector_flags([_version(name, environment) for name in compilers.all()])


def _run_lines(
    suite: Suite,
    spec: ProgramSpec,
    compilers: Compilers,
    out: Path,
    way: ways.Way | None,
    environment: Mapping[str, str],
) -> str:
    """Run the build lines; what went wrong, or the empty text.

    Neither make nor many a manifest can take a path with spaces: such a path goes in by an alias.
    """
    if _PLAIN.fullmatch(f"{out}{suite.folder}"):
        return _run_lines_in(suite.folder, out, spec, compilers, way, environment)
    with tempfile.TemporaryDirectory(prefix="autofinity-") as name:
        folder = Path(name) / "dir"
        folder.symlink_to(suite.folder)
        (Path(name) / "build").symlink_to(out.parent)
        alias = Path(name) / "build" / out.name
        return _run_lines_in(folder, alias, spec, compilers, way, environment)


def _run_lines_in(
    folder: Path,
    out: Path,
    spec: ProgramSpec,
    compilers: Compilers,
    way: ways.Way | None,
    environment: Mapping[str, str],
) -> str:
    flags = link = ""
    if way is not None:
        tools = out.parent / "tools"
        if way.counted == "code":
            ways.write_tools(tools, environment)
        flags = expand(way.flags, {"tools": str(tools)})
        # -ltsan finds our runtime: the compiler's own has no hook for counting instructions.
        (out.parent / "libtsan.so").symlink_to(runtime_folder() / "libtsan.so.2")
        link = f"{flags} -L{out.parent} -Wl,--no-as-needed -ltsan"
    values = {
        "cc": compilers.cc,
        "cxx": compilers.cxx,
        "fc": compilers.fc or "",
        "cflags": flags,
        "cxxflags": flags,
        "fflags": flags,
        "ldflags": link,
        "vectors": _vectors(compilers, environment),
        "dir": str(folder),
        "out": str(out),
        "jobs": str(len(os.sched_getaffinity(0))),
    }
    for line in spec.build:
        command = expand(line, values)
        done = subprocess.run(
            command,
            shell=True,
            cwd=folder,
            env={**environment, "LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
        )
        if done.returncode != 0:
            last = "\n".join(done.stdout.strip().splitlines()[-_SHOWN_LINES:])
            return f"$ {command}\n{last}\n(exit code {done.returncode})"
    return ""


def _write_blocks(spec: ProgramSpec, out: Path) -> None:
    binary = out / Path(spec.run[0]).name
    if binary.is_file() and (table := block_table(binary)) is not None:
        (out / _BLOCKS).write_bytes(table)


def _digest(
    suite: Suite,
    spec: ProgramSpec,
    compilers: Compilers,
    instrumented: bool,
    environment: Mapping[str, str],
) -> str:
    """Of everything the binary depends on: sources, lines, compilers, our part in it."""
    state = hashlib.sha256()

    def add(*parts: str) -> None:
        for part in parts:
            state.update(part.encode() + b"\0")

    add(*spec.build, spec.run[0], str(instrumented), str(suite.folder))
    for compiler in compilers.all():
        add(compiler, _version(compiler, environment))
    add(_vectors(compilers, environment))
    for path in _sources(suite.folder, spec):
        state.update(str(path.relative_to(suite.folder)).encode() + b"\0")
        state.update(path.read_bytes())
    for path in _own_code():
        state.update(path.read_bytes())
    return state.hexdigest()[:16]


def _own_code() -> list[Path]:
    """What of ours decides what comes out of a build."""
    here = Path(__file__).parent
    return [here / "blocks.py", here / "ways.py", *sorted((here / "assembly").glob("*.py"))]


def _version(compiler: str, environment: Mapping[str, str]) -> str:
    done = subprocess.run(
        f"{compiler} --version",
        shell=True,
        env={**environment},
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    return done.stdout


def _sources(folder: Path, spec: ProgramSpec) -> Iterator[Path]:
    """The files a build may read: whatever its lines name under `{dir}`.

    A line that names `{dir}` itself may read everything beside the manifest.
    """
    named = re.findall(r"\{dir\}(?:/([^/\s\"';&|)]+))?", " ".join(spec.build))
    roots = [folder / name for name in sorted(set(named))] if all(named) and named else [folder]
    for root in roots:
        for path in [root] if root.is_file() else sorted(root.rglob("*")):
            if path.is_file() and not any(
                part.startswith(".") for part in path.relative_to(folder).parts
            ):
                yield path
