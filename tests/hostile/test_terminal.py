"""A terminal gets text: whatever names, keys and messages hold, none of it is a command to it."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import threading
from collections.abc import Callable
from contextlib import redirect_stderr
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from live_run import Runner

from autofinity.linux.identity import identity_of
from autofinity.resources import shipped
from autofinity.store.behaviour_db import BehaviourDB
from autofinity.store.observation_file import write_file

pytestmark = pytest.mark.any_user

type OnTerminal = Callable[..., tuple[int, str]]

CLEAR, TITLE, C1, BIDI = "\x1b[2J", "\x1b]0;x\x07", "\x9b31m", "\u202e"
HOSTILE = f"a{CLEAR}{TITLE}{C1}{BIDI}[red]b"
SHOWN = r"a\x1b[2J\x1b]0;x\x07\x9b31m\u202e[red]b"
# Escapes of our own tables: colours, and the display of progress.
OURS = re.compile(r"\x1b\[[0-9;]*m|\x1b\[\?25[lh]|\x1b\[[0-9]*[AK]|\r")


def assert_plain(text: str, shown: str = SHOWN) -> None:
    """Nothing for a terminal to obey but our colours, and the hostile name readable in it."""
    plain = OURS.sub("", text)
    assert plain.replace("\n", "").replace("\t", "").isprintable(), repr(text)
    assert shown in "".join(plain.split("\n")), plain


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    path = tmp_path / "policy.json"
    condition = {"counter": HOSTILE, "above": 1.0, "upto": None}
    document = {
        "format": "autofinity-policy",
        "version": 4,
        "counters": [HOSTILE],
        "ratios": [],
        "cut_points": {HOSTILE: [1.0]},
        "rules": [{"hint": "slP", "when": [condition], "covered": 1.0, "wrong": 0.0}],
        "default": "SLP",
        "second": None,
        "other_counts": None,
        "provenance": {HOSTILE: HOSTILE},
    }
    path.write_text(json.dumps(document))
    return path


@pytest.mark.parametrize(
    "arguments",
    [
        ("show",),
        ("show", "--json"),
        ("explain", "--sample", f"{HOSTILE}=1"),
        *(("export", "--format", form) for form in ("text", "json", "sql", "markdown")),
    ],
)
def test_a_policy(on_terminal: OnTerminal, policy: Path, arguments: tuple[str, ...]) -> None:
    command, *options = arguments
    code, text = on_terminal(command, str(policy), *options)
    assert code == 0, text
    if arguments[-1] == "json" or arguments[-1] == "--json":
        assert json.loads(text)["counters"] == [HOSTILE]
        assert_plain(text, json.dumps(HOSTILE)[:10])
    elif arguments[-1] == "markdown":
        assert_plain(text, r"a\\x1b\[2J")
    else:
        assert_plain(text)


def test_a_counter_that_the_policy_has_not_is_said_plainly(
    on_terminal: OnTerminal, policy: Path
) -> None:
    code, text = on_terminal("explain", str(policy), "--sample", f"{HOSTILE}?=1")
    assert code == 2, text
    assert_plain(text)


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """Where `status` and `explain` look, with a run whose program, notes and CPUs are hostile."""
    path = tmp_path / "state" / "autofinity" / "behaviour.db"
    with BehaviourDB.open(path) as opened, opened.session.statement() as connection:
        connection.executescript(
            "PRAGMA foreign_keys = OFF;"
            f"INSERT INTO program VALUES ('key', '{HOSTILE}', 0);"
            f"INSERT INTO behaviour VALUES ('key', 2, '{{}}', '{HOSTILE}', 1e9, 'SLP', 'p', 0, 0, "
            "'');"
            "INSERT INTO run (program, pid, started, ended, tier, hint, notes, cpus, policy_path)"
            f" VALUES ('key', 1, 0, 1e9, '{HOSTILE}', 'SLP', 'one\n{HOSTILE}', '{HOSTILE}',"
            f" '{HOSTILE}');"
        )
    return path


@pytest.mark.parametrize("arguments", [("status",), ("status", "--json"), ("explain", "last")])
def test_the_behaviour_database(
    on_terminal: OnTerminal, database: Path, arguments: tuple[str, ...]
) -> None:
    code, text = on_terminal(*arguments)
    assert code == 0, text
    assert_plain(text, json.dumps(HOSTILE)[1:10] if "--json" in arguments else SHOWN)


@pytest.mark.parametrize(
    "words",
    [
        ("top", "--once"),
        ("top", "--json"),
        ("top", "--once", "1"),
        ("top", "1", "--json"),
        ("explain", "1"),
    ],
)
def test_a_live_run(on_terminal: OnTerminal, tmp_path: Path, words: tuple[str, ...]) -> None:
    path = tmp_path / "state" / "autofinity" / "behaviour.db"
    with BehaviourDB.open(path) as opened:
        process = identity_of(os.getpid())
        run = opened.begin_run(
            "key",
            f"/bin/{HOSTILE}",
            process.pid,
            HOSTILE,
            host=process.host,
            start_ticks=process.start_ticks,
            monitor_pid=process.pid,
            monitor_ticks=process.start_ticks,
            policy_path=HOSTILE,
            allowed=HOSTILE,
        )
        opened.update_run(run, threads=2, phase=HOSTILE, cpus=HOSTILE, notes=f"one\n{HOSTILE}")
    # Its name as that of a thread, too.
    name = threading.current_thread().name
    Path("/proc/self/comm").write_text(f"{CLEAR}{BIDI}")
    try:
        code, text = on_terminal(*words)
    finally:
        Path("/proc/self/comm").write_text(name[:15])
    assert code == 0, text
    assert_plain(text, json.dumps(HOSTILE)[1:10] if "--json" in words else SHOWN)


def test_a_dry_run(run: Runner, tmp_path: Path) -> None:
    """Dry run of a program with such a name, under a policy in such a folder."""
    folder = tmp_path / f"{CLEAR}{C1}"
    folder.mkdir()
    program = folder / "prog"
    shutil.copy("/bin/true", program)
    done = run("--dry-run", "--hint", "SLP", "--threads", "1", "--", program)
    assert done.returncode == 0, done.stderr
    assert_plain(done.stdout.decode(), r"\x1b[2J\x9b31m")


@pytest.mark.parametrize("program", [b"/nowhere/\x1b[2J\x9b31m", "/nowhere/\x9b31m\x7f".encode()])
def test_what_the_launcher_says(run: Runner, program: bytes) -> None:
    done = run("--verbose", "--hint", "SLP", "--", program)
    assert done.returncode == 127
    assert_no_control(done.stderr)
    done = run(b"--\x1b[2J\x9b31m", "--", "true")
    assert done.returncode == 2
    assert_no_control(done.stderr)


# C1 alone, behind a byte that is no UTF-8 or begins a letter; overlong, a surrogate, too large;
# overrides, isolates and marks of direction; what has no width.
UNSAFE = [
    b"\x9b",
    b"\xff\x9b",
    b"\xe2\x9b",
    b"\xc3\xc2\x9b",
    b"\xf0\x9f\x9b",
    b"\xc1\x9b",
    b"\xe0\x82\x9b",
    b"\xed\xa0\x9b",
    b"\xf4\x90\x80\x9b",
    *(chr(c).encode() for c in (*range(0x202A, 0x202F), *range(0x2066, 0x206A))),
    *(chr(c).encode() for c in (0x85, 0x9B, 0xAD, 0x61C, 0x200B, 0x200F, 0x2028, 0xFEFF, 0xE0041)),
]


@pytest.mark.parametrize("unsafe", UNSAFE, ids=repr)
def test_the_launcher_says_no_byte_that_a_terminal_may_obey(run: Runner, unsafe: bytes) -> None:
    for arguments in ((b"--policy", b"sp%bin", b"--", b"/bin/true"), (b"--%b", b"--", b"true")):
        said = run(*(word.replace(b"%b", unsafe) for word in arguments)).stderr
        assert b"?" in said
        assert said.decode().replace("\n", "").isprintable(), said


def test_the_launcher_says_letters_of_any_script(run: Runner) -> None:
    name = "é\u06fb\u16db\u4e9b\uff9b\U0001f69b"  # whose last bytes are 0x9b, most of them
    assert f"/nowhere/{name}" in run("--", f"/nowhere/{name}").stderr.decode()


def test_python_escapes_what_reorders_text() -> None:
    from autofinity.foreign_text import one_line, printable

    for unsafe in UNSAFE:
        text = unsafe.decode(errors="surrogateescape")
        assert one_line(text).isprintable() and printable(text).isprintable()


FORGED = "x\nautofinity: fake"


@pytest.mark.parametrize(
    "arguments",
    [
        ("simulate", "t", "--period", FORGED),
        ("profile", "--error", FORGED),
        ("attach", FORGED),
        ("attach", "1", "--bind", FORGED),
        ("attach", "1", f"--{FORGED}"),
        ("attach", "1", FORGED),
        ("status", "--db", FORGED),
        ("record-machine", "--output", f"{FORGED}/x"),
        ("capture", "--size", FORGED),
        (FORGED,),
    ],
)
def test_no_argument_begins_a_line(on_terminal: OnTerminal, arguments: tuple[str, ...]) -> None:
    code, text = on_terminal(*arguments)
    assert code in (1, 2), text
    assert not any(line.startswith("autofinity: fake") for line in text.split("\n")), text
    assert "fake" in text


def test_help_keeps_its_lines(on_terminal: OnTerminal) -> None:
    assert "\n  run " in on_terminal()[1]


def assert_no_control(said: bytes) -> None:
    """Neither in bytes nor in UTF-8."""
    assert said
    text = said.decode(errors="replace").replace("\ufffd", "?").replace("\n", "")
    assert text.isprintable(), said


@pytest.mark.parametrize(
    "arguments",
    [
        ("show", HOSTILE),
        (HOSTILE,),
        ("show", f"--{HOSTILE}"),
        ("topology", "--machine", HOSTILE),
        ("topology", "--machine", f"{HOSTILE}.toml"),
        ("topology", "--machine", f"{HOSTILE}.xml"),
        ("simulate", HOSTILE, "--machine", "xeon-e5-2650", "--hint", "SLP"),
        ("rules", HOSTILE),
        ("map", "--matrix", HOSTILE),
        ("status", "--db", f"/dev/null/{HOSTILE}"),
        ("export", HOSTILE, "--format", "c"),
        ("hints", "--hint", HOSTILE),
        ("capture", "--suite", HOSTILE),
        ("capture", "--", f"./{HOSTILE}"),
    ],
)
def test_an_argument_that_is_refused(on_terminal: OnTerminal, arguments: tuple[str, ...]) -> None:
    code, text = on_terminal(*arguments)
    assert code in (1, 2, 127), text
    assert_plain(text, "")
    assert "internal error of autofinity" not in text


def test_bytes_that_are_no_text(on_terminal: OnTerminal) -> None:
    code, text = on_terminal("show", b"caf\xe9\x9b31m")
    assert code == 2
    assert_plain(text, r"caf\udce9\udc9b31m")


def test_a_key_of_a_toml_file(on_terminal: OnTerminal, tmp_path: Path) -> None:
    path = tmp_path / "machine.toml"
    path.write_text('"a\\u202eb[red]" = 1\n' + '"\\u009b31m" = 2\n')
    code, text = on_terminal("topology", "--machine", str(path))
    assert code == 1
    assert_plain(text, r"\x9b31m")


def test_a_program_in_observations(on_terminal: OnTerminal, tmp_path: Path) -> None:
    import pyarrow as pa

    table = pq.read_table(shipped("data", "observations", "xeon-e5-2650.parquet"))
    names = pa.array([HOSTILE if n == "cg" else n for n in table.column("program").to_pylist()])
    table = table.set_column(table.column_names.index("program"), "program", names)
    path = write_file(tmp_path / "o.parquet", table, [("p", "small", 8, "affinity", "{8}", 1)])
    code, text = on_terminal("coverage", str(path), "--machine", "xeon-e5-2650")
    assert code == 0, text
    assert_plain(text)


def test_what_a_compiler_says(on_terminal: OnTerminal, tmp_path: Path) -> None:
    build = r"printf 'a\033[2J\302\233b\n' >&2; exit 1"
    suite = tmp_path / "suite.toml"
    suite.write_text(
        f"[suite]\nname = 's'\n[programs.p]\nrun = ['x']\nbuild = {json.dumps(build)}\n"
        "inputs = { small = '1' }\n"
    )
    code, text = on_terminal("capture", "--suite", str(suite), "--threads", "2")
    assert code == 1
    assert_plain(text, r"a\x1b[2J\x9bb")


def test_the_progress_of_work() -> None:
    """Titles and labels are names of programs."""
    from autofinity.cli.progress import progress

    out = Terminal()
    with redirect_stderr(out), progress(HOSTILE, 2) as bar:
        bar.step(HOSTILE)
    assert_plain(out.getvalue())


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True
