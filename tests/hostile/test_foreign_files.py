"""Whatever is in a file that others wrote: it is read, or our words say what is wrong with it."""

from __future__ import annotations

import functools
import json
import tomllib
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import fromstring

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from damaged import damaged, each_number, json_of, toml_of
from hostile_text import texts
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from observed import observation
from sim_programs import ping_pong

from autofinity._core import sim as core
from autofinity.model.affinity import HINTS, Affinity
from autofinity.model.counters import Behaviour
from autofinity.model.errors import AutofinityError
from autofinity.model.topology import Topology
from autofinity.resources import shipped

type Read = Callable[[Path], object]

pytestmark = [pytest.mark.any_user, pytest.mark.filterwarnings("error::RuntimeWarning")]

FIXTURE = [HealthCheck.function_scoped_fixture]


def read_or_refused(path: Path, read: Read, content: bytes) -> str:
    """Message about the file; empty: it was read. Any error that is not ours fails the test."""
    path.write_bytes(content)
    return refused(path, read)


def refused(path: Path, read: Read) -> str:
    try:
        read(path)
    except AutofinityError as error:
        assert str(error)
        return str(error)
    return ""


def toml(*parts: str) -> dict[str, Any]:
    return tomllib.loads(shipped(*parts).read_text(encoding="utf-8"))


# ---- policies --------------------------------------------------------------------------------
POLICY = json.loads(shipped("policies", "opteron-6164he.json").read_text(encoding="utf-8"))


def use_policy(path: Path) -> None:
    from autofinity.policy.explain import explain, explanation_data, explanation_text
    from autofinity.policy.export import FORMATS, exported
    from autofinity.policy.files import load

    policy = load(path)
    for form in FORMATS:
        exported(policy, form).encode()
    sample = dict.fromkeys(policy.counters, 1e6)
    why = explain(policy, sample)
    explanation_text(policy, why).encode()
    json.dumps(explanation_data(policy, why))


@settings(suppress_health_check=FIXTURE)
@given(document=damaged(POLICY))
def test_a_policy(tmp_path: Path, document: Any) -> None:
    read_or_refused(tmp_path / "policy.json", use_policy, json_of(document))


# ---- suites ----------------------------------------------------------------------------------
SUITE = {
    "suite": {"name": "mine", "version": 1, "description": "text"},
    "programs": {
        "p": {
            "run": ["{out}/p", "{input}"],
            "build": "{cc} -o {out}/p {dir}/p.c",
            "threads": {"env": {"OMP_NUM_THREADS": "{threads}"}, "allowed": [2, 4]},
            "roi": "whole",
            "timeout_s": 5.0,
            "expect": "ok",
            "inputs": {"small": "10 20"},
        }
    },
}


def use_suite(path: Path) -> None:
    from autofinity.trace.manifest import load_suite

    suite = load_suite(path)
    suite.name.encode()
    for program in suite.pick(()):
        program.threads.allows(4)
        str(program.threads)
        for words in (program.name, *program.run, *program.build, *program.threads.env.items()):
            assert "\0" not in words
        assert all("=" not in name for name in program.threads.env)


@settings(suppress_health_check=FIXTURE)
@given(document=damaged(SUITE, nothing=False))
def test_a_suite(tmp_path: Path, document: Any) -> None:
    if isinstance(document, dict):
        read_or_refused(tmp_path / "suite.toml", use_suite, toml_of(document))


# ---- machines --------------------------------------------------------------------------------
MACHINES = [toml("data", "machines", f"{name}.toml") for name in ("opteron-6164he", "i9-13900k")]
EXTREMES = (5e-324, 1e-300, 1e-9, 1e9, 1e300, 0, -1, 1 << 62)
PROGRAM = core.Program(ping_pong(2, 20))


def use_machine(path: Path) -> None:
    from autofinity.sim.preset import read_preset

    replay(read_preset(path))


def use_latencies(path: Path) -> None:
    from autofinity.sim.machine_on import machine_on

    replay(machine_on(topology_of_two_sockets(), path))


@functools.cache
def topology_of_two_sockets() -> Topology:
    from autofinity.sim.preset import load_preset

    return load_preset("xeon-e5-2650").topology


def replay(spec: Any) -> None:
    """Two threads on it, which pass lines to and fro."""
    from autofinity.cli.machines import document
    from autofinity.sim.native import machine_model

    json.dumps(document(spec), allow_nan=False)
    run = core.Simulation(machine_model(spec), PROGRAM, [0, len(spec.topology.pus) - 1])
    run.run()
    run.check()


@settings(max_examples=250, suppress_health_check=FIXTURE)
@given(document=st.sampled_from(MACHINES).flatmap(lambda m: damaged(m, nothing=False)))
def test_a_machine_file(tmp_path: Path, document: Any) -> None:
    if isinstance(document, dict):
        read_or_refused(tmp_path / "machine.toml", use_machine, toml_of(document))


@settings(max_examples=100, suppress_health_check=FIXTURE)
@given(document=st.sampled_from(MACHINES).flatmap(lambda m: damaged(m, nothing=False)))
def test_a_file_of_latencies(tmp_path: Path, document: Any) -> None:
    if isinstance(document, dict):
        read_or_refused(tmp_path / "latencies.toml", use_latencies, toml_of(document))


@pytest.mark.parametrize(
    ("use", "number"), [(use_machine, 0), (use_machine, 1), (use_latencies, 0)]
)
def test_a_machine_with_any_of_its_numbers_out_of_all_proportion(
    tmp_path: Path, use: Read, number: int
) -> None:
    """Such as a bandwidth of 1e-300 GB/s, of which a line takes longer than there is time."""
    said = [
        read_or_refused(tmp_path / "machine.toml", use, toml_of(document))
        for document in each_number(MACHINES[number], EXTREMES)
    ]
    assert sum(map(bool, said)) > len(said) // 4
    assert not all(said)


DEVICES = b"""
<object type="Bridge" gp_index="901" bridge_type="0-1" depth="0" bridge_pci="0000:[00-02]">
 <object type="PCIDev" gp_index="902" pci_busid="0000:02:00.0"
  pci_type="0302 [10de:20b0] [0000:0000] a1" pci_link_speed="0.0">
  <object type="OSDev" gp_index="903" name="card0" osdev_type="1"/></object>
</object></object>
</topology>"""
XML = (Path(__file__).parent / "four-cores.xml").read_bytes()
XML = XML[: XML.rindex(b"</object>")] + DEVICES
WORDS = (b"0", b"-1", b"18446744073709551615", b"0xffffffff", b"", b"\x1b[2J", b"&#0;", b"<", b'"')


def use_xml(path: Path) -> None:
    from autofinity.affinity.hints import all_hints
    from autofinity.linux.devices import xml_devices
    from autofinity.linux.topology import xml_topology
    from autofinity.report.device_list import device_lines
    from autofinity.report.machine_drawing import machine_svg
    from autofinity.report.picture import draw, summary

    topology = xml_topology(str(path))
    all_hints(topology, 2, topology.allowed)
    draw(topology, 80)
    device_lines(topology, xml_devices(str(path)))
    fromstring(machine_svg(topology, lines=[topology.name, *summary(topology)]))


@st.composite
def altered_xml(draw: st.DrawFn) -> bytes:
    """With another value of some attributes, or cut."""
    parts = XML.split(b'"')
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(parts) // 2 - 1)) * 2 + 1
        parts[at] = draw(st.sampled_from(WORDS) | texts(0).map(str.encode))
    made = b'"'.join(parts)
    return made[: draw(st.integers(0, len(made)))] if draw(st.integers(0, 4)) == 0 else made


@settings(max_examples=30, suppress_health_check=FIXTURE)  # each starts a process
@given(content=altered_xml())
def test_an_hwloc_file(tmp_path: Path, content: bytes) -> None:
    read_or_refused(tmp_path / "machine.xml", use_xml, content)


# ---- matrices --------------------------------------------------------------------------------
CELLS = ("0", "1", "5e-324", "1e-300", "1e150", "1e308", "inf", "nan", "-1", "-0", "1_0", "", "x")


def use_matrix(path: Path) -> None:
    from made_up_machine import machine

    from autofinity.mapping.compare import compared
    from autofinity.mapping.matrix_file import read_matrix
    from autofinity.model.sharing_metrics import heterogeneity, sharing_amount
    from autofinity.report.heat_map import heat_lines, heat_svg

    sharing = read_matrix(path, directed=True)
    topology = machine(2, 1, 2, 2)
    numbers = [heterogeneity(sharing), sharing_amount(sharing)]
    if sharing.threads <= 8:
        done = list(compared(sharing, topology, topology.allowed))
        numbers += [each.cost for each in done if not each.reason]
        assert any(each.cpus for each in done)
    json.dumps(numbers, allow_nan=False)
    heat_lines(sharing)
    heat_svg(sharing, path.name)


@st.composite
def matrices(draw: st.DrawFn) -> bytes:
    cells = st.sampled_from(CELLS[:5]) if draw(st.booleans()) else st.sampled_from(CELLS) | texts()
    size = draw(st.integers(1, 9))
    rows = draw(st.lists(st.lists(cells, min_size=size, max_size=size), min_size=1, max_size=size))
    return "\n".join(draw(st.sampled_from(",; ")).join(row) for row in rows).encode()


@settings(max_examples=150, suppress_health_check=FIXTURE)
@given(content=matrices())
def test_a_matrix(tmp_path: Path, content: bytes) -> None:
    read_or_refused(tmp_path / "matrix.csv", use_matrix, content)


# ---- what a trace says of itself -------------------------------------------------------------
COUNTS = {"events": 9, "bytes": 90, "accesses": 5, "instructions": 50}
META: dict[str, Any] = {
    "format": 2,
    "program": "p",
    "suite": "s",
    "input": "small",
    "arguments": ["p", "10"],
    "threads": 1,
    "roi": "marks",
    "key": "k",
    "digest": "d",
    "wall_s": 1.5,
    "cpu_s": 2.5,
    "spins": 0,
    "instructions": "counted",
    "host": "h",
    "addresses": "steady",
    "streams": [{"parent": 0, **COUNTS, "roi_accesses": 1, "roi_instructions": 2}] * 2,
    "sampling": {
        "windows": 1,
        "window_accesses": 5,
        "recorded_accesses": 5,
        "snapshot_bytes": 7,
        "seed": 1,
    },
}


def use_meta(folder: Path) -> None:
    from autofinity.trace.meta import read_meta

    meta = read_meta(folder)
    json.dumps({**asdict(meta), "path": ""}, allow_nan=False).encode()
    meta.workers()
    sizes = (meta.accesses, meta.roi_accesses, meta.bytes)
    " ".join((meta.instructions, f"{meta.cpu_s:.2f}", *(f"{size / 1e6:.1f}" for size in sizes)))


@settings(suppress_health_check=FIXTURE)
@given(document=damaged(META))
def test_meta_json_with_a_right_seal(tmp_path: Path, document: Any) -> None:
    from autofinity.trace import meta

    if isinstance(document, dict):
        content = json_of({**document, "seal": "0" * 64})
        at = meta._seal_at(content)
        sealed = content[:at] + meta._seal_of(content, at) + content[at + 64 :]
        (tmp_path / "meta.json").write_bytes(sealed)
        refused(tmp_path, use_meta)


# ---- observations and action tables ----------------------------------------------------------
def rows() -> pa.Table:
    from autofinity.store.observations import table_of

    seen = [
        observation(
            program=program,
            affinity=affinity,
            sample=sample,
            behaviour=Behaviour({"instructions": 1e9 + sample, "misses": level * 1e6}),
            performance=1.0 + (program == "a") * affinity.sockets + 0.1 * sample,
            progress=(sample + 0.5) / 4,
        )
        for level, program in enumerate("abc")
        for affinity in (Affinity.of([[2]]), Affinity.of([[1], [1]]), Affinity.of([[1, 1]]))
        for sample in range(4)
    ]
    return table_of(seen).to_arrow()


ROWS = rows()
COUNT = ROWS.num_rows
COLUMNS: dict[str, pa.Array] = {
    "texts": pa.array(["x"] * COUNT),
    "hostile texts": pa.array(["\x1b[2J*/"] * COUNT),
    "codes of texts": pa.array(["{2}"] * COUNT).dictionary_encode(),
    "bytes": pa.array([b"\xff"] * COUNT),
    "lists": pa.array([[1, 2]] * COUNT),
    "structs": pa.array([{"a": 1}] * COUNT),
    "nulls": pa.nulls(COUNT),
    "a null": pa.array([None] + [1.0] * (COUNT - 1)),
    "a text that is null": pa.array([None] + ["{2}"] * (COUNT - 1)),
    "truth values": pa.array([True] * COUNT),
    "negative integers": pa.array([-1] * COUNT),
    "zeros": pa.array([0] * COUNT),
    "huge integers": pa.array([2**64 - 1] * COUNT, pa.uint64()),
    "times": pa.array([0] * COUNT, pa.timestamp("ns")),
    "decimals": pa.array([1] * COUNT).cast(pa.decimal128(30, 2)),
    **{
        f"{value}": pa.array([value] * COUNT)
        for value in (-1.0, -0.0, 5e-324, 1e-300, 1e300, float("inf"), float("nan"), 0.5)
    },
}


@st.composite
def damaged_rows(draw: st.DrawFn, table: pa.Table) -> pa.Table:
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, table.num_columns - 1))
        name = table.column_names[at]
        column = COLUMNS[draw(st.sampled_from(sorted(COLUMNS)))].slice(0, table.num_rows)
        change = draw(st.integers(0, 9))
        if change < 6:
            table = table.set_column(at, name, column)
        elif change < 7:
            table = table.remove_column(at)
        elif change < 8:
            table = table.append_column(draw(st.just(name) | texts(any_code=False)), column)
        else:
            table = table.slice(0, draw(st.integers(0, 3)))
    return table


def use_observations(path: Path) -> None:
    from autofinity.learning.settings import LearningSettings
    from autofinity.store.observations import read
    from autofinity.workflow.learning_steps import action_table

    table = read(path)
    table.digest()
    for row in table.observations():
        json.dumps(asdict(row.behaviour))
    action_table(path, LearningSettings(), machine="xeon-e5-2650")


@settings(max_examples=150, suppress_health_check=FIXTURE)
@given(table=damaged_rows(ROWS))
def test_sealed_observations(tmp_path: Path, table: pa.Table) -> None:
    from autofinity.store.observation_file import write_file

    path = tmp_path / "observations.parquet"
    write_file(path, table, [("a", "small", 2, "affinity", "{2}", 1)])
    refused(path, use_observations)


KEYS = {"version": 3, "runs": [["a", "small", 2, "affinity", "{2}", 1]]}


@settings(suppress_health_check=FIXTURE)
@given(header=damaged(KEYS) | damaged(["x"]))
def test_the_header_of_sealed_observations(tmp_path: Path, header: Any) -> None:
    from autofinity.store import observation_file

    path = tmp_path / "observations.parquet"
    meta = {observation_file.FORMAT: json.dumps(header), observation_file._SEAL_KEY: SEAL}
    sink = pa.BufferOutputStream()
    pq.write_table(ROWS.replace_schema_metadata(meta), sink)
    path.write_bytes(observation_file._sealed(bytearray(sink.getvalue())))
    refused(path, use_observations)


SEAL = b"sha256:" + b"0" * 64


def a_table() -> tuple[pa.Table, Any]:
    """An action table, as Arrow has it, and its header."""
    import numpy as np

    from autofinity.learning import table_file
    from autofinity.learning.action_frame import action_frame

    table = action_frame(
        {"misses": (1.0, 2.0)},
        np.array([[0], [1], [2]]),
        [Affinity.of([[2]])],
        np.zeros(3, np.int64),
        np.ones((3, len(HINTS))),
        np.array([0, 1, 0]),
        np.ones(3),
    )
    path = Path("table.parquet")
    table_file.save(table, {"machine": "m"}, path)
    arrow = pq.read_table(path)
    path.unlink()
    return arrow, json.loads(arrow.schema.metadata[table_file.FORMAT.encode()])


def use_table(path: Path) -> None:
    from autofinity.learning.settings import LearningSettings
    from autofinity.policy.files import dumps
    from autofinity.workflow.train import rules_of_table

    policy, _ = rules_of_table(path, LearningSettings(learner="ripper"))
    dumps(policy)


@pytest.fixture(scope="module")
def action_table_parts(tmp_path_factory: pytest.TempPathFactory) -> tuple[pa.Table, Any]:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("table"))
        return a_table()


@settings(max_examples=150, suppress_health_check=FIXTURE)
@given(data=st.data())
def test_an_action_table(
    tmp_path: Path, action_table_parts: tuple[pa.Table, Any], data: st.DataObject
) -> None:
    from autofinity.learning import table_file

    arrow, header = action_table_parts
    made = data.draw(damaged_rows(arrow)) if data.draw(st.booleans()) else arrow
    said = data.draw(damaged(header) | st.just(header))
    path = tmp_path / "table.parquet"
    pq.write_table(made.replace_schema_metadata({table_file.FORMAT: json.dumps(said)}), path)
    refused(path, use_table)


# ---- notes of long work ----------------------------------------------------------------------
@settings(suppress_health_check=FIXTURE)
@given(
    document=damaged([["p", "small", 2, "origin"]])
    | damaged({"name": {"case": "c"}, "run": {"roi_s": 1}})
)
def test_notes_of_long_work(tmp_path: Path, document: Any) -> None:
    from autofinity.store.mechanism_runs import MechanismRuns
    from autofinity.store.observations import ObservationStore

    (tmp_path / "origins.json").write_bytes(json_of(document))
    ObservationStore(tmp_path)._origins()
    path = tmp_path / "runs.jsonl"
    path.write_bytes(json_of(document) + b"\n[]\n7\nnull\n")
    MechanismRuns(path).read()
