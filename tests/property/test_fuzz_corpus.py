"""Bytes that fuzzers found interesting, and changes of them: the same answer or error every time.

Inputs of the native `make fuzz` go through the built extension here.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Iterator
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from trace_files import resealed, write_files

from autofinity._core import sim
from autofinity._core import trace as core
from autofinity.model.errors import SimulationError, TraceError
from autofinity.sim.native import machine_model
from autofinity.sim.preset import load_preset

CORPUS = Path(__file__).parents[1] / "fuzz" / "corpus"
BUNDLES = sorted((CORPUS / "replay_trace").iterdir()) + sorted((CORPUS / "read_trace").iterdir())
MACHINE = machine_model(load_preset("opteron-6164he"))
MOST_EVENTS, MOST_ACCESSES = 4096, 1 << 18


def unpack(bundle: bytes) -> Iterator[bytes]:
    """The files of a bundle (tests/fuzz/bundle.hpp): the index, then the streams."""
    at = 1
    while len(bundle) - at >= 4:
        size = struct.unpack_from("<I", bundle, at)[0]
        yield bundle[at + 4 : at + 4 + size]
        at += 4 + size


def answer(folder: Path) -> str | list[list[int]] | None:
    """Counts of the trace in a folder, or why it is refused; None: it would take long."""
    try:
        trace = core.read(str(folder))
        if trace.n_events > MOST_EVENTS or trace.n_accesses > MOST_ACCESSES:
            return None
        program = sim.Program(trace)
        run = sim.Simulation(MACHINE, program, [i % 5 for i in range(program.streams)])
        run.run()
    except (TraceError, SimulationError) as error:
        return str(error)
    run.check()
    assert run.progress == 1
    counts: list[list[int]] = run.totals().tolist()
    return counts


def test_every_input_of_the_corpus_is_replayed_or_refused_with_the_reason(tmp_path) -> None:
    answers = []
    for bundle in BUNDLES:
        folder = write_files(tmp_path, list(unpack(bundle.read_bytes())))
        answers.append(answer(folder))
        assert answer(folder) == answers[-1], bundle.name
    reasons = [each for each in answers if isinstance(each, str)]
    replayed = [each for each in answers if isinstance(each, list)]
    assert len(reasons) >= 50
    assert all(reasons)
    assert len(replayed) >= 20
    assert sum(bool(sum(map(sum, counts))) for counts in replayed) >= 20


@settings(
    max_examples=300, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)
@given(seed=st.integers(0, 2**32))
def test_changed_inputs_of_the_corpus_are_replayed_or_refused_the_same_way_again(
    seed, tmp_path
) -> None:
    rng = random.Random(seed)
    bundle = bytearray(rng.choice(BUNDLES).read_bytes())
    for _ in range(rng.choice((1, 1, 2, 8))):
        at = rng.randrange(len(bundle))
        match rng.randrange(4):
            case 0:
                bundle[at] = rng.choice((0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)))
            case 1:
                del bundle[at : at + rng.randrange(1, 9)]
            case 2:
                bundle[at:at] = rng.randbytes(rng.randrange(1, 9))
            case _:
                other = rng.choice(BUNDLES).read_bytes()
                bundle[at:] = other[rng.randrange(len(other)) :]
        if not bundle:
            return
    files = list(unpack(bytes(bundle)))
    folder = write_files(tmp_path, resealed(files) if rng.random() < 0.8 else files)
    assert answer(folder) == answer(folder)
