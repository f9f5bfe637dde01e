"""The same program captured again, on a busy host or where addresses cannot be fixed, says the same
about affinities.
"""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import combinations
from pathlib import Path

import pytest
from workshop import CAN_REFUSE, REFUSING

from autofinity.affinity.enumerate import place
from autofinity.capture.suite_capture import capture_suite
from autofinity.model.affinity import Affinity
from autofinity.resources import shipped
from autofinity.sim.preset import load_preset
from autofinity.sim.replay import load_program, simulate, workers_of
from autofinity.trace.manifest import load_suite
from autofinity.trace.meta import TraceMeta, read_meta

# One LLC, both of a socket, two sockets, four sockets.
AFFINITIES = ("{4,0}{0,0}{0,0}{0,0}", "{2,2}{0,0}{0,0}{0,0}", "{2,0}{2,0}{0,0}{0,0}",
              "{1,0}{1,0}{1,0}{1,0}")  # fmt: skip
DIFFERENT = 1.02  # times nearer to each other than this have no order


@contextmanager
def busy_host() -> Iterator[None]:
    burners = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(4)]
    try:
        yield
    finally:
        for burner in burners:
            burner.kill()
            burner.wait()


def times_of(meta: TraceMeta) -> list[float]:
    spec, program = load_preset("opteron-6164he"), load_program(meta.path)
    return [
        simulate(
            spec,
            program,
            place(spec.topology, Affinity.parse(affinity)).cpus,
            workers=workers_of(meta.path, 4),
        ).roi_ns
        for affinity in AFFINITIES
    ]


def disagreements(one: list[float], other: list[float]) -> list[tuple[int, int]]:
    """Pairs of affinities that both captures distinguish, and order differently."""
    return [
        (a, b)
        for a, b in combinations(range(len(one)), 2)
        if max(one[a] / one[b], one[b] / one[a]) > DIFFERENT
        and max(other[a] / other[b], other[b] / other[a]) > DIFFERENT
        and (one[a] < one[b]) != (other[a] < other[b])
    ]


# A lock-free search whose order of discovery is the host's; a queue; locks and barriers.
@pytest.mark.parametrize("name", ["bfs", "prodcons", "fluid"])
def test_further_captures_on_a_busy_host_and_at_other_addresses_rank_affinities_alike(
    name: str, tmp_path: Path
) -> None:
    suite = load_suite(shipped("training", "suite.toml"))

    def captured(folder: str) -> list[float]:
        (meta,) = capture_suite(suite, [name], 4, "tiny", tmp_path / folder, builds=tmp_path / "b")
        return times_of(meta)

    def captured_without_fixed_addresses() -> list[float]:
        command = [*REFUSING, sys.executable, "-Pm", "autofinity", "capture", "-p", name]
        out = tmp_path / "refused"
        subprocess.run([*command, "-t", "4", "--size", "tiny", "-o", str(out)], check=True)
        return times_of(read_meta(out / f"{name}-tiny-4t"))

    first, second = captured("first"), captured("second")
    with busy_host():
        busy = captured("busy")
    assert max(first) > DIFFERENT * min(first), "nothing to rank"
    refused = [captured_without_fixed_addresses()] if CAN_REFUSE else []
    for other in (second, busy, *refused):
        assert disagreements(first, other) == [], (first, other)
        # And the best stays the best, or as good.
        assert other[first.index(min(first))] <= 1.05 * min(other), (first, other)
