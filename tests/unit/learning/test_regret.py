"""Learning from what a wrong hint costs: samples, losses, trees and the choice of features."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from observed import observation

from autofinity.learning.action_frame import action_frame
from autofinity.learning.action_table import build_action_table
from autofinity.learning.discretise import bin_of, equal_share
from autofinity.learning.elsewhere import WholeRuns
from autofinity.learning.hint_losses import hint_losses
from autofinity.learning.hint_samples import samples_in, windows
from autofinity.learning.leeway_hints import HintsOf
from autofinity.learning.pipeline import learn_policy
from autofinity.learning.regret_choice import choose_by_regret
from autofinity.learning.regret_policy import losses_of
from autofinity.learning.regret_tree import Losses, Trees, grow, labels_of, rules_of
from autofinity.learning.settings import Condense, LearningSettings
from autofinity.model.affinity import HINTS, SPREAD, Affinity, Hint
from autofinity.model.counters import Behaviour
from autofinity.policy.selector import decide
from autofinity.store.observation_table import ObservationTable
from autofinity.store.observations import table_of

APART, TOGETHER = Affinity.parse("{1}{1}"), Affinity.parse("{2}")
SLP, slp = HINTS[0], HINTS[7]
PACKED_FIRST = next(hint for hint in HINTS if not hint.spread_sockets)


def hints_of(affinity: Affinity) -> Sequence[Hint]:
    return [hint for hint in HINTS if hint.spread_sockets == (affinity == APART)]


def campaign(programs: int = 12, periods: int = 5) -> ObservationTable:
    """Every third program shares and is twice as fast together; the others lose a tenth there."""
    rows = []
    for number in range(programs):
        shares = number % 3 == 0
        for affinity in (APART, TOGETHER):
            roi_s = 1.0 if affinity == APART else (0.5 if shares else 1.1)
            for period in range(periods):
                cold = period == 0
                values = {
                    "sharing": 9.0 if cold else (4.0 if shares else 1.0) + 0.01 * number,
                    "noise": float((7 * number + period) % 5),
                }
                rows.append(
                    observation(
                        program=f"p{number:02}",
                        affinity=affinity,
                        sample=period,
                        progress=(period + 0.5) / periods,
                        behaviour=Behaviour(values),
                        performance=1 / roi_s,
                        roi_s=roi_s,
                    )
                )
    return table_of(rows)


def test_windows_leave_the_warm_up_and_a_short_rest_out() -> None:
    rows = np.arange(10, 20)
    cut = windows(rows, np.arange(10), 1, 4)
    assert [piece.tolist() for piece in cut] == [[11, 12, 13, 14], [15, 16, 17, 18]]
    assert windows(rows, np.arange(10), 1, 0)[0].tolist() == list(range(11, 20))
    assert windows(rows, np.arange(10), 99, 4)[0].tolist() == [19], "nothing else is left"


def test_samples_are_means_of_warm_periods_of_spread_runs() -> None:
    seen, rows = samples_in(SPREAD, campaign(3), hints_of, 0)
    assert len(seen) == len(rows) == 3
    assert seen.counters["sharing"].tolist() == pytest.approx([4.0, 1.01, 1.02])
    assert {seen.affinity.names[code] for code in seen.affinity.codes} == {str(APART)}


def test_each_run_counts_once_in_a_loss_however_many_sample_periods_it_has() -> None:
    seeds = {APART: ((1, 1.0, 2), (2, 4.0, 8)), TOGETHER: ((1, 2.0, 4), (2, 2.0, 4))}
    rows = [
        observation(affinity=affinity, seed=seed, sample=sample, roi_s=roi_s)
        for affinity, runs in seeds.items()
        for seed, roi_s, samples in runs
        for sample in range(samples)
    ]
    table = table_of(rows)
    losses = hint_losses(table, 1 / table.roi_s, hints_of, "gmean")
    assert losses[0, HINTS.index(SLP)] == 0
    assert losses[0, HINTS.index(slp)] == pytest.approx(np.log(0.625 / 0.5))


def test_a_period_in_which_nothing_is_done_counts_in_the_mean_of_its_run() -> None:
    done = {APART: (0.0, 3.0), TOGETHER: (2.0, 2.0)}
    rows = [
        observation(affinity=affinity, sample=sample, performance=performance)
        for affinity, periods in done.items()
        for sample, performance in enumerate(periods)
    ]
    table = table_of(rows)
    losses = hint_losses(table, table.performance, hints_of, "gmean")
    assert losses[0, HINTS.index(SLP)] == pytest.approx(np.log(2.0 / 1.5))
    assert losses[0, HINTS.index(slp)] == 0


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_nothing_done_is_the_least_that_was_done_and_no_infinite_loss(sign: float) -> None:
    worth = np.full((3, 8), np.nan)
    worth[0, :3] = 4.0, 0.0, 2.0
    worth[1, :2] = 8.0, 2.0
    worth[2, :2] = 0.0
    none, ones = np.zeros(3, np.int64), np.ones(3)
    table = action_frame({}, np.empty((3, 0), np.int64), [APART], none, sign * worth, none, ones)
    losses = losses_of(table)
    by_hand = np.log([[1, 2, 2], [1, 4, 4], [1, 1, 1]])
    if sign < 0:  # the smaller the magnitude, the better
        by_hand = np.log([[2, 1, 1], [4, 1, 4], [1, 1, 1]])
    assert losses[:, :3] == pytest.approx(by_hand)
    assert np.isfinite(losses).all()


def test_losses_are_logs_of_time_ratios_and_ties_lose_nothing() -> None:
    table = campaign(2)
    losses = hint_losses(table, 1 / table.roi_s, hints_of, "gmean")
    assert losses[0, HINTS.index(SLP)] == pytest.approx(np.log(2))
    assert losses[0, HINTS.index(slp)] == 0
    assert losses[1, HINTS.index(slp)] == pytest.approx(np.log(1.1))
    tied = hint_losses(table, (1 / table.roi_s) ** 0.09, hints_of, "gmean")  # 1.1 to 1.0086
    assert tied[1].max() == 0


@pytest.mark.parametrize("labels", ["runs", "periods"])
def test_2_2_whatever_learns_reads_the_same_action_table(labels: str) -> None:
    settings = LearningSettings(features="rates", counters=("sharing", "noise"), probe="none")
    settings = replace(settings, labels=labels)  # type: ignore[arg-type]
    ours, ripper = (
        learn_policy(campaign(), replace(settings, learner=learner), hints_of, {})
        for learner in ("regret-tree", "ripper")  # type: ignore[arg-type]
    )
    pd.testing.assert_frame_equal(ours.table, ripper.table)
    assert ours.policy.rules and ripper.policy.rules
    weights = {"runs": 12, "periods": 12 * 2 * 5}  # a program each, or a sample in any affinity
    assert ours.table["weight"].sum() == pytest.approx(weights[labels])


def test_leeway_and_condense_make_the_table_of_whole_runs_too() -> None:
    """Two affinities of one hint, of 2 and 0.4 times the speed of the third: the mean of them is
    better than it, the geometric mean is not.
    """
    beside = Affinity.parse("{1,1}")
    speeds = {APART: 1.0, TOGETHER: 2.0, beside: 0.4}
    table = table_of(
        [
            observation(
                affinity=affinity,
                behaviour=Behaviour({"x": 1.0}),
                performance=speed,
                roi_s=1 / speed,
            )
            for affinity, speed in speeds.items()
        ]
    )

    def best(condense: Condense, within: HintsOf) -> Hint:
        losses = hint_losses(table, 1 / table.roi_s, within, condense)
        cuts: dict[str, tuple[float, ...]] = {"x": ()}
        elsewhere = WholeRuns(table.workload(), losses)
        rows = build_action_table(table, elsewhere, ("x",), cuts, condense)
        assert set(rows["best"]) == {rows["best"][0]}
        return Hint.parse(rows["best"][0])

    assert best("mean", hints_of) == PACKED_FIRST and best("max", hints_of) == PACKED_FIRST
    assert best("gmean", hints_of) == best("min", hints_of) == SLP

    def exactly(affinity: Affinity) -> Sequence[Hint]:
        return [] if affinity == beside else hints_of(affinity)

    assert best("gmean", exactly) == PACKED_FIRST, "without leeway the slow one is no destination"


def test_bins_of_equal_share_hold_the_same_weight() -> None:
    values, weights = np.arange(12.0), np.repeat([4.0, 1.0], [2, 10])
    cuts = equal_share(values, weights, 3)
    assert cuts == (1.5, 5.5)
    assert equal_share(np.full(4, 2.0), np.ones(4), 3) == ()
    assert np.bincount(bin_of(values, cuts), weights=weights).tolist() == [8, 4, 6]


def test_a_tree_of_losses_equals_its_rules_and_missing_values_get_the_default() -> None:
    draw = np.random.default_rng(3)
    for _ in range(30):
        bins = draw.integers(-1, 5, (60, 3))
        data = Losses(bins, draw.random((60, len(HINTS))) ** 4, (5, 5, 5))
        leaves = grow(data, range(3), 7)
        assert len(leaves) <= 7
        rules = rules_of(leaves)
        first = np.array(
            [next(rule.label for rule in rules if rule.fires(row[None])[0]) for row in bins]
        )
        np.testing.assert_array_equal(first, labels_of(leaves, bins))
        assert {*labels_of(leaves, np.full((1, 3), -1))} == {rules[-1].label}


def test_a_tree_does_not_depend_on_those_grown_over_the_same_rows_before() -> None:
    draw = np.random.default_rng(5)
    for _ in range(20):
        bins = draw.integers(-1, 6, (40, 4))
        loss = draw.integers(0, 4, (40, len(HINTS))).astype(float)
        data = Losses(bins, loss, (6, 6, 6, 6), (7, 0), {1: 2})
        trees = Trees(data)
        for _ in range(20):
            features = draw.permutation(4)[: draw.integers(0, 5)].tolist()
            most, edge = int(draw.integers(1, 9)), float(draw.choice([0.0, 0.5, 1.0]))
            again, alone = (each.grow(features, most, edge) for each in (trees, Trees(data)))
            assert [leaf.box for leaf in again] == [leaf.box for leaf in alone]
            assert [leaf.label for leaf in again] == [leaf.label for leaf in alone]
            assert [leaf.rows.tolist() for leaf in again] == [leaf.rows.tolist() for leaf in alone]


def test_an_edge_lies_in_the_middle_of_what_is_left_open() -> None:
    bins = np.array([[0], [1], [5], [6]])
    loss = np.zeros((4, len(HINTS)))
    loss[:2, 1] = loss[2:, 0] = 1.0
    loss[:, 2:] = 1.0
    below, above = grow(Losses(bins, loss, (7,)), [0], 2)
    assert (below.box[0], above.box[0]) == ((0, 2), (3, 6))


def test_a_feature_that_tells_by_a_lucky_edge_only_is_not_chosen() -> None:
    """Without a program that lies next to the gap, the edge may be anywhere in it."""
    lucky = (0.0, 1.0, 2.0, 8.0, 9.0, 10.0, 0.0)
    steady = (0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0)  # wrong of the last, at which little is at stake
    loss = np.full((7, len(HINTS)), 2.0)
    loss[:, :2] = 0.0
    loss[:3, 1] = loss[3:6, 0] = 1.0
    loss[6, 1] = 0.05
    seen = table_of(
        [
            observation(
                program=f"p{number}",
                affinity=APART,
                behaviour=Behaviour({"lucky": one, "steady": other}),
            )
            for number, (one, other) in enumerate(zip(lucky, steady, strict=True))
        ]
    )
    cuts = {"lucky": (0.5, 1.5, 3.0, 5.0, 7.0, 8.5, 9.5), "steady": (0.5,)}
    assert choose_by_regret(seen, np.arange(7), loss, cuts, 1, 8).chosen[0] == "steady"


def test_a_rare_row_with_much_at_stake_outweighs_many_with_little() -> None:
    loss = np.zeros((11, len(HINTS)))
    loss[:10, 1], loss[10, 0] = 0.01, 1.0
    loss[:, 2:] = 2.0
    (leaf,) = grow(Losses(np.zeros((11, 1), dtype=np.int64), loss, (1,)), [0], 4)
    assert leaf.label == 1


@pytest.mark.parametrize(("loss_of_preferred", "label"), [(0.009, 7), (0.02, 3)])
def test_a_preferred_label_is_said_while_no_other_is_better_than_noise(
    loss_of_preferred: float, label: int
) -> None:
    """At the start 1 is at stake, so noise is `WORTH` (a hundredth) of it."""
    loss = np.ones((2, len(HINTS)))
    loss[0, 0] = loss[1, 3] = 0.0
    loss[1, 7] = loss_of_preferred
    data = Losses(np.array([[0], [1]]), loss, (2,), preferred=(7,))
    below, above = grow(data, [0], 2)
    assert (below.label, above.label) == (0, label)


def test_of_hints_that_are_one_place_wherever_it_was_learned_packed_is_said() -> None:
    """They are two places on other machines; `packed` keeps threads close there, too."""
    settings = LearningSettings(features="rates", probe="none")
    learned = learn_policy(campaign(), settings, hints_of, {}).policy
    assert decide(learned, {"sharing": 4.0, "noise": 1.0}).hint == slp


def test_without_a_feature_that_tells_the_hint_that_loses_least_is_said_of_all() -> None:
    rows = [
        replace(row, behaviour=Behaviour({"noise": row.behaviour["noise"]}))
        for row in campaign().observations()
    ]
    settings = LearningSettings(features="rates", probe="none")
    table = table_of(rows)
    mixed = learn_policy(table, settings, hints_of, {}).policy
    # Four programs of twelve lose log 2 apart, eight lose log 1.1 together.
    assert (mixed.rules, mixed.default.spread_sockets) == ((), False)
    apart = table.take(np.isin(table.program.text().astype(str), [f"p{n:02}" for n in range(1, 3)]))
    assert learn_policy(apart, settings, hints_of, {}).policy.default == SLP


def test_a_program_is_held_out_with_all_its_inputs() -> None:
    table = campaign()
    twice = table_of(
        [replace(row, input=name) for row in table.observations() for name in ("a", "b")]
    )
    settings = LearningSettings(features="rates", probe="none")
    once, both = (learn_policy(t, settings, hints_of, {}) for t in (table, twice))
    assert once.counters is not None
    assert both.counters is not None
    assert both.counters.ranking[0].merit == pytest.approx(2 * once.counters.ranking[0].merit)


@pytest.mark.parametrize("learner", ["regret-tree", "ripper"])
def test_the_feature_that_decides_is_chosen_and_the_cold_period_is_not_believed(
    learner: str,
) -> None:
    settings = LearningSettings(features="rates", learner=learner)  # type: ignore[arg-type]
    learned = learn_policy(campaign(), settings, hints_of, {"machine": "box"})
    assert learned.counters is not None and learned.counters.chosen == ("sharing",)
    answers = [decide(learned.policy, {"sharing": value}).hint for value in (4.0, 1.0)]
    assert not answers[0].spread_sockets and answers[1].spread_sockets
    assert learned.policy.provenance["action_table_rows"] == len(learned.table)
