"""Which captures are sampled, and how densely."""

import pytest

from autofinity.capture.sampling import Choice, WindowPlan


@pytest.mark.parametrize(
    ("choice", "size", "sampled"),
    [
        ("auto", "tiny", False),
        ("auto", "small", False),
        ("auto", "medium", False),
        ("auto", "large", True),
        ("auto", "memory", True),
        ("always", "tiny", True),
        ("never", "large", False),
    ],
)
def test_the_size_decides_whether_an_input_is_recorded_whole_unless_asked(
    choice: Choice, size: str, sampled: bool
) -> None:
    assert (WindowPlan.chosen(choice, size, 8) is not None) is sampled


@pytest.mark.parametrize("threads", [1, 4, 8, 64, 384])
def test_windows_are_at_most_a_sixteenth_of_the_run(threads: int) -> None:
    sampling = WindowPlan.of(threads)
    assert sampling.window_accesses >= threads << 16
    assert sampling.spacing >= 16 * sampling.window_accesses


def test_the_runtime_is_told_accesses_of_all_threads() -> None:
    assert str(WindowPlan(8 << 20, 1 << 19, 7)) == "8388608,524288,7"
