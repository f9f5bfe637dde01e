"""README's figures of the paper's machine are those that its command prints."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from printed import environment
from readme_results import rows_of_readme

ROOT = Path(__file__).resolve().parents[2]


def test_evaluate_prints_the_row_of_the_papers_machine(tmp_path: Path) -> None:
    asked = ["autofinity", "evaluate", "--machine", "opteron-6164he", "--json"]
    done = subprocess.run(asked, env=environment(tmp_path), capture_output=True, check=True)
    told = json.loads(done.stdout)["summary"]
    assert rows_of_readme()[0][1:] == [
        f"{told['wins']} of {told['interesting']}",
        f"{told['best_hint_ratio']:.3f}",
        f"{100 * told['regret_max']:.1f} %",
    ]
    text = " ".join((ROOT / "README.md").read_text().split())
    packed, spread, system = (told[f"{name}_ratio"] for name in ("packed", "spread", "os"))
    assert (
        f"{packed:.2f} times as fast as packed, {spread:.2f} times as spread, and {system:.2f} "
        "times as the operating system's" in text
    )
    within = told["in_run"]
    assert f"{within['wins']} of {within['interesting']} cases are won" in text
