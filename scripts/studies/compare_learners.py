"""Our own RIPPER beside JRip: accuracy over data sets, paired, by repeated cross-validation.

    python scripts/studies/compare_learners.py [--repeats 5] [--only NAME] [--into docs/learners.md]

Prints the table of docs/learners.md; with `--into` it goes between its marks there. Both learn from
the same folds with their default settings. The p of a data set is that of the corrected resampled
t-test (Nadeau & Bengio 2003); the last lines compare the means over data sets (Wilcoxon's signed
ranks). Results of this native core are kept in build/learners and not computed again.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import numpy as np
from learning_tasks import TASKS, Floats, Ints, Task
from scipy import stats
from shown_table import add_into, show_table
from sklearn.model_selection import StratifiedKFold

from autofinity.learning import value_rules, weka
from autofinity.learning.value_rules import Test, ValueRule, first_to_fire, learn_rules
from autofinity.own_code import digest_of_core
from autofinity.report import markdown

FOLDS = 5
KEPT = Path("build") / "learners"

HEAD = (
    "| data set | rows × features | classes | JRip | ours | difference | p | rules of JRip "
    "| of ours |\n|---|---|---|---|---|---|---|---|---|"
)

type Learn = Callable[[Task, int], list[ValueRule]]


def ours(task: Task, seed: int) -> list[ValueRule]:
    """Our own RIPPER."""
    classes = int(task.labels.max()) + 1
    weights = np.ones(len(task.labels))
    return learn_rules(task.values, task.nominal, task.labels, weights, classes, seed=seed)


def jrip(task: Task, seed: int) -> list[ValueRule]:
    """WEKA's JRip. Its "at least" is "above" the next smaller number."""
    found, _ = weka.jrip(task.values, task.names, task.labels, np.ones(len(task.labels)), seed)
    return [
        ValueRule(
            tuple(
                Test(test.attribute, ">", float(np.nextafter(test.value, -np.inf)))
                if test.relation == ">="
                else Test(test.attribute, "=" if test.relation == "=" else "<=", test.value)
                for test in rule.tests
            ),
            (),
            rule.prediction,
        )
        for rule in found
    ]


LEARNERS: Mapping[str, Learn] = {"jrip": jrip, "ours": ours}


def main() -> None:
    words = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    words.add_argument("--repeats", type=int, default=5)
    words.add_argument("--only", action="append", choices=TASKS, help="only this data set")
    add_into(words)
    wanted = words.parse_args()
    lines = [HEAD]
    means = []
    for name in wanted.only or TASKS:
        task = TASKS[name]()
        scores = {who: results(name, who, task, wanted.repeats) for who in LEARNERS}
        lines.append(row(name, task, scores["jrip"], scores["ours"]))
        means.append([scores[who][:, 0].mean() for who in LEARNERS])
    if len(means) > 1:
        lines.append(summary(np.array(means)))
    show_table(lines, wanted.into, "scripts/studies/compare_learners.py")


def results(name: str, who: str, task: Task, repeats: int) -> Floats:
    """Accuracy and number of rules, one line a fold; kept once computed."""
    content = task.values.tobytes() + task.labels.tobytes() + repr((who, repeats)).encode()
    if who == "ours":
        content += digest_of_core() + Path(value_rules.__file__).read_bytes()
    kept = KEPT / f"{name}-{who}-{hashlib.sha256(content).hexdigest()[:12]}.json"
    if not kept.exists():
        found = list(folds(task, LEARNERS[who], repeats))
        KEPT.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(found))
        print(f"{name}: {who} done", file=sys.stderr)
    return np.array(json.loads(kept.read_text()))


def folds(task: Task, learn: Learn, repeats: int) -> Iterator[tuple[float, int]]:
    """(accuracy on the fold left out, rules learned from the others)."""
    for seed in range(1, repeats + 1):
        cut = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
        for train, test in cut.split(task.values, task.labels):
            rules = learn(Task(task.values[train], task.names, task.labels[train]), seed)
            said = predicted(rules, task.values[test])
            yield float((said == task.labels[test]).mean()), len(rules) - 1


def predicted(rules: list[ValueRule], values: Floats) -> Ints:
    """The label of the first rule that fires on each row."""
    labels = np.array([rule.label for rule in rules])
    said: Ints = labels[first_to_fire(rules, values)]
    return said


def row(name: str, task: Task, theirs: Floats, own: Floats) -> str:
    """One line of the table."""
    difference = own[:, 0] - theirs[:, 0]
    return markdown.row(
        name,
        f"{task.values.shape[0]} × {task.values.shape[1]}",
        str(int(task.labels.max()) + 1),
        f"{theirs[:, 0].mean():.3f}",
        f"{own[:, 0].mean():.3f}",
        f"{difference.mean():+.3f}",
        f"{corrected_p(difference):.2f}",
        f"{theirs[:, 1].mean():.1f}",
        f"{own[:, 1].mean():.1f}",
    )


def corrected_p(difference: Floats) -> float:
    """Two-sided p. Folds share rows: the variance is that of 1/n + test/train rows, not of 1/n."""
    spread = float(difference.var(ddof=1))
    if spread == 0:
        return 1.0 if difference.mean() == 0 else 0.0
    count = len(difference)
    t = difference.mean() / np.sqrt(spread * (1 / count + 1 / (FOLDS - 1)))
    return float(2 * stats.t.sf(abs(t), count - 1))


def summary(means: Floats) -> str:
    """Results over all data sets; the columns are those of `LEARNERS`."""
    difference = means[:, 1] - means[:, 0]
    better = stats.wilcoxon(difference, alternative="greater").pvalue
    worse = stats.wilcoxon(difference, alternative="less").pvalue
    return (
        f"\nMean accuracy {means[:, 0].mean():.4f} (JRip) and {means[:, 1].mean():.4f} (ours); "
        f"ours is better on {(difference > 0).sum()} of {len(difference)} data sets and worse on "
        f"{(difference < 0).sum()}. Wilcoxon: p = {better:.3f} that ours is no better, "
        f"{worse:.3f} that it is no worse."
    )


if __name__ == "__main__":
    main()
