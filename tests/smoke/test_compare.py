"""`autofinity compare`, as people and programs call it."""

from __future__ import annotations

import json
from pathlib import Path

from commands import autofinity

ONE = (
    *("--machine", "opteron-6164he", "--threads", "4", "--size", "tiny", "--repeats", "2"),
    *("--program", "prodcons", "--mechanism", "kmaf16"),
    *("--mechanism", "autofinity", "--mechanism", "unified"),
)
SMALL = (*ONE, "--program", "pic")
RUN = ["os", "autofinity", "kmaf16", "unified", "oracle"]


def test_mechanisms_are_compared_and_what_was_run_is_not_run_again(tmp_path: Path) -> None:
    work = ("--work", str(tmp_path))
    said = json.loads(autofinity("compare", *SMALL, *work, "--json").stdout)
    assert said["failed"] == []
    assert {case["program"] for case in said["cases"]} == {"prodcons", "pic"}
    assert [case["mechanism"] for case in said["cases"]] == [n for n in RUN for _ in range(2)]
    assert list(said["summary"]) == RUN
    assert said["summary"]["os"]["time_vs_os"] == 1
    assert said["summary"]["oracle"]["of_oracle"] == 1
    wanted = {"time", "mpki", "traffic", "energy", "overhead"}
    wanted |= {"thread_migrations", "page_migrations"}
    for case in said["cases"]:
        assert wanted <= set(case)
        assert case["time"] > 0
        assert (case["overhead"] > 0) == (case["mechanism"] not in ("os", "oracle"))
        assert bool(case["notes"]) == (case["mechanism"] in ("autofinity", "unified"))
    (kept,) = tmp_path.rglob("mechanisms.jsonl")
    lines = kept.read_text().splitlines()
    assert len(lines) == 2 * len(RUN)
    kept.write_text("\n".join(lines[:-1]) + "\n" + lines[-1][:40])  # as a crash leaves it
    picture = tmp_path / "times.svg"
    table = autofinity("compare", *SMALL, *work, "-o", str(picture)).stdout
    assert all(name in table for name in RUN)
    assert "  c2c            transfers from cache to cache\n" in table
    assert "<svg" in picture.read_text()
    assert kept.read_text().splitlines()[-1].endswith("}}")
    again = json.loads(autofinity("compare", *SMALL, *work, "--json").stdout)
    assert again == said


def test_a_page_watches_runs_again_and_changes_no_result(tmp_path: Path) -> None:
    asked = (*ONE, "--seeds", "2", "--work", str(tmp_path), "--json")
    without = autofinity("compare", *asked).stdout
    (kept,) = tmp_path.rglob("mechanisms.jsonl")
    lines = sorted(kept.read_text().splitlines())
    kept.unlink()
    page = tmp_path / "page.html"
    assert autofinity("compare", *asked, "--html", str(page)).stdout == without
    assert sorted(kept.read_text().splitlines()) == lines
    text = page.read_text()
    for mechanism in RUN[1:]:
        for when in ("before", "after"):
            assert f'id="time-instructions-{mechanism}-{when}"' in text
            assert f'id="time-reads-by-node-{mechanism}-{when}"' in text
    assert "Not recorded" not in text


def test_programs_run_side_by_side_with_large_pages_and_more_faults(tmp_path: Path) -> None:
    said = json.loads(
        autofinity(
            *("compare", "--machine", "opteron-6164he", "--threads", "4", "--size", "tiny"),
            *("--repeats", "1", "--page-size", "2M", "--faults-per-page", "40"),
            *("-p", "prodcons+pic", "-p", "pic", "--mechanism", "kmaf16", "--mechanism", "compact"),
            *("--work", str(tmp_path), "--json"),
        ).stdout
    )
    assert said["failed"] == []
    time = {(case["program"], case["mechanism"]): case["time"] for case in said["cases"]}
    for mechanism in ("os", "compact", "kmaf16", "oracle"):
        assert time["prodcons+pic", mechanism] > 0
    assert {case["overhead"] > 0 for case in said["cases"] if case["mechanism"] == "kmaf16"} == {
        True
    }


def test_the_mechanisms_are_listed_with_a_line_each() -> None:
    lines = autofinity("compare", "--list").stdout.splitlines()
    assert lines[0].startswith("os ")
    assert {"kmaf16", "sammu", "unified", "oracle-trace"} <= {line.split()[0] for line in lines}
    assert "kmaf16" in json.loads(autofinity("compare", "--list", "--json").stdout)


def test_what_cannot_be_compared_is_one_line() -> None:
    for arguments, code, reason in (
        (("--mechanism", "magic"), 2, "unknown mechanism magic"),
        (("--machine", "host"), 2, "simulated machines only"),
        (("--program", "nothing"), 2, "no program 'nothing'"),
        (("--program", "pic+lu"), 2, "programs side by side run once"),
    ):
        failed = autofinity("compare", *arguments, code=code)
        assert reason in failed.stderr
        assert len(failed.stderr.splitlines()) == 1
