"""Programs are built with this machine's vectors, and without where it has none of them."""

from pathlib import Path

import pytest

from autofinity.capture.vectors import FLAG, vector_flags
from autofinity.resources import shipped
from autofinity.trace.manifest import load_suite

GCC = "gcc (Debian 12.2.0-14+deb12u1) 12.2.0\nCopyright (C) 2022 Free Software Foundation, Inc."
FLAGS = "fpu sse4_2 avx avx2 bmi1 bmi2 f16c fma movbe abm"


def asked(tmp_path: Path, flags: str = FLAGS, *versions: str, machine: str = "x86_64") -> str:
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text(f"processor\t: 0\nflags\t\t: {flags}\n\nprocessor\t: 1\n")
    return vector_flags(versions or (GCC,), machine, cpuinfo)


def test_a_cpu_and_a_compiler_that_have_them_use_them(tmp_path: Path) -> None:
    assert asked(tmp_path) == FLAG
    assert asked(tmp_path, FLAGS, "Debian clang version 14.0.6\nTarget: x86_64") == FLAG


@pytest.mark.parametrize("lacking", FLAGS.split()[2:])
def test_a_cpu_that_lacks_one_part_gets_none(tmp_path: Path, lacking: str) -> None:
    assert asked(tmp_path, FLAGS.replace(f" {lacking} ", " ").removesuffix(f" {lacking}")) == ""


@pytest.mark.parametrize(
    "version",
    ["gcc (GCC) 10.2.1 20210110", "clang version 11.0.1-2", "some compiler", ""],
)
def test_a_compiler_that_does_not_know_them_gets_none(tmp_path: Path, version: str) -> None:
    assert asked(tmp_path, FLAGS, GCC, version) == ""


def test_other_machines_get_none(tmp_path: Path) -> None:
    assert asked(tmp_path, machine="aarch64") == ""
    assert vector_flags((GCC,), "x86_64", tmp_path / "no such file") == ""


def test_no_training_program_names_a_machine_of_its_own() -> None:
    for spec in load_suite(shipped("training", "suite.toml")).programs.values():
        assert all("{vectors}" in line for line in spec.build)
        assert not any("-march" in line for line in spec.build)
