"""Samples in a run of very many repeats, from those of the few that are replayed."""

from __future__ import annotations

import pytest

from autofinity.evaluation.lasting_samples import LastingSamples, denser
from autofinity.model.detection import AccessSampling, FaultSampling, RemoteAccesses
from autofinity.model.errors import CapabilityError
from autofinity.model.sharing import NumaVectors, SharingMatrix
from autofinity.ports import Interval


def seen(
    sharing: float | None = None,
    pages: dict[int, tuple[int, ...]] | None = None,
    nodes: dict[int, int] | None = None,
) -> Interval:
    matrix = None if sharing is None else SharingMatrix(((0.0, sharing), (sharing, 0.0)))
    vectors = None if pages is None else NumaVectors(pages, nodes=nodes or {})
    return Interval(0, 1, (), sharing=matrix, pages=vectors)


def cell(samples: LastingSamples) -> float:
    sharing, _ = samples.take()
    assert sharing is not None
    return sharing.cells[0][1]


def found(samples: LastingSamples) -> dict[int, tuple[int, ...]]:
    _, pages = samples.take()
    assert pages is not None
    return dict(pages.pages)


def test_denser_samples_cost_as_much_in_all() -> None:
    plain = (RemoteAccesses(period=1000), AccessSampling(period=10_000, sample_ns=1000.0))
    for before, after in zip(plain, denser(plain, 100), strict=True):
        assert isinstance(after, RemoteAccesses | AccessSampling)
        assert after.period == before.period / 100
        assert after.sample_ns / after.period == before.sample_ns / before.period


def test_a_detector_that_does_not_sample_has_no_denser_form() -> None:
    with pytest.raises(CapabilityError, match="FaultSampling: expected a detector that samples"):
        denser((FaultSampling(),), 100)


def test_without_detectors_there_is_nothing_to_take() -> None:
    samples = LastingSamples(1)
    samples.replayed(seen(), 1.0)
    samples.played(10.0)
    assert samples.take() == (None, None)


def test_repeats_that_are_played_show_as_much_as_those_that_were_replayed() -> None:
    samples = LastingSamples(denser=10)
    samples.replayed(seen(sharing=40.0), 1.0)
    samples.replayed(seen(sharing=20.0), 1.0)
    assert cell(samples) == pytest.approx(6.0)
    samples.played(5.0)
    assert cell(samples) == pytest.approx(5 * 3.0)
    samples.played(5.0)  # what was played is not played again
    assert cell(samples) == pytest.approx(5 * 3.0)
    assert cell(samples) == 0.0


def test_after_a_move_only_what_is_replayed_since_counts() -> None:
    samples = LastingSamples(denser=1)
    samples.replayed(seen(sharing=40.0, pages={1: (4, 0)}), 1.0)
    samples.take()
    samples.moved()
    samples.played(3.0)  # nothing has been replayed there
    assert samples.take() == (SharingMatrix(((0.0, 0.0), (0.0, 0.0))), NumaVectors({}))
    samples.replayed(seen(sharing=2.0, pages={1: (4, 7)}), 1.0)
    samples.played(3.0)
    sharing, pages = samples.take()
    assert sharing is not None and sharing.cells[0][1] == pytest.approx(8.0)
    assert pages is not None and pages.pages == {1: (4, 28)}


def test_vectors_are_of_the_whole_run_and_pages_are_shown_when_they_have_a_new_sample() -> None:
    samples = LastingSamples(denser=10)
    samples.replayed(seen(pages={7: (30, 0), 8: (1, 4)}, nodes={7: 0, 8: 1}), 1.0)
    assert found(samples) == {7: (3, 0)}  # of page 8 not one whole sample yet
    samples.played(2.0)
    _, pages = samples.take()
    assert pages is not None
    assert pages.pages == {7: (9, 0), 8: (0, 1)}
    assert pages.nodes == {7: 0, 8: 1}
    assert found(samples) == {}
    samples.replayed(seen(pages={7: (40, 0), 9: (0, 20)}), 1.0)  # 10 more of page 7
    assert found(samples) == {7: (10, 0), 9: (0, 2)}
