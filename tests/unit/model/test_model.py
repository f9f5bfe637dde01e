import pytest

from autofinity.model.affinity import HINTS, Affinity, Hint


def test_affinities_are_equal_up_to_isomorphism() -> None:
    assert Affinity.of([[0, 2], [6, 2], []]) == Affinity.of([[2, 6], [2]])


def test_an_affinity_prints_as_it_parses() -> None:
    affinity = Affinity.of([[2, 6], [1]])
    assert str(affinity) == "{6,2}{1}"
    assert Affinity.parse("{6,2}{1}") == affinity


@pytest.mark.parametrize("hint", HINTS, ids=str)
def test_a_hint_prints_as_it_parses(hint: Hint) -> None:
    assert Hint.parse(str(hint)) == hint


def test_a_wrong_hint_names_all_eight() -> None:
    with pytest.raises(ValueError, match=r"sLp.*slp"):
        Hint.parse("XYZ")
