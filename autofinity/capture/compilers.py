"""The compilers of this machine that build a suite's programs."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass

from autofinity.model.errors import SuiteError
from autofinity.trace.manifest import ProgramSpec


@dataclass(frozen=True, slots=True)
class Compilers:
    """Commands by placeholder; Fortran may be missing."""

    cc: str
    cxx: str
    fc: str | None

    @classmethod
    def find(cls, environment: Mapping[str, str]) -> Compilers:
        """CC, CXX and FC of the environment, or the first usual name on the path.

        Raises `SuiteError` without a C or a C++ compiler.
        """

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

    def used_by(self, spec: ProgramSpec) -> list[str]:
        """The compilers that a program may be built with: a C or a C++ compiler also where a build
        calls it without a placeholder, a Fortran compiler only where the manifest says so. C
        programs are not built again where one is installed.
        """
        fortran = [self.fc] if self.fc is not None and _needs_fortran(spec) else []
        return [self.cc, self.cxx, *fortran]


def skip_reason(spec: ProgramSpec, compilers: Compilers) -> str | None:
    """Reason why the program cannot be built here, or None."""
    if compilers.fc is None and _needs_fortran(spec):
        return "no Fortran compiler (gfortran on the path, or FC)"
    return None


def _needs_fortran(spec: ProgramSpec) -> bool:
    return spec.language == "fortran" or any("{fc}" in line for line in spec.build)


def version(compiler: str) -> str:
    """Text that the command says of its version; empty where there is no such command."""
    done = subprocess.run(
        f"{compiler} --version",
        shell=True,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    return done.stdout
