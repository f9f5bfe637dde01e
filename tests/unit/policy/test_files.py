"""Policy files: what is written is read; whatever is wrong is named."""

import json
import math
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autofinity.model.affinity import HINTS, Affinity
from autofinity.model.errors import PolicyError
from autofinity.model.facts import FACTS
from autofinity.model.policy import (
    POLICY_VERSION,
    Condition,
    Instead,
    OtherCounts,
    Rule,
    RulePolicy,
    SecondLook,
    Trial,
    looked_at,
)
from autofinity.model.ratios import Ratio
from autofinity.policy import files
from autofinity.policy.readable import policy_text
from autofinity.policy.reading import MOST_THREADS

ROOT = Path(__file__).resolve().parents[3]
NAMES = st.just("instructions") | st.text(
    st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=6
)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)


@st.composite
def policies(draw: st.DrawFn) -> RulePolicy:
    counters = tuple(draw(st.lists(NAMES, unique=True, max_size=4)))
    hints = st.sampled_from(HINTS)
    rules = []
    for _ in range(draw(st.integers(0, 4)) if counters else 0):
        conditions = []
        for _ in range(draw(st.integers(0, 3))):
            low, high = sorted(draw(st.sets(NUMBERS, min_size=2, max_size=2)))
            bounds = draw(st.sampled_from([(low, high), (-math.inf, high), (low, math.inf)]))
            conditions.append(Condition(draw(st.sampled_from(counters)), *bounds))
        covered = draw(st.floats(0, 1e9))
        rules.append(Rule(tuple(conditions), draw(hints), covered, covered / 2))
    over = st.sampled_from(["", *FACTS])
    ratios = tuple(
        Ratio(f"ratio {i}, longer", (above,), counters, draw(st.floats(1e-9, 1e9)), draw(over))
        for i, above in enumerate(counters[: draw(st.integers(0, 2))])
    )
    cuts = {c: tuple(sorted(draw(st.sets(NUMBERS, max_size=5)))) for c in counters}
    plain = st.none() | st.booleans() | st.integers() | NUMBERS | st.text()
    made_of = draw(st.dictionaries(st.text(), plain | st.lists(plain), max_size=3))
    return RulePolicy(counters, cuts, tuple(rules), draw(hints), made_of, ratios=ratios)


@st.composite
def two_looks(draw: st.DrawFn) -> RulePolicy:
    """A policy whose second look is another one over the same counters and those at the start."""
    first, rules = draw(policies()), draw(policies())
    values = looked_at(first.counters)
    known = dict(zip(rules.counters, values, strict=False))
    hints = st.lists(st.sampled_from(HINTS), unique=True)
    again = RulePolicy(
        values,
        {known[name]: cuts for name, cuts in rules.cut_points.items() if name in known},
        tuple(
            Rule(
                tuple(replace(c, counter=known[c.counter]) for c in rule.conditions),
                *(rule.hint, rule.covered, rule.wrong),
            )
            for rule in rules.rules
            if all(c.counter in known for c in rule.conditions)
        ),
        rules.default,
        ratios=tuple(Ratio(f"gain {i}", (name,), values) for i, name in enumerate(values[:2])),
    )
    second = SecondLook(draw(st.sampled_from(HINTS)), tuple(draw(hints)), again)
    first = replace(first, second=second, other_counts=draw(st.none() | other_counts()))
    return replace(first, trial=draw(trials())) if "instructions" in first.counters else first


def trials() -> st.SearchStrategy[Trial | None]:
    return st.none() | st.builds(Trial, st.sampled_from(HINTS), st.floats(1e-9, 1e9))


@st.composite
def other_counts(draw: st.DrawFn) -> OtherCounts:
    hints = st.sampled_from(HINTS)
    counts = st.integers(1, MOST_THREADS)
    entries = draw(st.lists(st.tuples(hints, st.tuples(counts, counts), hints), max_size=3))
    return OtherCounts(
        Affinity.of(draw(st.lists(st.lists(st.integers(1, 64), min_size=1), min_size=1))),
        tuple(Instead(hint, min(of), max(of), better) for hint, of, better in entries),
    )


@given(two_looks())
def test_a_policy_with_a_second_look_reads_back_as_it_was(policy: RulePolicy) -> None:
    assert files.loads(files.dumps(policy).encode()) == policy


@given(policies())
def test_a_policy_reads_back_as_it_was(policy: RulePolicy) -> None:
    assert files.loads(files.dumps(policy).encode()) == policy


def ratio(**other: object) -> dict[str, object]:
    return {"name": "r", "numerator": ["x"], "denominator": ["y"], "scale": 1.0, **other}


ADDED = ("ratios", "second", "other_counts", "trial")


@pytest.mark.parametrize(
    ("version", "lacks"),
    [(1, ADDED), (2, ADDED[1:]), (3, ADDED[2:]), (4, ADDED[3:]), (5, ADDED[3:])],
)
def test_a_policy_of_an_earlier_version_is_read_and_written_as_it_was(
    version: int, lacks: tuple[str, ...]
) -> None:
    document = json.loads(files.dumps(sample_policy()))
    document["version"] = version
    for field in lacks:
        del document[field]
    old = files.loads(json.dumps(document).encode())
    assert (old.ratios, old.inputs) == ((), ("x", "y"))
    assert (old.second, old.trial, old.other_counts) == (None, None, None)
    assert json.loads(files.dumps(old)) == document


def test_bounds_of_a_trial_of_version_6_are_read_dropped_and_shown_as_not_used() -> None:
    document = json.loads(files.dumps(sample_policy()))
    trying(document, above=0.8, upto=1.5)
    document["version"] = 6
    read = files.loads(json.dumps(document).encode())
    assert (read.version, read.trial) == (POLICY_VERSION, Trial(HINTS[4], 1.01))
    (said,) = [line for line in policy_text(read).splitlines() if "not used" in line]
    assert "0.8 < speed <= 1.5" in said
    written = files.loads(files.dumps(read).encode())
    assert (written, "not used" in policy_text(written)) == (read, False)


def a_second_look(**other: object) -> dict[str, object]:
    """Second look of `sample_policy`, as a file has it."""
    return {
        "sampled_in": "slP",
        "after": ["slP", "sLP"],
        "ratios": [ratio(name="gain", numerator=["x"], denominator=["start.x"])],
        "cut_points": {"gain": [1.0]},
        "rules": [],
        "default": "sLP",
        **other,
    }


def a_trial(**other: object) -> dict[str, object]:
    return {"hint": "sLP", "faster": 1.01, **other}


def trying(document: dict[str, Any], **other: object) -> None:
    """Add a second look and a trial over the counter that a trial asks for."""
    text = json.dumps(document).replace('"x"', '"instructions"')
    document.update(json.loads(text))
    second = json.loads(json.dumps(a_second_look()).replace('x"', 'instructions"'))
    document.update(second=second, trial=a_trial(**other))


def with_24(cores: str = "{6,6}{6,6}", **other: object) -> dict[str, object]:
    """Meanings of answers with other thread counts, as a file has them."""
    entry = {"hint": "slP", "threads": [24, 24], "better": "SlP", **other}
    return {"cores": cores, "instead": [entry]}


def sample_policy() -> RulePolicy:
    return RulePolicy(
        ("x", "y"),
        {"x": (1.0, 2.0), "y": ()},
        (Rule((Condition("x", 1.0, math.inf), Condition("y", 0.0, 3.0)), HINTS[1], 9.0, 2.0),),
        HINTS[7],
        {"machine": "box"},
    )


def test_saving_replaces_a_file_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "policy.json"
    path.write_text("old")
    files.save(sample_policy(), path)
    assert files.load(path) == sample_policy()
    assert list(tmp_path.iterdir()) == [path]


def test_a_failed_save_keeps_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "policy.json"
    files.save(sample_policy(), path)

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(PolicyError, match="No space left"):
        files.save(RulePolicy((), {}, (), HINTS[0]), path)
    assert files.load(path) == sample_policy()
    assert list(tmp_path.iterdir()) == [path]


def test_infinities_in_provenance_become_their_names() -> None:
    policy = RulePolicy((), {}, (), HINTS[0], {"a": [math.inf, -math.inf], "b": {"c": math.nan}})
    read = files.loads(files.dumps(policy).encode())
    assert read.provenance == {"a": ["Infinity", "-Infinity"], "b": {"c": "NaN"}}


def test_provenance_that_json_cannot_hold_is_refused() -> None:
    with pytest.raises(PolicyError, match=r"provenance\.x holds a set"):
        files.dumps(RulePolicy((), {}, (), HINTS[0], {"x": {1}}))


DAMAGE: list[tuple[Callable[[Any], Any], str]] = [
    (lambda d: d.update(format="other"), "format"),
    (lambda d: d.update(version=POLICY_VERSION + 1), "newer"),
    (lambda d: d.pop("second"), "lacks 'second'"),
    (lambda d: d.update(second=a_second_look(sampled_in="up")), r"second\.sampled_in"),
    (lambda d: d.update(second=a_second_look(after=["slP", 1])), r"second\.after\[1\]"),
    (lambda d: d.update(second=a_second_look(cut_points={"start.z": []})), "second.cut_points"),
    (lambda d: d.update(second=a_second_look(more=1)), "unknown field 'more'"),
    (
        lambda d: d.update(counters=["x", "y", "start.x"], second=a_second_look()),
        "none may begin with 'start.'",
    ),
    (lambda d: d.pop("other_counts"), "lacks 'other_counts'"),
    (lambda d: d.update(other_counts=with_24(cores="{a}")), r"other_counts\.cores"),
    (lambda d: d.update(other_counts=with_24(cores="{2}{6}")), "largest first"),
    (lambda d: d.update(other_counts=with_24(cores="{0}")), r"other_counts\.cores"),
    (lambda d: d.update(other_counts=with_24(cores="{-1}")), r"other_counts\.cores"),
    (lambda d: d.update(other_counts=with_24(threads=[9, 8])), r"instead\[0\]\.threads"),
    (lambda d: d.update(other_counts=with_24(threads=[0, 8])), r"instead\[0\]\.threads"),
    (lambda d: d.update(other_counts=with_24(threads=[1, 2.5])), r"instead\[0\]\.threads"),
    (lambda d: d.update(other_counts=with_24(threads=[True, 2])), r"instead\[0\]\.threads"),
    (lambda d: d.update(other_counts=with_24(threads=[1, 10**9])), r"instead\[0\]\.threads"),
    (lambda d: d.update(other_counts=with_24(threads=24)), r"instead\[0\]\.threads"),
    (lambda d: d.update(other_counts=with_24(better="up")), r"instead\[0\]\.better"),
    (lambda d: d.update(trial=a_trial()), "trial: expected none without a second look"),
    (lambda d: d.update(second=a_second_look(), trial=a_trial()), "the counter instructions"),
    (lambda d: trying(d, hint="up"), r"trial\.hint"),
    (lambda d: trying(d, above=0.8), "unknown field 'above'"),
    (lambda d: trying(d, faster=0), r"trial\.faster"),
    (lambda d: trying(d, more=1), "unknown field 'more'"),
    (lambda d: d.pop("trial"), "lacks 'trial'"),
    (lambda d: d.update(version="1"), "version"),
    (lambda d: d.pop("ratios"), "ratios"),
    (lambda d: d.update(version=1), "ratios"),
    (lambda d: d.update(ratios=[ratio(name="x")]), "another counter"),
    (lambda d: d.update(ratios=[ratio(), ratio()]), "another counter"),
    (lambda d: d.update(ratios=[ratio(numerator=[])]), "at least one"),
    (lambda d: d.update(ratios=[ratio(denominator=["z"])]), "not among the counters"),
    (lambda d: d.update(ratios=[ratio(scale=0)]), "above 0"),
    (lambda d: d.update(ratios=[ratio(fact="weather")]), "'weather', expected one of packed_l"),
    (lambda d: d.update(ratios=[ratio(fact=1)]), r"ratios\[0\]\.fact"),
    (
        lambda d: (
            d.update(version=4, ratios=[ratio(fact="packed_lines_pkc")]),
            d.pop("trial"),
        ),
        "unknown field 'fact'",
    ),
    (lambda d: d.update(version=True), "version"),
    (lambda d: d.update(version=0), "version"),
    (lambda d: d.pop("rules"), "lacks 'rules'"),
    (lambda d: d.update(extra=1), "unknown field 'extra'"),
    (lambda d: d.update(counters="x"), "counters"),
    (lambda d: d.update(counters=["x", "y", "x"]), "named twice"),
    (lambda d: d.update(counters=["x", ""]), r"counters\[1\]"),
    (lambda d: d["cut_points"].update(z=[1.0]), "'z' is not among"),
    (lambda d: d["cut_points"].update(x=[2.0, 1.0]), r"cut_points\.x.*ascend"),
    (lambda d: d["cut_points"].update(x=[1.0, 1.0]), r"cut_points\.x.*ascend"),
    (lambda d: d["cut_points"].update(x=["1"]), r"cut_points\.x.*number"),
    (lambda d: d["cut_points"].update(x=[True]), r"cut_points\.x.*number"),
    (lambda d: d["cut_points"].update(x=[10**400]), r"cut_points\.x.*finite"),
    (lambda d: d["cut_points"].update(x=None), r"cut_points\.x.*list"),
    (lambda d: d.update(cut_points=[]), "cut_points.*object"),
    (lambda d: d.update(rules={}), "rules.*list"),
    (lambda d: d["rules"][0].update(hint="XYZ"), r"rules\[0\]\.hint"),
    (lambda d: d["rules"][0].update(hint=3), r"rules\[0\]\.hint"),
    (lambda d: d["rules"][0].pop("when"), r"rules\[0\].*lacks 'when'"),
    (lambda d: d["rules"][0].update(wrong=10), r"rules\[0\].*cannot be"),
    (lambda d: d["rules"][0].update(covered=-1), r"rules\[0\].*cannot be"),
    (lambda d: d["rules"][0]["when"][1].update(counter="q"), r"when\[1\]\.counter.*'q'"),
    (lambda d: d["rules"][0]["when"][0].update(above=5, upto=4), r"when\[0\].*never hold"),
    (lambda d: d["rules"][0]["when"][0].update(above="low"), r"when\[0\]\.above"),
    (lambda d: d.update(default="slpx"), "default"),
    (lambda d: d.update(provenance=None), "provenance"),
]


@pytest.mark.parametrize(("damage", "field"), DAMAGE, ids=[field for _, field in DAMAGE])
def test_damage_is_named_with_file_and_field(
    tmp_path: Path, damage: Callable[[Any], Any], field: str
) -> None:
    document = json.loads(files.dumps(sample_policy()))
    damage(document)
    path = tmp_path / "bad.json"
    path.write_text(json.dumps(document))
    with pytest.raises(PolicyError, match=field) as caught:
        files.load(path)
    assert "bad.json" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff\xfe",
        b"[]",
        b"null",
        b"{",
        b'{"format": "autofinity-policy", "version": NaN}',
        b'{"format": 1, "format": 2}',
        b"[" * 200_000,
        b"9" * 10_000,
        b"\x00" * 100,
    ],
    ids=["empty", "binary", "list", "null", "cut", "nan", "twice", "deep", "digits", "zeros"],
)
def test_what_is_no_policy_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "bad.json"
    path.write_bytes(content)
    with pytest.raises(PolicyError, match=r"bad\.json"):
        files.load(path)


def test_a_huge_file_is_refused_without_reading_it_all(tmp_path: Path) -> None:
    path = tmp_path / "bad.json"
    with path.open("wb") as stream:
        stream.truncate(1 << 34)
    with pytest.raises(PolicyError, match="16 MiB"):
        files.load(path)


@pytest.mark.parametrize("make", [lambda p: None, lambda p: p.mkdir()])
def test_an_unreadable_path_is_a_policy_error(tmp_path: Path, make: Callable[[Path], None]) -> None:
    make(tmp_path / "policy.json")
    with pytest.raises(PolicyError, match=r"cannot read the policy .*policy\.json"):
        files.load(tmp_path / "policy.json")


def test_any_truncation_is_refused() -> None:
    text = files.dumps(sample_policy()).encode()
    for length in range(len(text) - 1):
        with pytest.raises(PolicyError):
            files.loads(text[:length])


def test_the_schema_names_the_fields_that_are_read_and_written() -> None:
    schema = json.loads((ROOT / "policies/schema/policy.schema.json").read_text())
    document = json.loads(files.dumps(sample_policy()))
    assert set(schema["properties"]) == set(document)
    later = {name for rule in schema["allOf"] for name in rule["else"].get("required", ())}
    assert {*schema["required"]} | later == set(document)
    second = schema["properties"]["second"]
    assert set(second["required"]) == set(second["properties"]) == set(a_second_look())
    trial = schema["properties"]["trial"]
    assert set(trial["required"]) == set(trial["properties"]) - {"above", "upto"} == set(a_trial())
    counts = schema["properties"]["other_counts"]
    assert set(counts["required"]) == set(counts["properties"]) == set(with_24())
    entry = counts["properties"]["instead"]["items"]
    assert set(entry["required"]) == set(entry["properties"]) == {"hint", "threads", "better"}
    rule = schema["$defs"]["rules"]["items"]
    assert set(rule["required"]) == set(rule["properties"]) == set(document["rules"][0])
    condition = rule["properties"]["when"]["items"]
    assert set(condition["required"]) == set(document["rules"][0]["when"][0])
    assert schema["$defs"]["fact"]["enum"] == list(FACTS)
    assert schema["$defs"]["hint"]["enum"] == [str(hint) for hint in HINTS]
    assert schema["properties"]["version"]["enum"] == list(range(1, POLICY_VERSION + 1))


def test_reading_and_asking_a_policy_loads_nothing_heavy() -> None:
    code = (
        "import sys, autofinity.policy.selector, autofinity.policy.files;"
        "print([m for m in ('numpy', 'pandas', 'pyarrow', 'pydantic', 'sklearn', 'jinja2', 'rich',"
        " 'click') if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert out.stdout.strip() == "[]", out.stderr
