"""The decision from a file is the decision from the same sample live."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from memory_programs import initialised_by_one
from sim_programs import kept, ping_pong

from autofinity.linux.event_names import EventNames
from autofinity.model.facts import LINE_BYTES
from autofinity.policy.explain import explanation_data
from autofinity.workflow.advice.from_file import place_named, seen_in_file
from autofinity.workflow.advice.placement import chosen_of
from autofinity.workflow.advice.seen import Seen
from autofinity.workflow.advice.simulated import seen_simulated
from autofinity.workflow.advice.threads import thread_count
from autofinity.workflow.backends import simulated
from autofinity.workflow.policies import policy_for

MACHINES = ("xeon-8480", "epyc-9654", "opteron-6164he")
PROGRAMS = {
    "pages of one thread": (4, lambda: initialised_by_one(4, 600, 14)),
    "a line that two write": (2, lambda: ping_pong(2, 20_000)),
}
SECONDS = 3.0


def decision_of(seen: Seen) -> object:
    chosen = chosen_of(seen)
    assert chosen is not None and seen.policy is not None
    found = explanation_data(seen.policy, chosen.why)
    del found["unknown"]  # what else was counted
    return found, chosen.cores.cpus


@pytest.fixture(scope="module", params=[(m, p) for m in MACHINES for p in PROGRAMS])
def live(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Seen:
    machine, program = request.param
    threads, made = PROGRAMS[program]
    trace = kept(made(), tmp_path_factory.mktemp("trace") / "program")
    return seen_simulated(
        simulated(machine), Path(trace), policy_for(machine), "of this test", threads
    )


def test_reads_of_a_simulated_program_are_its_local_and_remote_reads(live: Seen) -> None:
    assert live.state.samples.start is not None
    sample = live.state.samples.start.values
    lines = sample["dram_reads_local"] + sample["dram_reads_remote"]
    read_gbs = thread_count(live).facts["read_gbs"]
    assert read_gbs == lines * live.placed * LINE_BYTES / 1e9


def from_file(live: Seen, path: Path) -> Seen:
    assert live.kind
    place = place_named(live.kind)
    return seen_in_file(path, place, policy_for(live.kind), "of this test", live.threads)


def test_a_table_of_ones_own_says_what_the_sample_said(live: Seen, tmp_path: Path) -> None:
    assert live.state.samples.start is not None
    sample = {
        name: value for name, value in live.state.samples.start.values.items() if value == value
    }
    path = tmp_path / "own.json"
    path.write_text(json.dumps(sample))
    assert decision_of(from_file(live, path)) == decision_of(live)


def test_perf_stat_of_the_same_counts_says_what_the_sample_said(live: Seen, tmp_path: Path) -> None:
    assert live.state.samples.start is not None and live.policy is not None
    names = EventNames(place_named(live.kind).cpu)
    lines = []
    for counter in live.policy.counters:
        value = live.state.samples.start.values.get(counter, math.nan)
        events = names.spelling(counter)
        for at, event in enumerate(events):  # what several events count, the first one counted
            count = value * SECONDS * live.threads if at == 0 else 0.0
            row = {
                "counter-value": f"{count:f}",
                "event": event,
                "event-runtime": round(SECONDS * live.threads * 1e9),
                "pcnt-running": 100.0,
            }
            lines.append(json.dumps(row))
    path = tmp_path / "stat.json"
    path.write_text("\n".join(lines))
    found = from_file(live, path)
    assert found.given is not None and not found.given.lacking
    (why, cpus), (live_why, live_cpus) = decision_of(found), decision_of(live)
    assert (why["hint"], why["rule"], cpus) == (live_why["hint"], live_why["rule"], live_cpus)
    assert why["values"] == pytest.approx(live_why["values"], rel=1e-5)
