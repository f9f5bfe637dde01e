"""An interrupted command says that results are kept where its work records them, only there."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from autofinity.cli.interruption import Interruption
from autofinity.cli.main import cli
from autofinity.resources import shipped

OBSERVATIONS = str(shipped("data", "observations", "xeon-e5-2650.parquet"))


def said_after(*words: str, stop: bool = False) -> str:
    interruption = Interruption()
    done = CliRunner().invoke(cli, words, obj=interruption)
    assert isinstance(done.exception, KeyboardInterrupt | SystemExit if stop else type(None)), done
    return interruption.said


@pytest.mark.parametrize(
    "words",
    [
        "figure 2a",
        "compare --list",
        f"rules {OBSERVATIONS} --counters instructions",
        "evaluate -m xeon-e5-2650 -p cg -t 8 --policy any-machine",
        "evaluate -m xeon-e5-2650 --help",
    ],
)
def test_what_records_nothing_promises_nothing(words: str) -> None:
    assert said_after(*words.split()) == "interrupted"


@pytest.mark.parametrize(
    ("words", "work"),
    [
        ("capture", "workflow.capture.capture_traces"),
        ("profile", "workflow.profile.gather"),
        ("train -o FILE", "workflow.train.train"),
        ("evaluate", "workflow.evaluate.evaluate"),
        ("evaluate -m any", "workflow.several_machines.evaluate_across"),
        ("evaluate --policy any-machine --observations none", "workflow.evaluate.evaluate"),
        ("compare", "workflow.compare.compared"),
        ("figure kmaf14-12", "workflow.paper_runs.PaperRuns"),
    ],
)
def test_work_that_records_says_that_results_are_kept(
    words: str, work: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(f"autofinity.{work}", interrupted)
    given = words.replace("FILE", str(tmp_path / "policy.json")).split()
    said = said_after(*given, stop=True)
    assert said.startswith("interrupted; recorded results are kept, and the same command goes on")
