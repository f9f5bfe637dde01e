"""Tables of decisions within a run, and what kept runs are known by (scripts/studies)."""

from __future__ import annotations

from pathlib import Path

import pytest
from script_module import script_module

from autofinity import own_code
from autofinity.workflow.policies import policy_for

minute_runs = script_module("studies/minute_runs.py")
within_run = script_module("studies/within_run.py")


def row(program: str, *os_s: float) -> object:
    """Spread is best, and 10 % faster than a system of 66 s; the run within takes 1 % longer."""
    within = minute_runs.Within(60.6, "SLP", 0.001, 1.0, ())
    hints_s = {"SLP": (60.0,), "slp": (90.0,)}
    return minute_runs.Row(program, os_s, hints_s, "SLP", {0.08: (within,)})


def test_programs_that_no_system_ran_are_left_out_of_figures_on_it_and_of_no_others() -> None:
    known, sampled = row("a", 66.0), row("b")
    for every in ([known, sampled], [sampled, known]):
        _, _, *lines = within_run.machines_table({"m": every})
        assert lines == [
            "| `m` | operating system | 0.909 | 0.909 | 0 of 1 | 1.000 | 1.000 | | |",
            "| `m` | started again | 1.000 | 1.000 | 2 of 2 | 1.100 | 1.100 | | |",
            "| `m` | within the run | 0.990 | 0.990 | 2 of 2 | 1.089 | 1.089 | 0.10% | 0.10% |",
        ]


def test_a_machine_on_which_no_program_ran_has_no_row() -> None:
    assert len(list(within_run.machines_table({"m": []}))) == 2


@pytest.mark.parametrize("module", ["evaluation/repeat_record.py", "sim/record.py"])
def test_kept_runs_are_made_again_where_code_that_decides_them_has_changed(
    module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = minute_runs.Asked((), (), 1, "best", (0.08,), tmp_path)
    policies = lambda machine, program: policy_for(machine)  # noqa: E731
    before = minute_runs.OnMachine("xeon-e5-2650", asked, policies)
    read = Path.read_bytes

    def edited(path: Path) -> bytes:
        return read(path) + b"# edited" * path.as_posix().endswith(module)

    own_code.digest_of_code.cache_clear()
    monkeypatch.setattr(Path, "read_bytes", edited)
    after = minute_runs.OnMachine("xeon-e5-2650", asked, policies)
    own_code.digest_of_code.cache_clear()
    policy = before.policy("cg")
    assert after.replayed != before.replayed
    assert after.decided(policy) != before.decided(policy)
