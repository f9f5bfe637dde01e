"""Every export says what the Python policy says, above all the C header."""

import json
import math
import os
import random
import shutil
import sqlite3
import struct
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from autofinity.model.affinity import HINTS, Affinity, Hint
from autofinity.model.errors import ExportError
from autofinity.model.policy import (
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
from autofinity.policy.export import FORMATS, exported
from autofinity.policy.firing import fired, hint_at
from autofinity.policy.selector import decide, values_of

INF = math.inf
STRICT = ["-O1", "-Wall", "-Wextra", "-Werror", "-pedantic"]
DIALECTS = {
    "c99": (os.environ.get("CC") or shutil.which("cc") or "cc", "-std=c99", "driver.c"),
    "c++11": (os.environ.get("CXX") or shutil.which("c++") or "c++", "-std=c++11", "driver.cc"),
}
DRIVER = r"""
#include <stdio.h>
#include "policy.h"
int main(void) {
    double sample[autofinity_counter_count + 1];
    const size_t size = autofinity_counter_count * sizeof(double) + sizeof(double);
    while (fread(sample, 1, size, stdin) == size)
        printf("%d %d\n", autofinity_rule(sample), (int)autofinity_decide(sample));
    return 0;
}
"""


def random_policy(seed: int, rules: int, counters: int) -> RulePolicy:
    draw = random.Random(seed)
    names = tuple(f"event_{i}" for i in range(counters))
    cuts = {
        name: tuple(sorted(draw.uniform(-1, 1) * 10.0 ** draw.randint(-12, 12) for _ in range(4)))
        for name in names
    }

    def condition() -> Condition:
        name = draw.choice(names)
        edges = [-INF, *cuts[name], INF]
        low, high = sorted(draw.sample(range(len(edges)), 2))
        return Condition(name, edges[low], edges[high])

    conditions = (
        (lambda: tuple(condition() for _ in range(draw.randint(0 if seed == 3 else 1, 3))))
        if counters
        else tuple
    )
    return RulePolicy(
        names,
        cuts,
        tuple(Rule(conditions(), draw.choice(HINTS), 5.0, 1.0) for _ in range(rules)),
        draw.choice(HINTS),
        {"machine": "a */ b /* c \\ ??/ ü\nnew line", "version": "1"},
    )


def with_ratios(seed: int) -> RulePolicy:
    """A policy of ten rules over four counters and two ratios of them."""
    over_all = random_policy(seed, 10, 6)
    names = ("event_4", "event_5")
    return replace(
        over_all,
        counters=over_all.counters[:4],
        ratios=(
            Ratio(names[0], ("event_0", "event_1"), ("event_2",), 1000.0),
            Ratio(names[1], ("event_3",), ("event_0", "event_2", "event_3")),
        ),
    )


CORES = Affinity.parse("{6,6}{6,6}")


def with_second(seed: int) -> RulePolicy:
    """Ten rules over four counters, ten over both their samples and gains between them, and what
    two of the answers mean with other thread counts.
    """
    first, again = random_policy(seed, 10, 4), random_policy(seed + 1, 10, 10)
    names = (*looked_at(first.counters), "speed_gain", "share")
    known = dict(zip(again.counters, names, strict=True))
    rules = RulePolicy(
        names[:8],
        {known[name]: cuts for name, cuts in again.cut_points.items()},
        tuple(
            replace(
                rule,
                conditions=tuple(replace(c, counter=known[c.counter]) for c in rule.conditions),
            )
            for rule in again.rules
        ),
        again.default,
        ratios=(
            Ratio("speed_gain", ("event_1",), ("start.event_1",)),
            Ratio("share", ("event_0", "start.event_3"), ("event_2", "event_3"), 1e3),
        ),
    )
    second = SecondLook(HINTS[6], (HINTS[4], HINTS[7]), rules)
    instead = (Instead(HINTS[6], 13, 18, HINTS[3]), Instead(HINTS[6], 19, 30, HINTS[2]))
    counts = OtherCounts(CORES, (*instead, Instead(HINTS[4], 1, 1, HINTS[0])))
    return replace(first, second=second, other_counts=counts)


def with_trial() -> RulePolicy:
    """Asks for instructions, the last of three counters, in two looks and a trial."""
    counters = ("x", "y", "instructions")
    again = RulePolicy(looked_at(counters), {}, (), HINTS[7])
    second = SecondLook(HINTS[6], HINTS, again)
    return RulePolicy(counters, {}, (), HINTS[0], second=second, trial=Trial(HINTS[4], 1.01))


SPEEDS = (0.0, -1.0, 0.5, 1.0, 1.01, math.nextafter(1.01, 2.0), 1.5, math.nan, INF)
TRIALS = [(before, after) for before in SPEEDS for after in SPEEDS]


def tried(before: float, after: float) -> tuple[bool, Hint]:
    """Whether a trial follows these speeds of the looks, and the answer where they are those in the
    affinity of the answer before, and on trial.
    """
    trial = with_trial().trial
    assert trial is not None
    samples = {"instructions": before}, {"instructions": after}
    question = trial.against(HINTS[7])
    return trial.follows(*samples), decide(question.policy, question.values(*samples)).hint


TRIAL_DRIVER = r"""
#include <stdio.h>
#include "policy.h"
int main(void) {
    double both[2][autofinity_counter_count];
    while (fread(both, 1, sizeof both, stdin) == sizeof both)
        printf("%d %d\n", autofinity_tries(both[0], both[1]),
               (int)autofinity_trial(AUTOFINITY_slp, both[0], both[1]));
    printf("in %d\n", (int)autofinity_trial_in());
    return 0;
}
"""


@pytest.mark.parametrize("dialect", list(DIALECTS))
def test_the_trial_of_the_header_is_that_of_the_policy(tmp_path: Path, dialect: str) -> None:
    (tmp_path / "policy.h").write_text(exported(with_trial(), "c"))
    program = compiled(tmp_path, dialect, TRIAL_DRIVER)
    data = b"".join(struct.pack("6d", 1, 2, before, 3, 4, after) for before, after in TRIALS)
    out = subprocess.run([str(program)], input=data, capture_output=True, check=True)
    *got, where = out.stdout.decode().splitlines()
    assert got == [f"{place:d} {HINTS.index(hint)}" for place, hint in (tried(*t) for t in TRIALS)]
    assert where == "in 4"


def test_the_trial_of_the_python_module_is_that_of_the_policy() -> None:
    module: dict[str, Any] = {}
    exec(exported(with_trial(), "python"), module)
    assert module["TRIAL_IN"] == "sLP"
    for before, after in TRIALS:
        samples = (1, 2, before), (3, 4, after)
        said = module["tries"](*samples), module["trial"]("slp", *samples)
        place, hint = tried(before, after)
        assert said == (place, str(hint))


POLICIES = [
    random_policy(0, 6, 4),
    random_policy(1, 19, 4),
    random_policy(2, 0, 4),
    random_policy(3, 5, 2),
    random_policy(4, 0, 0),
    random_policy(5, 40, 7),
    with_ratios(6),
    with_second(7),
]
SECOND_DRIVER = r"""
#include <stdio.h>
#include "policy.h"
int main(void) {
    double both[2][autofinity_counter_count];
    while (fread(both, 1, sizeof both, stdin) == sizeof both)
        printf("%d %d\n", autofinity_second_rule(both[1], both[0]),
               (int)autofinity_second(both[1], both[0]));
    printf("in %d\n", (int)autofinity_second_in());
    for (int hint = 0; hint < 8; hint++)
        printf("%d", autofinity_asks_second((enum autofinity_hint)hint));
    for (int threads = 0; threads < 40; threads++)
        for (int hint = 0; hint < 8; hint++)
            printf("%s%d", hint ? " " : "\nat ",
                   (int)autofinity_at((enum autofinity_hint)hint, threads));
    return 0;
}
"""


def samples(policy: RulePolicy, count: int) -> list[list[float]]:
    """Every edge and both its neighbours, NaN, ±∞, zeros, extremes; then random ones."""
    draw = random.Random(99)
    special = [math.nan, INF, -INF, 0.0, -0.0, 5e-324, 1.7976931348623157e308]
    values = {}
    for name in policy.counters:
        cuts = policy.cut_points[name]
        beside = [
            v for cut in cuts for v in (cut, math.nextafter(cut, INF), math.nextafter(cut, -INF))
        ]
        values[name] = [*beside, *special]
    rows = []
    for name in policy.counters:
        for value in values[name]:
            row = [draw.choice(values[other]) for other in policy.counters]
            row[policy.counters.index(name)] = value
            rows.append(row)
    while len(rows) < count:
        rows.append(
            [
                draw.choice(values[name])
                if draw.random() < 0.5
                else draw.uniform(min(policy.cut_points[name]), max(policy.cut_points[name]))
                for name in policy.counters
            ]
        )
    return rows


def expected(policy: RulePolicy, rows: list[list[float]]) -> list[tuple[int, int]]:
    answers = []
    for row in rows:
        values = values_of(policy, dict(zip(policy.counters, row, strict=True)))
        rule = fired(policy, values)
        answers.append((-1 if rule is None else rule, HINTS.index(hint_at(policy, values))))
    return answers


def compiled(folder: Path, dialect: str, source: str, name: str = "driver") -> Path:
    compiler, standard, _ = DIALECTS[dialect]
    path = folder / (name + (".c" if dialect == "c99" else ".cc"))
    path.write_text(source)
    program = folder / name
    built = subprocess.run(
        [compiler, standard, *STRICT, str(path), "-o", str(program)], capture_output=True, text=True
    )
    assert built.returncode == 0, built.stderr
    return program


@pytest.mark.parametrize("dialect", list(DIALECTS))
@pytest.mark.parametrize("number", range(len(POLICIES)))
def test_the_header_decides_as_the_policy_on_10000_samples(
    tmp_path: Path, number: int, dialect: str
) -> None:
    policy = POLICIES[number]
    (tmp_path / "policy.h").write_text(exported(policy, "c"))
    program = compiled(tmp_path, dialect, DRIVER)
    rows = samples(policy, 10_000)
    data = b"".join(struct.pack(f"{len(row) + 1}d", *row, 0.0) for row in rows)
    out = subprocess.run([str(program)], input=data, capture_output=True, check=True)
    got = [tuple(map(int, line.split())) for line in out.stdout.decode().splitlines()]
    assert got == expected(policy, rows)


@pytest.mark.parametrize("dialect", list(DIALECTS))
def test_the_second_look_of_the_header_decides_as_the_policy_on_10000_samples(
    tmp_path: Path, dialect: str
) -> None:
    policy = with_second(7)
    assert policy.second is not None
    (tmp_path / "policy.h").write_text(exported(policy, "c"))
    program = compiled(tmp_path, dialect, SECOND_DRIVER)
    rows = samples(policy.second.policy, 10_000)
    data = b"".join(struct.pack(f"{len(row)}d", *row) for row in rows)
    out = subprocess.run([str(program)], input=data, capture_output=True, check=True)
    lines = out.stdout.decode().splitlines()
    answers, (where, asked), counts = lines[:-42], lines[-42:-40], lines[-40:]
    got = [tuple(map(int, line.split())) for line in answers]
    assert got == expected(policy.second.policy, rows)
    assert len(set(got)) > 5
    assert (where, asked) == ("in 6", "00001001")
    assert counts == ["at " + " ".join(str(HINTS.index(h)) for h in row) for row in at(policy)]


def test_the_second_look_of_the_python_module_decides_as_the_policy() -> None:
    policy = with_second(7)
    assert policy.second is not None
    module: dict[str, object] = {}
    exec(exported(policy, "python"), module)
    rows = samples(policy.second.policy, 500)
    second, rule = module["second"], module["second_rule"]
    assert callable(second) and callable(rule)
    got = [
        (
            rule(row[4:], row[:4]),
            HINTS.index(next(h for h in HINTS if str(h) == second(row[4:], row[:4]))),
        )
        for row in rows
    ]
    assert got == expected(policy.second.policy, rows)
    assert (module["SECOND_IN"], module["SECOND_AFTER"]) == ("slP", ("sLP", "slp"))
    other = module["at"]
    assert callable(other)
    assert module["CORES"] == str(CORES)
    assert [[other(str(hint), threads) for hint in HINTS] for threads in range(40)] == [
        [str(hint) for hint in row] for row in at(policy)
    ]


def at(policy: RulePolicy) -> list[list[Hint]]:
    """Meaning of each hint with 0 to 39 threads."""
    return [[policy.at(hint, threads, CORES) for hint in HINTS] for threads in range(40)]


@pytest.mark.parametrize("dialect", list(DIALECTS))
def test_several_policies_and_a_heartbeat_fit_into_one_program(
    tmp_path: Path, dialect: str
) -> None:
    (tmp_path / "a.h").write_text(exported(POLICIES[0], "c", "first"))
    (tmp_path / "b.h").write_text(exported(POLICIES[2], "c", "FIRST"))
    program = compiled(
        tmp_path,
        dialect,
        '#include <stdio.h>\n#define AUTOFINITY_WITH_HEARTBEAT\n#include "a.h"\n#include "b.h"\n'
        '#include "a.h"\nint main(void) {\n'
        "    double s[first_counter_count] = {0};\n    autofinity_beat();\n"
        '    printf("%s %d %d %d\\n", first_counters()[3], first_rule_count, FIRST_rule_count,\n'
        "           (first_decide(s) >= AUTOFINITY_SLP) + (FIRST_rule(s) == -1) +\n"
        "               (first_counters()[4] == 0));\n    return 0;\n}\n",
    )
    out = subprocess.run([str(program)], capture_output=True, text=True, check=True)
    assert out.stdout == "event_3 6 0 3\n"


def test_names_of_counters_survive_as_c_strings(tmp_path: Path) -> None:
    names = ('a"b', "back\\slash", "ü*/", "tri??/graph", "new\nline", "1 2", "%d")
    policy = RulePolicy(names, {}, (), HINTS[0])
    (tmp_path / "policy.h").write_text(exported(policy, "c"))
    program = compiled(
        tmp_path,
        "c99",
        '#include <stdio.h>\n#include "policy.h"\nint main(void) {\n'
        "    for (const char *const *c = autofinity_counters(); *c; c++) {\n"
        "        fputs(*c, stdout);\n        putchar(0);\n    }\n    return 0;\n}\n",
    )
    out = subprocess.run([str(program)], capture_output=True, check=True)
    assert tuple(out.stdout.decode().split("\0")[:-1]) == names


def test_a_header_is_a_plain_file_of_ascii() -> None:
    for policy in POLICIES:
        text = exported(policy, "c")
        assert text.isascii()
        assert text.count("/*") == text.count("*/")
        assert "malloc" not in text and "#include" not in text


@pytest.mark.parametrize("number", range(len(POLICIES)))
def test_the_python_module_decides_as_the_policy(number: int) -> None:
    policy = POLICIES[number]
    module: dict[str, object] = {}
    exec(exported(policy, "python"), module)
    rows = samples(policy, 500)
    decide, rule = module["decide"], module["rule"]
    assert callable(decide) and callable(rule)
    got = [
        (rule(row), HINTS.index(next(h for h in HINTS if str(h) == decide(row)))) for row in rows
    ]
    assert got == expected(policy, rows)
    assert module["COUNTERS"] == policy.counters


@pytest.mark.parametrize("number", range(len(POLICIES)))
def test_the_sql_expression_decides_as_the_policy(number: int) -> None:
    policy = POLICIES[number]
    if not policy.counters:
        assert exported(policy, "sql") == f"'{policy.default}'\n"
        return
    rows = samples(policy, 500)
    database = sqlite3.connect(":memory:")
    columns = ", ".join(f'"{name}" REAL' for name in policy.counters)
    database.execute(f"CREATE TABLE samples ({columns})")
    marks = ", ".join("?" * len(policy.counters))
    clean = [[None if math.isnan(v) else v for v in row] for row in rows]
    database.executemany(f"INSERT INTO samples VALUES ({marks})", clean)
    answers = database.execute(f"SELECT {exported(policy, 'sql')} FROM samples ORDER BY rowid")
    hints = [str(HINTS[hint]) for _, hint in expected(policy, rows)]
    assert [answer for (answer,) in answers] == hints


def test_json_is_the_file_and_text_the_listing() -> None:
    policy = POLICIES[0]
    assert files.loads(exported(policy, "json").encode()) == policy
    assert json.loads(exported(policy, "json"))["format"] == "autofinity-policy"
    assert f"else {policy.default.shown}" in exported(policy, "text")
    lines = exported(policy, "markdown").splitlines()
    assert sum(line.startswith("| ") for line in lines) == len(policy.rules) + 2
    assert lines[-1].startswith("weight of a rule: of the training cases that it decides")


@pytest.mark.parametrize("prefix", ["", "1a", "a-b", "_a", "a b", "ä"])
def test_a_prefix_that_is_no_identifier_is_refused(prefix: str) -> None:
    with pytest.raises(ExportError, match="identifier"):
        exported(POLICIES[0], "c", prefix)


def test_an_unknown_format_names_the_known_ones() -> None:
    with pytest.raises(ExportError, match=", ".join(FORMATS)):
        exported(POLICIES[0], "cobol")


def test_the_embedding_example_prints_the_decision(tmp_path: Path) -> None:
    source = Path(__file__).resolve().parents[3] / "examples" / "embed" / "embed.c"
    policy = POLICIES[0]
    (tmp_path / "policy.h").write_text(exported(policy, "c"))
    program = compiled(tmp_path, "c99", source.read_text(), "embed")
    row = samples(policy, 10)[0]
    shown = subprocess.run([str(program), *map(repr, row)], capture_output=True, text=True)
    ((rule, hint),) = expected(policy, [row])
    assert shown.stdout.splitlines()[-1].startswith(str(HINTS[hint]))
    assert ("default" if rule < 0 else f"rule {rule + 1}") in shown.stdout
    wrong = subprocess.run([str(program), "1"], capture_output=True, text=True)
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "expected 4 values" in wrong.stderr
