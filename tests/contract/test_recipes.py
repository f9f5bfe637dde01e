"""Recipes of CONTRIBUTING.md for additions are true: done in a copy, with no file but those."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import autofinity

ROOT = Path(__file__).resolve().parents[2]
TABLE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("## To add something")[2]


class Scratch:
    """A copy of the package in a source tree, and which of its files were touched."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.touched: set[str] = set()
        package = Path(autofinity.__file__).parent
        leave = shutil.ignore_patterns("share", "native", "__pycache__")
        shutil.copytree(package, root / "autofinity", ignore=leave)
        for name in ("autofinity/native/mapping", "data/machines", "docs", "policies", "scripts"):
            shutil.copytree(ROOT / name, root / name)
        for name in ("pyproject.toml", "Makefile", "README.md"):
            shutil.copy(ROOT / name, root)

    def add(self, name: str, text: str) -> None:
        path = self.root / name
        assert not path.exists()
        path.write_text(text, encoding="utf-8")
        self.touched.add(name)

    def insert(self, name: str, before: str, text: str) -> None:
        """`text` before the one place where `before` is."""
        path = self.root / name
        old = path.read_text(encoding="utf-8")
        assert old.count(before) == 1, before
        path.write_text(old.replace(before, text + before), encoding="utf-8")
        self.touched.add(name)

    def python(self, *words: str) -> str:
        env = {**os.environ, "PYTHONPATH": str(self.root)}
        command = [sys.executable, "-P", *words]
        done = subprocess.run(command, cwd=self.root, env=env, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def said(self, *words: str) -> str:
        return self.python("-m", "autofinity", *words)

    def document(self, name: str) -> str:
        """As `make lists` writes it."""
        self.python("scripts/lists.py")
        self.python("scripts/lists.py", "--check")
        return (self.root / "docs" / name).read_text(encoding="utf-8")

    def is_what_the_table_says(self, of: str, files: int) -> bool:
        """The files that were touched are those of the recipe, so many."""
        (row,) = re.findall(rf"^\| {of} \| (.*?) \|", TABLE, re.MULTILINE)
        named = {name.replace("NAME", "dummy") for name in re.findall(r"`([^`]*)`", row)}
        return self.touched == named and len(named) == files


@pytest.fixture
def scratch(tmp_path: Path) -> Scratch:
    return Scratch(tmp_path)


def test_a_mechanism_is_a_recipe_and_a_row(scratch: Scratch) -> None:
    scratch.add(
        "autofinity/mechanisms/dummy.py",
        "from autofinity.mapping.eagermap import eagermap\n"
        "from autofinity.mechanisms.kmaf16 import faults\n"
        "from autofinity.mechanisms.sharing_aware import SharingAware\n"
        "def dummy(setting):\n"
        "    return SharingAware('dummy', setting, (faults(setting),), mapper=eagermap)\n",
    )
    scratch.insert(
        "autofinity/mechanisms/registry.py",
        '    Entry("oracle-affinity"',
        '    Entry("dummy", "faults, EagerMap", "dummy:dummy", moves_pages=True, live="mine"),\n',
    )
    assert scratch.is_what_the_table_says("a mechanism", files=2)
    assert json.loads(scratch.said("compare", "--list", "--json"))["dummy"] == "faults, EagerMap"
    assert "|mine]" in "".join(scratch.said("attach", "--help-all").split())
    scratch.python("-m", "autofinity.mechanisms.lists", "lists.h")
    header = (scratch.root / "lists.h").read_text()
    abilities = header.partition("MECHANISM_ABILITIES ")[2].partition("#define")[0]
    assert '{"mine", 1, 0}' in abilities
    assert 'MECHANISMS_MOVING_PAGES "kmaf14, kmaf, unified or mine"' in header
    assert re.search(r'" +mine +faults, EagerMap \(dummy\)\\n"', header)
    assert "| `dummy` | faults, EagerMap | yes |" in scratch.document("mechanisms.md")
    assert "* `mine`: faults, EagerMap (dummy)" in scratch.document("run.md")
    made = (
        "from autofinity.mechanisms.registry import LIVE; import sys;"
        "from autofinity.mechanisms.recipe import Setting;"
        "from autofinity.linux.sysfs_topology import read_sysfs;"
        "print(LIVE['mine'].make_live(Setting(read_sysfs('/sys'), 2, 1e9)).name)"
    )
    assert scratch.python("-c", made) == "dummy\n"


def test_a_mapper_in_python_is_a_file_and_a_row(scratch: Scratch) -> None:
    scratch.add(
        "autofinity/mapping/dummy.py",
        "from autofinity.mapping.seats import seats\n"
        "def dummy(sharing, topology, available):\n"
        "    return tuple(reversed(seats(topology, sharing.threads, available)))\n",
    )
    table = "autofinity/mapping/mappers.py"
    scratch.insert(table, '    "compact": Mapper(', '    "dummy": Mapper(dummy, "backwards"),\n')
    scratch.insert(
        table, "from autofinity.mapping.scotch", "from autofinity.mapping.dummy import dummy\n"
    )
    assert scratch.is_what_the_table_says("a mapper in Python", files=2)
    (scratch.root / "pairs.csv").write_text("0,1\n1,0\n")
    machine = ("--matrix", "pairs.csv", "-m", "synthetic:pack:2 core:1 pu:1", "--hint", "SLP")
    said = json.loads(scratch.said("map", *machine, "-a", "dummy", "--json"))
    assert said["cpus"] == [1, 0]
    assert "dummy" in {each["algorithm"] for each in said["algorithms"]}
    assert "| `dummy` | backwards | ours |" in scratch.document("mapping.md")


def test_a_native_mapper_is_two_files_and_two_rows(scratch: Scratch) -> None:
    compiler = shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("no C++ compiler: expected c++, g++ or clang++")
    room = "autofinity/native/mapping"
    declared = (
        "std::vector<int> dummy(const topology::Machine&, const Matrix&, const SeatTree& tree)"
    )
    scratch.add(
        f"{room}/dummy.hpp",
        '#pragma once\n#include "mapping/mappers.hpp"\n'
        f"namespace autofinity::mapping {{ {declared}; }}\n",
    )
    scratch.add(
        f"{room}/dummy.cpp",
        '#include "mapping/dummy.hpp"\n'
        f"namespace autofinity::mapping {{ {declared} {{ return tree.pus(); }} }}\n",
    )
    scratch.insert(
        f"{room}/mappers.cpp", '#include "mapping/eager', '#include "mapping/dummy.hpp"\n'
    )
    scratch.insert(f"{room}/mappers.cpp", '    {"eagermap"', '    {"dummy", dummy},\n')
    table = "autofinity/mapping/mappers.py"
    row = '    "dummy": Mapper(native_mapper("dummy"), "as they come"),\n'
    scratch.insert(table, '    "compact": Mapper(', row)
    imported = "from autofinity.mapping.native_mapper import native_mapper\n"
    scratch.insert(table, "from autofinity.mapping.refined", imported)
    assert scratch.is_what_the_table_says("a native mapper", files=4)
    assert "dummy" in scratch.said("map", "--help")
    native = [scratch.root / "autofinity/native", ROOT / "autofinity/native"]
    flags = ["-std=c++20", "-Wall", "-Werror", "-fsyntax-only", *(f"-I{each}" for each in native)]
    for name in ("dummy.cpp", "mappers.cpp"):
        subprocess.run([compiler, *flags, scratch.root / room / name], check=True)
    listed = (scratch.root / room / "CMakeLists.txt").read_text()
    assert "GLOB" in listed and "eager.cpp" not in listed  # so it is built, too


def test_an_export_format_is_a_file_and_a_row(scratch: Scratch) -> None:
    scratch.add(
        "autofinity/policy/export_dummy.py",
        "def dummy(policy, prefix):\n    return f'{prefix} {policy.default}'\n",
    )
    table = "autofinity/policy/export.py"
    scratch.insert(table, '    "sql": Format(', '    "dummy": Format("for a test", dummy),\n')
    scratch.insert(
        table,
        "from autofinity.policy.export_markdown",
        "from autofinity.policy.export_dummy import dummy\n",
    )
    assert scratch.is_what_the_table_says("an export format", files=2)
    assert "dummy: for a test" in " ".join(scratch.said("export", "--help").split())
    words = (
        "export",
        str(ROOT / "policies/opteron-6164he.json"),
        "--format",
        "dummy",
        "--prefix",
        "x",
    )
    assert re.fullmatch("x [Ss][Ll][Pp]", scratch.said(*words))


def test_a_launcher_is_a_file_and_a_row(scratch: Scratch) -> None:
    scratch.add(
        "autofinity/affinity/launchers/dummy.py",
        "from autofinity.affinity.launchers.form import LauncherForm, ascending, for_each\n"
        "DUMMY = LauncherForm('for a test', for_each(lambda task: ascending(task.cpus, '/')))\n",
    )
    table = "autofinity/affinity/launchers/table.py"
    scratch.insert(table, '    "taskset": commands', '    "dummy": dummy.DUMMY,\n')
    scratch.insert(table, "    kubernetes,\n", "    dummy,\n")
    assert scratch.is_what_the_table_says("a launcher", files=2)
    assert "for another launcher: dummy, taskset" in " ".join(
        scratch.said("hints", "--help").split()
    )
    words = ("hints", "-m", "opteron-6164he", "-t", "2", "--hint", "packed", "--as", "dummy")
    assert scratch.said(*words) == "0/1\n"
    row = (
        "| `dummy` | for a test | words before the program | by its documented grammar | `0/1` … |"
    )
    assert row in scratch.document("hints.md")


def test_a_machine_is_a_file_and_what_is_shipped_of_it_one_command(scratch: Scratch) -> None:
    text = (ROOT / "data/machines/tlb-simulated.toml").read_text(encoding="utf-8")
    scratch.add("data/machines/dummy.toml", text.replace('"tlb-simulated"', '"dummy"'))
    assert scratch.is_what_the_table_says("a machine", files=1)
    machines = json.loads(scratch.said("machines", "--json"))["machines"]
    assert "dummy" in {machine["name"] for machine in machines}
    assert scratch.document("machines.md").count("| `dummy` | ") == 2
    (command,) = re.findall(r"`(make .* MACHINES=NAME)`", TABLE)
    words = [*command.replace("NAME", "dummy").split(), "--dry-run"]
    # Within a make, too, which would have this one name the folders it enters and leaves.
    env = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    # The environment is there already, newer than anything.
    done = subprocess.run(
        [*words, "--old-file=.venv/.ready"],
        cwd=scratch.root,
        env=env,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    ran = done.stdout.splitlines()[-3:]
    assert re.search(r"scripts/observations +\.venv dummy", ran[0])
    assert ran[1].endswith("scripts/policies.py dummy")
    assert ran[2].endswith("scripts/lists.py")
