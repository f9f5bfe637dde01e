"""`import autofinity`: cheap, complete, typed, and what people look at in notebooks."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import os
import pkgutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from captured_binary import needs_qemu
from told import Told

import autofinity as af
from autofinity.capture.compilers import Compilers, skip_reason
from autofinity.model.policy import Condition, Rule, RulePolicy
from autofinity.resources import shipped
from autofinity.trace.manifest import load_suite

HEAVY = "numpy pandas pyarrow pydantic sklearn jpype rich pyhwloc click autofinity._core"
SUITE = shipped("training", "suite.toml")
OPTERON = "opteron-6164he"
HOSTILE = "<script>alert(1)</script>"


def test_importing_it_loads_nothing_else() -> None:
    code = (
        "import sys; before = set(sys.modules); import autofinity, importlib.machinery;"
        "print([name for name in sys.modules if name.startswith('autofinity.')]);"
        f"print([name for name in {HEAVY!r}.split() if name in sys.modules]);"
        "print(len(set(sys.modules) - before) < 12)"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.split("\n") == ["[]", "[]", "True", ""]


def test_every_name_is_there_and_listed() -> None:
    assert set(dir(af)) == {*af.__all__, "__version__"}
    for name in af.__all__:
        assert getattr(af, name) is getattr(af, name)


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'anything'"):
        af.anything  # type: ignore[attr-defined]  # noqa: B018
    assert not hasattr(af, "_repr_html_")


def test_the_stub_says_the_same_as_the_table() -> None:
    stub = Path(str(af.__file__)).with_suffix(".pyi").read_text()
    said = {
        alias.asname: f"{node.module}.{alias.name}"
        for node in ast.parse(stub).body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert said == {name: f"autofinity.{home}.{name}" for name, home in af._HOMES.items()}  # type: ignore[attr-defined]


def test_no_name_is_that_of_a_module_which_would_take_its_place() -> None:
    modules = {found.name for found in pkgutil.iter_modules(af.__path__)}
    assert modules.isdisjoint(af.__all__)


@pytest.mark.parametrize("name", sorted(set(af.__all__) - {"HINTS"}))
def test_every_name_says_what_it_is_and_functions_their_types(name: str) -> None:
    value: Any = getattr(af, name)
    assert len(inspect.getdoc(value) or "") > 30
    if inspect.isfunction(value):
        signature = inspect.signature(value)
        assert signature.return_annotation is not signature.empty
        kinds = [each.annotation is not signature.empty for each in signature.parameters.values()]
        assert all(kinds)
        assert "AutofinityError" in (value.__doc__ or "") or name in ("machines", "policies")
        return
    if dataclasses.is_dataclass(value) and value.__module__.startswith("autofinity.api"):
        for each in dataclasses.fields(value):
            assert f"`{each.name}`" in (value.__doc__ or ""), "`help` does not show fields"
    for member, one in inspect.getmembers_static(value):
        if isinstance(one, property) and value.__module__.startswith("autofinity.api"):
            assert inspect.getdoc(one), f"{name}.{member}"


def test_a_machine_and_threads_on_it_are_drawn() -> None:
    machine = af.machine(OPTERON)
    shown = machine._repr_html_()
    assert all(f">{part}</text>" in shown for part in ("socket 3", "node 7", "LLC 7", "47"))
    placed = af.get_affinity(machine, 8, "packed")
    assert "8 threads as {6,2}, packed (slp)" in placed._repr_html_()
    assert "CPU 5: core 5, LLC 0, node 0, socket 0; thread 5" in placed._repr_html_()
    assert "node 0 LLC 0  0 1 2 3 4 5" in str(placed)


def test_a_hint_is_shown_as_the_words_that_give_it_back() -> None:
    assert [eval(repr(hint), {"Hint": af.Hint}) for hint in af.HINTS] == list(af.HINTS)
    assert "hint=Hint.parse('packed')" in repr(af.get_affinity(OPTERON, 8, "packed"))


def test_a_policy_shows_its_rules_as_a_table_and_a_decision_its_margins() -> None:
    policy = af.load_policy(OPTERON)
    shown = policy._repr_html_()
    assert shown.count("<tr>") >= len(policy.rules) + 2  # headings, default
    assert all(f"{hint} (" in shown for hint in policy.rules.name)
    why = policy.explain(dict.fromkeys(policy.counters, 1e7))
    assert len(why.margins) > 0
    assert why._repr_html_().count("<tr>") == len(why.margins) + 1
    assert list(why.margins.relative) == sorted(why.margins.relative)
    assert why.margin == why.margins.relative[0]


def test_names_in_a_policy_are_no_markup() -> None:
    rule = Rule((Condition(HOSTILE, 1.0, 2.0),), af.HINTS[7], 1.0, 0.0)
    policy = af.Policy(RulePolicy((HOSTILE,), {HOSTILE: (1.0, 2.0)}, (rule,), af.HINTS[0]))
    shown = [policy._repr_html_(), policy.explain({HOSTILE: 1.5})._repr_html_()]
    assert all("&lt;script&gt;" in text and "<script" not in text for text in shown)


def test_the_name_of_a_machine_is_no_markup() -> None:
    named = af.Machine(HOSTILE, af.machine("synthetic:pack:1 l3:1 core:2 pu:1").topology)
    assert "<script" not in named._repr_html_()
    assert "<script" not in af.get_affinity(named, 2)._repr_html_()


def test_a_policy_is_kept_and_given_back(tmp_path: Path) -> None:
    policy = af.load_policy("any-machine")
    policy.save(tmp_path / "policy.json")
    assert str(af.load_policy(tmp_path / "policy.json")) == str(policy)
    assert "enum autofinity_hint" in policy.on(OPTERON, 8).export("c")


@pytest.mark.parametrize(
    "call",
    [
        lambda: af.machine("no-such-machine"),
        lambda: af.get_affinity(OPTERON, 8, "scatter"),
        lambda: af.get_affinity(OPTERON, 8, HOSTILE),
        lambda: af.get_affinity(OPTERON, 49),
        lambda: af.get_affinity(OPTERON, 1, available=[99]),
        lambda: af.get_affinity(OPTERON, 2).command("no-tool"),
        lambda: af.load_policy("no-such-policy"),
        lambda: af.load_policy("any-machine").export("cobol"),
        lambda: af.observations("no-such-machine"),
        lambda: af.observations(Path("no-such-folder")),
        lambda: af.observations(OPTERON, threads=5),
        lambda: af.map_threads([[0, 1]], OPTERON),
        lambda: af.map_threads([], OPTERON),
        lambda: af.map_threads([[0, 1], [1]], OPTERON),
        lambda: af.map_threads([[0, np.nan], [np.nan, 0]], OPTERON),
        lambda: af.map_threads([[0, 1], [2, 0]], OPTERON),
        lambda: af.map_threads([[0, -1], [-1, 0]], OPTERON),
        lambda: af.map_threads([["a", "b"], ["b", "a"]], OPTERON),
        lambda: af.map_threads([[0, 1], [1, 0]], OPTERON, algorithm="guess"),
        lambda: af.load_trace("no-such-trace"),
        lambda: af.simulate("no-such-trace", OPTERON),
        lambda: af.simulate_policy("no-such-trace", OPTERON, af.load_policy("any-machine")),
        lambda: af.simulate("no-such-trace", OPTERON, hint="packed", cpus=[1]),
        lambda: af.simulate("no-such-trace", OPTERON, affinity="{"),
        lambda: af.capture_traces(["no-such-program"], "traces"),
        lambda: af.capture_traces([], "traces", threads=0),
        lambda: af.capture_program([], "traces"),
        lambda: af.capture_program("true", "traces", roi="all"),  # type: ignore[arg-type]
        lambda: af.train(OPTERON, threads=[0]),
        lambda: af.compare("host"),
        lambda: af.compare(OPTERON, mechanisms=["no-such-mechanism"]),
    ],
)
def test_what_cannot_be_is_an_error_of_ours(
    call: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(af.AutofinityError) as error:
        call()
    assert len(str(error.value)) > 10


def test_a_policy_is_judged_on_what_is_shipped(tmp_path: Path) -> None:
    judged = af.evaluate(OPTERON, threads=[8], policy=af.load_policy(OPTERON), work=tmp_path)
    cases = judged.cases
    assert len(cases) == judged.summary["cases"] > 10
    assert (cases.regret >= -1e-9).all() and (cases.oracle_s <= cases.best_hint_s).all()
    assert judged.summary["wins"] == (cases.win & cases.interesting).sum()
    assert "interesting cases won" in str(judged)
    assert "<table" in judged._repr_html_()


def test_programs_are_captured_profiled_and_compared(tmp_path: Path) -> None:
    if why := skip_reason(load_suite(SUITE).programs["prodcons"], Compilers.find(os.environ)):
        pytest.skip(f"prodcons cannot be captured: {why}")
    wanted: Any = {"programs": ["prodcons"], "work": tmp_path}
    seen = af.profile(OPTERON, threads=[2], sizes=["tiny"], **wanted)
    assert set(seen.program) == {"prodcons"} and set(seen.threads) == {2}
    assert (seen.roi_s > 0).all()
    beside = af.compare(
        OPTERON,
        threads=2,
        mechanisms=["os", "packed", "autofinity"],
        size="tiny",
        policy=af.load_policy("any-machine"),
        **wanted,
    )
    assert list(beside.summary.index) == ["os", "packed", "autofinity", "oracle"]
    assert beside.summary.time_vs_os["os"] == 1 and (beside.cases.time > 0).all()
    assert len(beside.failed) == 0
    assert beside.cases.time.min() > 10 > 1 > beside.as_simulated.cases.time.max(), "a minute"
    assert "autofinity" not in set(beside.as_simulated.cases.mechanism), "a whole minute only"
    shown = beside._repr_html_()
    assert shown.count("packed") == 2 and "without a result" not in shown  # a bar, a row
    assert [line.split()[0] for line in str(beside).splitlines()[1:]] == list(beside.summary.index)
    again: Any = {"programs": "prodcons", "work": str(tmp_path)}
    assert len(af.profile(OPTERON, threads=2, sizes="tiny", **again)) == len(seen)


@needs_qemu
def test_any_program_is_captured_as_it_is(tmp_path: Path) -> None:
    told = Told()
    words = ["sh", "-c", "exit 3"]
    trace = af.capture_program(words, tmp_path, roi="whole", reporter=told)
    assert (trace.input, trace.threads) == ("binary", 1)
    assert told.notices[-1] == "sh ended with exit code 3; its trace is kept"
    assert af.load_trace(trace.path) == trace


def test_a_trace_and_its_replays_are_shown(tmp_path: Path) -> None:
    if why := skip_reason(load_suite(SUITE).programs["prodcons"], Compilers.find(os.environ)):
        pytest.skip(f"prodcons cannot be captured: {why}")
    (trace,) = af.capture_traces("prodcons", tmp_path, threads=2, size="tiny", suite=str(SUITE))
    shown = trace._repr_html_()
    assert str(trace).startswith("prodcons (tiny, 2 threads): ") and "thread 1" in shown
    assert f"{max(s.roi_accesses for s in trace.inside.streams):,}" in shown
    foreign = dataclasses.replace(trace, program=f"\x1b[2J{HOSTILE}\nnext")
    assert str(foreign).isprintable() and "<script" not in foreign._repr_html_()
    replay = af.simulate(trace, OPTERON, hint="packed")
    drawn = replay._repr_html_()
    assert f"CPU {replay.cpus[1]}: " in drawn and "; thread 1" in drawn and ">socket 3<" in drawn
    assert f'<td style="text-align:left">{replay.counts["data_cache_accesses"]:,}</td>' in drawn
    assert f"{1e3 * replay.roi_s:.4g} ms" in str(replay)
    moved = af.simulate_policy(trace, OPTERON, "any-machine")
    assert all(hint.shown in moved._repr_html_() for hint in moved.hints)
    shared = af.detect_sharing(trace, OPTERON, detector="tlb")
    assert shared.matrix.shape == (2, 2) and (shared.matrix == shared.matrix.T).all()
    assert str(shared).startswith(f"{trace.path.name} on {OPTERON}, with tlb\n")
    assert shared._repr_html_().count("<rect") == 5
    assert len(set(af.map_threads(shared, OPTERON).cpus)) == 2
    with pytest.raises(af.AutofinityError, match="unknown detector 'guess'"):
        af.detect_sharing(trace, OPTERON, detector="guess")
    early = af.PolicyRun(OPTERON, 1e-3, moved.hints[:1], float("nan"))
    assert "ended before the decision" in str(early)


def test_a_mapping_is_drawn_and_said() -> None:
    mapped = af.map_threads([[0, 9], [9, 0]], OPTERON)
    assert str(mapped).startswith("refined: 2 threads at a cost of ")
    assert f"CPU {mapped.cpus[1]}: " in mapped._repr_html_() and "eagermap" in mapped._repr_html_()


def test_names_of_programs_and_mechanisms_are_no_markup() -> None:
    from autofinity.api.html import bars_html

    shown = bars_html(HOSTILE, {HOSTILE: 1.0, "half": 0.5, "none": float("nan")})
    assert "<script" not in shown and shown.count("&lt;script") == 2
    assert "width:240px" in shown and "width:120px" in shown and "unknown" in shown


def test_a_policy_is_learned_of_a_table(tmp_path: Path) -> None:
    seen = af.observations(OPTERON, threads=8)
    few = seen[seen["program"].isin(["stencil", "prodcons", "lu", "cg"])]
    policy = af.learn(few)
    assert policy.made_of["machine"] == OPTERON
    assert policy.notes and policy.notes[0] in policy._repr_html_()
    assert repr(policy).startswith(f"Policy({len(policy.rules)} rules over ")
    with pytest.raises(af.AutofinityError, match="lacks the column"):
        af.learn(few.drop(columns="roi_s"))
