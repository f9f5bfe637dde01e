"""Unusable input is refused by one line on stderr and an exit code, and stays as it is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from damaged import toml_of
from refusals import refused
from warm_commands import run_warm

from autofinity.learning import weka
from autofinity.model.errors import AutofinityError, LearningError
from autofinity.resources import shipped
from autofinity.store import observation_file
from autofinity.store.observations import read

pytestmark = pytest.mark.any_user

OBSERVATIONS = shipped("data", "observations", "xeon-e5-2650.parquet")


# ---- policies --------------------------------------------------------------------------------
def policy(**changes: Any) -> str:
    document: dict[str, Any] = {
        "format": "autofinity-policy",
        "version": 4,
        "counters": ["c"],
        "ratios": [],
        "cut_points": {},
        "rules": [],
        "default": "SLP",
        "second": None,
        "other_counts": None,
        "provenance": {},
    }
    return json.dumps(document | changes)


@pytest.mark.parametrize(
    ("command", "changes", "said"),
    [
        ("show", {"counters": ["\ud800"]}, "half a surrogate pair"),
        ("export", {"provenance": {"machine": "\ud800"}}, "half a surrogate pair"),
        ("explain", {"provenance": {"\udfff": 1}}, "half a surrogate pair"),
        ("export", {"counters": ["a\0b"]}, "without NUL"),
    ],
)
def test_a_policy_with_what_is_no_character(
    tmp_path: Path, command: str, changes: dict[str, Any], said: str
) -> None:
    path = tmp_path / "policy.json"
    path.write_text(policy(**changes))
    more = ("--sample", "c=1") if command == "explain" else ()
    assert said in refused(tmp_path, command, path, *more)


def test_a_policy_with_a_number_beyond_all_floats(tmp_path: Path) -> None:
    path = tmp_path / "policy.json"
    path.write_text(policy(provenance={"made": 7}).replace("7", "1e999"))
    assert "too large a number" in refused(tmp_path, "show", path, "--json")


# ---- observations ----------------------------------------------------------------------------
ROWS = pq.read_table(OBSERVATIONS).slice(0, 50)


def sealed(path: Path, table: pa.Table) -> Path:
    return observation_file.write_file(path, table, [("cg", "small", 8, "affinity", "{8}", 1)])


@pytest.mark.parametrize(
    ("command", "name"),
    [
        *((command, "/dev/zero") for command in ("counters", "bins", "rules")),
        *(("counters", name) for name in ("./own.toml", "{" * 5000, "synthetic:" + "{" * 5000)),
    ],
)
def test_a_machine_that_observations_name_is_no_path(
    tmp_path: Path, command: str, name: str
) -> None:
    path = sealed(tmp_path / "f.parquet", with_column("machine", pa.array([name] * 50)))
    said = refused(tmp_path, command, path, code=2)
    assert "no known machine" in said and len(said) < 300


def with_column(name: str, values: Any) -> pa.Table:
    return ROWS.set_column(ROWS.column_names.index(name), name, values)


@pytest.mark.parametrize(
    ("name", "values", "said"),
    [
        ("performance", pa.array(["fast"] * 50), "'performance' holds string, expected numbers"),
        ("roi_s", pa.array([[1.0]] * 50), "'roi_s' holds list<"),
        ("threads", pa.nulls(50, pa.int64()), "'threads' lacks values"),
        ("program", pa.array([None] * 50, pa.string()), "'program' lacks values"),
        ("seed", pa.array([-1] * 50), "'seed' has -1, expected 0 or more"),
        ("threads", pa.array([0] * 50), "'threads' has 0, expected 1 to"),
        ("counter:instructions", pa.array([-1] * 50), "'counter:instructions' has -1"),
        ("progress", pa.array([1.5] * 50), "'progress' has 1.5, expected 0 to 1"),
        ("performance", pa.array([float("nan")] * 50), "'performance' has NaN"),
        ("affinity", pa.array(["{2"] * 50), "'affinity': not an affinity: '{2'"),
        ("placement", pa.array(["\x1b[2J"] * 50), r"'placement': got '\x1b[2J'"),
    ],
)
def test_sealed_observations_of_the_wrong_kind(
    tmp_path: Path, name: str, values: Any, said: str
) -> None:
    path = sealed(tmp_path / "observations.parquet", with_column(name, values))
    with pytest.raises(AutofinityError) as error:
        read(path)
    assert str(error.value).startswith(f"{path} is damaged (the column {said}")


def test_a_command_refuses_them_in_one_line(tmp_path: Path) -> None:
    table = with_column("placement", pa.array(["\x1b[2J"] * 50))
    path = sealed(tmp_path / "observations.parquet", table)
    said = r"is damaged (the column 'placement': got '\x1b[2J'"
    assert f"{path} {said}" in refused(tmp_path, "table", path)


def test_sealed_observations_without_a_row(tmp_path: Path) -> None:
    path = sealed(tmp_path / "observations.parquet", ROWS.slice(0, 0))
    assert "holds no observations" in refused(tmp_path, "rules", path)


def test_observations_in_other_kinds_of_numbers_and_texts_are_the_same(tmp_path: Path) -> None:
    """Other programs write whole numbers of 32 bits, and texts as codes."""
    other = with_column("threads", ROWS.column("threads").cast(pa.int32()))
    at = other.column_names.index("program")
    other = other.set_column(at, "program", other.column("program").dictionary_encode())
    expected = read(sealed(tmp_path / "a.parquet", ROWS)).digest()
    assert read(sealed(tmp_path / "b.parquet", other)).digest() == expected


# ---- matrices --------------------------------------------------------------------------------
def test_a_matrix_of_the_smallest_amounts_is_mapped_as_one_of_ones(tmp_path: Path) -> None:
    answers = []
    for amount in ("1", "5e-324"):
        path = tmp_path / "matrix.csv"
        path.write_text("0,0,0,x\n0,0,x,0\n0,x,0,0\nx,0,0,0\n".replace("x", amount))
        done = run_warm(["map", "--matrix", path, "--machine", "xeon-e5-2650", "--json"])
        assert done.returncode == 0, done.stderr
        document = json.loads(done.stdout)
        answers.append(
            {each["algorithm"]: each.get("cpus") for each in document["algorithms"]}
            | {"reasons": [each.get("reason") for each in document["algorithms"]]}
        )
    assert answers[0] == answers[1]


@pytest.mark.parametrize("cell", ["1e308", "1e200", "inf", "nan", "-5e-324", "\x1b[2J"])
def test_a_matrix_of_what_is_no_amount(tmp_path: Path, cell: str) -> None:
    path = tmp_path / "matrix.csv"
    path.write_text(f"0,{cell}\n{cell},0\n")
    said = refused(tmp_path, "map", "--matrix", path, "--machine", "xeon-e5-2650", code=2)
    assert "line 1, column 2" in said and "from 0 to 1e+150" in said


# ---- machines --------------------------------------------------------------------------------
@pytest.mark.parametrize("key", ["memory_gbs", "fabric_gbs", "llc_gbs", "links"])
@pytest.mark.parametrize("gbs", ["1e-300", "5e-324"])
def test_a_machine_file_with_a_bandwidth_of_1e_300(tmp_path: Path, key: str, gbs: str) -> None:
    import tomllib

    document = tomllib.loads(shipped("data", "machines", "opteron-6164he.toml").read_text())
    value = float(gbs)
    document["bandwidth"][key] = [[0, 1, value]] if key == "links" else value
    path = tmp_path / "machine.toml"
    path.write_bytes(toml_of(document))
    said = refused(tmp_path, "topology", "--machine", path)
    assert f"bandwidth.{key}" in said and "expected 0.001 or more, or 0: no limit" in said


def test_a_machine_file_with_a_number_of_thousands_of_digits(tmp_path: Path) -> None:
    path = tmp_path / "machine.toml"
    path.write_text(f"name = 'm'\nmodel = 'm'\nghz = 0x{'f' * 5000}\n")
    assert "expected whole numbers of 64 bits" in refused(tmp_path, "topology", "--machine", path)


# ---- suites ----------------------------------------------------------------------------------
SUITE = '[suite]\nname = "s"\n[programs.p]\nrun = ["/bin/true"]\ninputs = { small = "1" }\n'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (SUITE.replace('"s"', r'"s\u0000"'), "without control characters"),
        (SUITE.replace("programs.p", r'programs."a\u0000b"'), "without control characters"),
        (SUITE.replace("/bin/true", r"/bin/\u0000true"), "without control characters"),
        (SUITE.replace("/bin/true", r"/bin/\u009btrue"), "without control characters"),
        (SUITE.replace("programs.p", 'programs."A=B"'), "a name of letters, digits and ._+-"),
        (SUITE + '[programs.p.threads]\nenv = { "A=B" = "1" }\n', "names of environment variables"),
        (SUITE + r'[programs.p.threads]' + '\nenv = { "A\\u0000" = "1" }\n', "control characters"),
    ],
)  # fmt: skip
def test_a_suite_with_nul_or_an_equals_sign_in_a_name(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "suite.toml"
    path.write_text(text)
    out = tmp_path / "traces"
    assert said in refused(tmp_path, "capture", "--suite", path, "--threads", "2", "-o", out)


# ---- Java ------------------------------------------------------------------------------------
@pytest.mark.weka
def test_java_that_is_out_of_memory_says_so_and_not_that_observations_are_wrong() -> None:
    code = (
        "import numpy as np\nfrom autofinity.learning import weka\n"
        "from autofinity.model.errors import AutofinityError, LearningError\n"
        "def learn(n):\n"
        "    rows, labels = np.ones((n, 8)), np.arange(n) % 2\n"
        "    return weka.jrip(rows, [None] * 8, labels, np.ones(n), 1)\n"
        "try:\n    learn(10**6)\n"
        "except LearningError as error:\n    print(error)\n"
        "print(len(learn(8)[1]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "JAVA_TOOL_OPTIONS": "-Xmx64m"},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    said, predicted = done.stdout.splitlines()
    assert said.startswith("Java is out of memory") and "--learner ripper" in said
    assert "observations" not in said
    assert int(predicted) == 8


@pytest.mark.weka
def test_java_that_runs_out_of_memory_half_way_says_the_same() -> None:
    weka._weka()  # Java has been started
    from jpype import JClass

    with (
        pytest.raises(LearningError, match="Java is out of memory"),
        weka._java_errors("JRip"),
    ):
        raise JClass("java.lang.OutOfMemoryError")("Java heap space")
