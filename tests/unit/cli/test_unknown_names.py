"""A name that is on no list is wrong use in every command: exit code 2, with what is listed."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from autofinity.api.traces import capture_traces
from autofinity.cli.main import COMMANDS, cli
from autofinity.model.errors import AutofinityError
from autofinity.resources import shipped
from autofinity.runtime.launcher import find_launcher
from autofinity.store.behaviour_db import BehaviourDB

OBSERVATIONS = str(shipped("data", "observations", "xeon-e5-2650.parquet"))
WHOLE = ("explain", "any-machine", "--sample", "instructions=1e9")
# Command line; a word of what is on the list. FOLDER, MATRIX, TRACE, DB: of the test.
UNKNOWN = [
    # machines
    *((words, "opteron-6164he") for words in (
        "topology -m nosuch", "hints -m nosuch", "hints -m nosuch -t 2",
        "affinities -m nosuch -t 2",
        "map --matrix MATRIX -m nosuch", "simulate TRACE -m nosuch", "detect TRACE -m nosuch",
        "advise TRACE -m nosuch", "compare -m nosuch -t 4", "figure kmaf14-12 -m nosuch",
        "profile -m nosuch", "train -m nosuch -o FOLDER/x", "evaluate -m nosuch",
        f"rules {OBSERVATIONS} -m nosuch", f"table {OBSERVATIONS} -m nosuch",
        f"counters {OBSERVATIONS} -m nosuch", f"bins {OBSERVATIONS} -m nosuch",
        "export any-machine -m nosuch -t 4",
    )),
    ("figure 12 -m nosuch", "no observations of nosuch"),
    ("coverage -m nosuch", "no observations of nosuch"),
    ("advise -m nosuch -- true", "expected no --machine"),
    ("detect -m nosuch -- true", "expected no --machine"),
    # programs of a suite, and their inputs
    *((words, "pricer") for words in (
        "profile -p nosuch", "train -p nosuch -o FOLDER/x", "evaluate -p nosuch",
        "evaluate -m xeon-e5-2650 -p nosuch", "compare -p nosuch", "figure kmaf14-12 -p nosuch",
        "capture -p nosuch", "advise -p nosuch --curve 2 -m xeon-e5-2650",
    )),
    ("figure 1 -p nosuch", "align"),
    ("figure 11 -p nosuch", "all programs"),
    *((words, "tiny") for words in (
        "profile -p cg --size nosuch", "train -p cg --size nosuch -o FOLDER/x",
        "evaluate -p cg --size nosuch", "compare -p cg --size nosuch",
        "capture -p cg --size nosuch",
        "advise -p cg --size nosuch --curve 2 -m xeon-e5-2650",
    )),
    # policies
    *((words, "any-machine") for words in (
        "show nosuch", "export nosuch", "explain nosuch", "explain nosuch --sample a=1",
        "evaluate --policy nosuch", "evaluate -m any --policy nosuch", "compare --policy nosuch",
        "advise TRACE --policy nosuch", "advise --policy nosuch -- true",
        "simulate TRACE --policy nosuch", "rebuild --policy nosuch --db DB",
        "attach --policy nosuch 1",
    )),
    # counters
    *((words, "llc_misses") for words in (
        f"rules {OBSERVATIONS} --counters nosuch", f"table {OBSERVATIONS} --counters nosuch",
        f"bins {OBSERVATIONS} --counters nosuch", "coverage -m xeon-e5-2650 --counters nosuch",
    )),
    *((f"{command} {OBSERVATIONS} --counters useful_work", "autofinity counters") for command in (
        "rules", "table", "bins",
    )),
    *((f"explain any-machine {words} nosuch=1", "llc_requests") for words in (
        "--sample", "--sample instructions=1 --second", "--sample instructions=1 --trial",
    )),
    # hints, launchers, formats, mechanisms, detectors, figures, affinities, devices, places
    ("hints -t 2 --hint nosuch", "packed"),
    ("simulate TRACE --hint nosuch", "packed"),
    ("detect TRACE --hint nosuch", "packed"),
    ("hints -t 2 --hint packed --as nosuch", "taskset"),
    ("hints -t 2 --near nosuch", "nosuch"),
    ("topology -t 2 --near nosuch", "nosuch"),
    ("export any-machine --format nosuch", "markdown"),
    ("attach --mechanism nosuch 1", "kmaf"),
    ("compare --mechanism nosuch", "kmaf"),
    ("map --matrix MATRIX --algorithm nosuch", "eagermap"),
    ("detect TRACE --with nosuch", "tlb"),
    ("figure nosuch", "kmaf14-12"),
    ("profile --affinities nosuch", "hints"),
    ("profile --on nosuch", "slurm"),
    # runs and processes
    ("explain 99999 --db DB", "status"),
    ("restore 999999999 --db DB", "status"),
    ("attach 999999999", "running program"),
    ("advise --pid 999999999", "running program"),
    # words of our own
    ("nosuch", "nosuch"),
    *((f"{command} --nosuch", "--nosuch") for command in COMMANDS if command != "run"),
]  # fmt: skip


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("names")
    (trace,) = capture_traces(programs="prodcons", threads=2, size="tiny", folder=folder / "traces")
    (folder / "m.csv").write_text("0,1\n1,0\n")
    with BehaviourDB.open(folder / "b.db"):
        pass
    found = {"MATRIX": folder / "m.csv", "TRACE": trace.path, "DB": folder / "b.db"}
    return {name: str(path) for name, path in (found | {"FOLDER": folder}).items()}


@pytest.mark.parametrize(("words", "listed"), UNKNOWN, ids=lambda words: words[:60])
def test_an_unknown_name_is_wrong_use(
    words: str,
    listed: str,
    places: dict[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    given = []
    for word in words.split():
        for name, path in places.items():
            word = word.replace(name, path)
        given.append(word)
    done = CliRunner().invoke(cli, given, terminal_width=1000)
    if isinstance(done.exception, AutofinityError):
        code, said = done.exception.exit_code, str(done.exception)
    else:
        assert isinstance(done.exception, SystemExit), repr(done.exception)
        code, said = done.exit_code, done.output
    assert code == 2, said
    assert listed in said
    assert list(tmp_path.iterdir()) == [], "what is refused leaves no folder"


@pytest.mark.parametrize(
    "words", ["--mechanism nosuch", "--hint nosuch", "--bind nosuch", "--nosuch"]
)
def test_the_launcher_refuses_unknown_names_alike(words: str) -> None:
    done = subprocess.run(
        [find_launcher(), "run", *words.split(), "--", "false"], capture_output=True
    )
    assert done.returncode == 2
