"""scx_layered's configuration, by the types that it is read into: no scheduler is started here."""

from __future__ import annotations

import json
from typing import Any

import pytest
from made_up_machine import machine

from autofinity.affinity.launchers.table import rank_texts
from autofinity.affinity.ranks import place_ranks
from autofinity.model.affinity import PACKED, SPREAD, Hint
from autofinity.model.topology import Topology


def layers(topology: Topology, ranks: int, threads: int, hint: Hint) -> list[dict[str, Any]]:
    (text,) = rank_texts("scx_layered", place_ranks(topology, ranks, threads, hint), topology)
    found: list[dict[str, Any]] = json.loads(text)
    return found


@pytest.mark.parametrize("hint", [PACKED, SPREAD])
def test_every_layer_has_the_fields_of_a_layer(hint: Hint) -> None:
    # scx_layered, src/config.rs: LayerSpec (name, matches and kind are required),
    # LayerKind::Confined (util_range is required) and LayerCommon.
    *ranks, others = layers(machine(2, 1, 2, 4), 4, 2, hint)
    for at, layer in enumerate(ranks):
        assert layer.keys() <= {"name", "comment", "template", "matches", "kind"}
        assert layer["name"] == f"rank{at}"
        assert layer["matches"] == [[{"CgroupSuffix": f"rank{at}/"}]]
        (common,) = layer["kind"].values()
        assert layer["kind"].keys() == {"Confined"}
        # Nodes beside caches would allow all CPUs of the nodes (src/main.rs, Layer::new).
        assert common.keys() == {"util_range", "cpus_range", "llcs"}
        low, high = common["util_range"]
        assert 0.0 <= low <= high <= 1.0
        assert common["cpus_range"] == [2, 2]
        assert all(isinstance(llc, int) and llc >= 0 for llc in common["llcs"])
    assert (others["matches"], others["kind"]) == ([[]], {"Open": {}})


def test_caches_are_numbered_as_the_scheduler_meets_cpus_by_name() -> None:
    # topology.rs, create_numa_nodes: glob() lists cpu0, cpu1, cpu10, cpu11, …, cpu2: with 16 CPUs
    # in 8 caches the cache of CPUs 10 and 11 is the second one.
    eight = machine(1, 1, 8, 2)
    found = [layer["kind"]["Confined"]["llcs"] for layer in layers(eight, 8, 1, PACKED)[:-1]]
    assert found == [[0], [4], [5], [6], [7], [1], [2], [3]]
