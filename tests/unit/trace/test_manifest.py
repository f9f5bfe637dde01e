from pathlib import Path

import pytest

from autofinity.model.errors import SuiteError
from autofinity.resources import shipped
from autofinity.trace.manifest import load_suite

MINIMAL = """
[suite]
name = "mine"
[programs.one]
build = "{cc} {cflags} -o {out}/one one.c {ldflags}"
run = ["{out}/one", "{input}"]
[programs.one.inputs]
small = "10"
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "suite.toml"
    path.write_text(text)
    return path


def test_the_shipped_suite_reads() -> None:
    suite = load_suite(shipped("training", "suite.toml"))
    assert len(suite.programs) >= 10
    assert all("small" in program.inputs for program in suite.programs.values())


def test_a_manifest_needs_no_more_than_build_run_and_inputs(tmp_path: Path) -> None:
    program = load_suite(write(tmp_path, MINIMAL)).programs["one"]
    assert program.run == ("{out}/one", "{input}")
    assert program.threads.allows(64)
    assert program.input_of("small") == "10"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"suite: missing; expected a table"),
        ("[suite", r"not a TOML file"),
        ("a = " + "[" * 20_000, r"not a TOML file"),
        (
            MINIMAL.replace("run =", "runn ="),
            r"programs\.one\.runn: unknown key; did you mean run\?",
        ),
        (MINIMAL.replace('small = "10"', ""), r"programs\.one\.inputs: .* at least one size"),
        (
            MINIMAL + "[programs.one.threads]\nallowed = '8-4'",
            r"threads\.allowed: got '8-4', expected 'LOW-HIGH'",
        ),
        (
            MINIMAL + "[programs.two]\nrun = 3\n",
            r"programs\.two\.run: got 3, expected a text or a list",
        ),
        (
            MINIMAL.replace("[programs.one]", "[programs.one]\ntimeout_s = -1"),
            r"got -1, expected a number above 0",
        ),
        (MINIMAL.replace("[programs.one]", "[programs.one]\nexpect = '('"), r"regular expression"),
        (MINIMAL.replace("[programs.one]", "[programs.one]\nroi = 'all'"), r"marks, parallel"),
        (MINIMAL.replace('"mine"', '"mine"\nversion = 2'), r"suite\.version: got 2, expected 1"),
        (MINIMAL.replace('"10"', "1979-05-27"), r"got 1979-05-27, .* quote dates"),
        (MINIMAL.replace("run =", "name = 'two'\nrun ="), r"programs\.one\.name: unknown key"),
        (
            MINIMAL.replace("{cflags}", "{cflag}"),
            r"\{cflag\} is no placeholder; did you mean cflags",
        ),
        (MINIMAL.replace("programs.one", "programs.'a b'"), r"name: got 'a b', expected a name of"),
        (
            MINIMAL.replace('small = "10"', "small = [10]"),
            r"inputs\.small: got \[10\], expected a te",
        ),
        (
            MINIMAL.replace("small =", "'../../small' ="),
            r"one\.inputs: got '\.\./\.\./small', expected sizes of letters",
        ),
        (
            MINIMAL + "[programs.one.threads]\nenv = { 'A=B' = '1' }",
            r"threads\.env: got 'A=B', expected names of environment variables",
        ),
        (
            MINIMAL.replace('"10"', r'"1\u0000"'),
            r"got '1\\x00', expected texts without control characters",
        ),
        (
            MINIMAL.replace("run =", r'"a\nb" ='),
            r"programs\.one\.'a\\nb': unknown key",
        ),
    ],
)
def test_a_wrong_manifest_is_an_error_that_names_the_key(
    tmp_path: Path, text: str, message: str
) -> None:
    with pytest.raises(SuiteError, match=message):
        load_suite(write(tmp_path, text))


def test_an_unknown_program_is_answered_with_the_known_ones(tmp_path: Path) -> None:
    suite = load_suite(write(tmp_path, MINIMAL))
    with pytest.raises(SuiteError, match=r"no program 'on'; did you mean one\?"):
        suite.pick(("on",))


def test_a_missing_manifest_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SuiteError, match="cannot be read: No such file"):
        load_suite(tmp_path / "none.toml")


@pytest.mark.parametrize(
    ("allowed", "yes", "no"),
    [('"2-8"', 2, 9), ('"power-of-two"', 16, 12), ("[3, 5]", 5, 4)],
)
def test_thread_counts_are_allowed_as_the_manifest_says(
    tmp_path: Path, allowed: str, yes: int, no: int
) -> None:
    text = MINIMAL + f"[programs.one.threads]\nallowed = {allowed}\n"
    threads = load_suite(write(tmp_path, text)).programs["one"].threads
    assert threads.allows(yes)
    assert not threads.allows(no)


def test_a_device_in_place_of_a_manifest_does_not_fill_the_memory() -> None:
    with pytest.raises(SuiteError, match="neither a regular file nor a pipe"):
        load_suite(Path("/dev/zero"))
