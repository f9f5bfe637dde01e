"""Ratios of counters: what they are worth, and when they are worth nothing."""

import math

import numpy as np
import pytest
from observed import observation

from autofinity.learning.feature_columns import (
    events_of,
    fits,
    measured,
    with_facts,
    with_features,
    with_gains,
    with_named,
    with_sums,
)
from autofinity.linux.event_tables import all_encodings
from autofinity.model.affinity import HINTS
from autofinity.model.counters import Behaviour
from autofinity.model.errors import LearningError
from autofinity.model.facts import FACTS
from autofinity.model.policy import Condition, Rule, RulePolicy
from autofinity.model.ratios import (
    CATALOGUE,
    CROSS_CORE_COUNTERS,
    OTHER_LLC,
    PORTABLE_COUNTERS,
    SAME_LLC,
    Ratio,
    portable,
)
from autofinity.policy.evidence import can_ask
from autofinity.policy.files import load
from autofinity.policy.on_machine import on_machine
from autofinity.policy.readable import policy_text
from autofinity.policy.selector import decide
from autofinity.policy.shipped import PAPERS_END, policy_names
from autofinity.resources import shipped
from autofinity.sim.events import EVENTS
from autofinity.store.observation_table import ObservationTable
from autofinity.store.observations import table_of

SHARE = Ratio("share", ("a", "b"), ("c",), 2.0)


def table(*samples: dict[str, float]) -> ObservationTable:
    return table_of(
        [
            observation(sample=number, behaviour=Behaviour(sample))
            for number, sample in enumerate(samples)
        ]
    )


def test_a_ratio_is_its_scale_times_sum_over_sum() -> None:
    assert SHARE.of({"a": 1.0, "b": 2.0, "c": 4.0}) == 1.5
    assert SHARE.counters == ("a", "b", "c")


@pytest.mark.parametrize(
    "sample",
    [
        {"a": 1.0, "b": 2.0},
        {"a": 1.0, "c": 2.0},
        {"a": 1.0, "b": 1.0, "c": 0.0},
        {"a": 1.0, "b": 1.0, "c": -1.0},
        {"a": 1.0, "b": 1.0, "c": math.nan},
    ],
)
def test_a_ratio_without_its_counters_or_over_nothing_is_not_a_number(
    sample: dict[str, float],
) -> None:
    assert math.isnan(SHARE.of(sample))
    policy = RulePolicy(
        ("a", "b", "c"),
        {},
        (Rule((Condition("share", -math.inf, math.inf),), HINTS[7]),),
        HINTS[0],
        ratios=(SHARE,),
    )
    assert decide(policy, sample).hint == HINTS[0], "no condition on it holds"
    assert "share = 2 (a + b) / (c)" in policy_text(policy)


def test_the_catalogue_names_events_that_are_counted_and_each_ratio_once() -> None:
    assert len({ratio.name for ratio in CATALOGUE}) == len(CATALOGUE)
    for ratio in CATALOGUE:
        assert set(ratio.counters) <= set(EVENTS), ratio.name
        assert ratio.name not in EVENTS


def test_columns_agree_with_the_ratio_of_each_sample() -> None:
    draw = np.random.default_rng(1)
    names = sorted({counter for ratio in CATALOGUE for counter in ratio.counters})
    samples = [dict(zip(names, draw.integers(0, 3, len(names)) * 0.1, strict=True)) for _ in "abcd"]
    facts = dict.fromkeys(FACTS, 0.7)
    columns = with_features(with_facts(table(*samples), lambda _: facts), "ratios").counters
    for ratio in CATALOGUE:
        here = on_machine(RulePolicy(ratio.counters, {}, (), HINTS[0], ratios=(ratio,)), facts)
        expected = [here.ratios[0].of(sample) for sample in samples]
        np.testing.assert_allclose(columns[ratio.name], expected, 1e-15 if ratio.fact else 0)


def test_a_ratio_over_a_fact_is_not_a_number_until_a_machine_is_known() -> None:
    ratio = Ratio("share", ("a",), ("b",), 1e3, "packed_lines_pkc")
    assert math.isnan(ratio.of({"a": 1.0, "b": 1.0, "packed_lines_pkc": 1.0}))


def test_features_over_facts_are_offered_where_the_facts_are_known() -> None:
    counted = table(dict.fromkeys(PORTABLE_COUNTERS, 1.0))
    assert "packed_path_share" not in with_features(counted, "portable").counters
    known = with_facts(counted, lambda threads: dict.fromkeys(FACTS, float(threads)))
    for offered in (with_features(known, "portable"), with_gains(known)):
        assert "packed_path_share" in offered.counters
        assert set(FACTS).isdisjoint(offered.counters), "by itself a fact tells who the machine is"
    assert known.counters["packed_lines_pkc"].tolist() == [float(known.threads[0])]


def test_facts_cost_no_events() -> None:
    assert events_of(("packed_path_share",)) == ("llc_misses", "cycles")


def test_features_are_rates_ratios_or_both() -> None:
    seen = table({"instructions": 2.0, "cycles": 4.0, "other": 1.0})
    assert list(with_features(seen, "rates").counters) == ["cycles", "instructions", "other"]
    assert list(with_features(seen, "ratios").counters) == ["ipc"]
    assert set(with_features(seen, "both").counters) == {"cycles", "instructions", "other", "ipc"}
    assert with_named(seen, ("ipc",)).counters["ipc"].tolist() == [0.5]
    with pytest.raises(LearningError, match="a ratio of llc_misses, instructions"):
        with_named(seen, ("llc_misses_pki",))


def test_a_ratio_costs_as_many_events_as_it_has_counters() -> None:
    assert measured(("ipc", "cycles", "llc_misses_pki"))[0] == (
        *("instructions", "cycles", "llc_misses"),
    )
    assert fits(("ipc", "llc_misses_pki"), 3) and not fits(("ipc", "llc_misses_pki"), 2)


def test_portable_ratios_need_only_what_every_pmu_driver_maps() -> None:
    generic = {event for table, event in all_encodings() if table == "generic"}
    assert {ratio.name for ratio in portable()} >= {"llc_miss_share", "llc_misses_pki", "ipc"}
    assert {name for ratio in portable() for name in ratio.counters} <= generic


def test_portable_ratios_are_of_other_cores_caches_where_the_machine_counts_these() -> None:
    beyond = {
        *("other_cache_share", "other_cache_pki", "other_cache_miss_share", "far_transfer_share")
    }
    of_any_core = {"other_core_share", "other_core_pki"}
    known = {ratio.name for ratio in portable()}
    assert {ratio.name for ratio in portable((OTHER_LLC,))} - known == beyond
    assert {ratio.name for ratio in portable((SAME_LLC,))} == known
    assert {ratio.name for ratio in portable(CROSS_CORE_COUNTERS)} - known == beyond | of_any_core
    counted = dict.fromkeys(PORTABLE_COUNTERS | set(CROSS_CORE_COUNTERS) | set(FACTS), 1.0)
    for offered in (
        with_features(table(counted), "portable", (OTHER_LLC,)),
        with_gains(table(counted), (OTHER_LLC,)),
    ):
        assert beyond <= set(offered.counters)
        assert of_any_core.isdisjoint(offered.counters)
    assert beyond.isdisjoint(with_features(table(counted), "portable").counters)


def test_observations_of_the_parts_have_the_sum() -> None:
    parts = {
        "cache_to_cache_transfers_remote": 2.0,
        "cache_to_cache_transfers_same_package": 1.0,
        "instructions": 1000.0,
    }
    assert with_sums(table(parts)).counters[OTHER_LLC] == [3.0]
    assert with_named(table(parts), ("other_cache_pki",)).counters["other_cache_pki"] == [3.0]
    assert with_sums(table({**parts, OTHER_LLC: 5.0})).counters[OTHER_LLC] == [5.0]
    older = table(parts, {**parts, OTHER_LLC: 5.0})
    assert with_sums(older).counters[OTHER_LLC].tolist() == [3.0, 5.0]
    one = table({"cache_to_cache_transfers_remote": 2.0})
    assert OTHER_LLC not in with_sums(one).counters


@pytest.mark.parametrize("name", [n for n in policy_names() if not n.endswith(PAPERS_END)])
def test_a_shipped_policy_can_decide_on_every_machine_with_a_pmu(name: str) -> None:
    policy = load(shipped("policies", f"{name}.json"))
    assert set(policy.counters) <= PORTABLE_COUNTERS | set(CROSS_CORE_COUNTERS)
    assert can_ask(policy, PORTABLE_COUNTERS), "rules are left where other caches are not counted"
