"""Install the wheel by pip where there is no compiler, and run its commands."""

from __future__ import annotations

import pytest
from login_node import LoginNode

from autofinity.cli.completion import scripts


@pytest.mark.parametrize(
    "words",
    [("doctor",), ("hints",), ("evaluate", "--machine", "xeon-e5-2650"), ("show", "any-machine")],
    ids=lambda words: words[0],
)
def test_commands_work_without_a_compiler(login_node: LoginNode, words: tuple[str, ...]) -> None:
    assert login_node.run("autofinity", *words).stdout


def test_a_program_runs_under_the_shipped_policy(login_node: LoginNode) -> None:
    done = login_node.run("autofinity", "run", "--", "sh", "-c", "sleep 0.2; exit 7", code=7)
    assert done.stdout == ""


def test_the_package_imports_from_any_folder(login_node: LoginNode) -> None:
    code = (
        "import autofinity as af; from autofinity import _core; print(af.__version__);"
        "print(af.machine('xeon-e5-2650').name)"
    )
    version, name = login_node.run("python", "-c", code).stdout.split()
    assert version[0].isdigit()
    assert name == "xeon-e5-2650"


def test_jrip_is_an_extra_that_is_named_before_any_work(login_node: LoginNode) -> None:
    refused = login_node.run(
        "autofinity", "train", "--machine", "xeon-e5-2650", "--paper", "--work", "work", code=1
    )
    assert "pip install 'autofinity[weka]'" in refused.stderr
    assert list(login_node.elsewhere.iterdir()) == []


def test_manual_pages_and_completion_are_installed_with_the_command(login_node: LoginNode) -> None:
    share = login_node.venv / "share"
    assert (share / "man/man1/autofinity-run.1").read_text().startswith(".TH AUTOFINITY-RUN 1 ")
    for place, script in scripts().items():
        assert (share / place).read_text() == script
