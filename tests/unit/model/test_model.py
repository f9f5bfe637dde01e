import pytest

from autofinity.model.affinity import HINTS, PACKED, Affinity, Hint
from autofinity.model.errors import AutofinityError, UnknownHintError


def test_affinities_are_equal_up_to_isomorphism() -> None:
    assert Affinity.of([[0, 2], [6, 2], []]) == Affinity.of([[2, 6], [2]])


def test_an_affinity_prints_as_it_parses() -> None:
    affinity = Affinity.of([[2, 6], [1]])
    assert str(affinity) == "{6,2}{1}"
    assert Affinity.parse("{6,2}{1}") == affinity


@pytest.mark.parametrize("hint", HINTS, ids=str)
def test_a_hint_prints_as_it_parses(hint: Hint) -> None:
    assert Hint.parse(str(hint)) == Hint.from_letters(str(hint)) == hint


@pytest.mark.parametrize("hint", HINTS, ids=str)
def test_a_hint_is_read_by_its_name_in_any_case(hint: Hint) -> None:
    for text in (hint.name, hint.name.upper(), hint.name.title()):
        assert Hint.parse(text) == hint


def test_names_of_hints_are_unique_and_are_no_letters_of_hints() -> None:
    names = [hint.name for hint in HINTS]
    assert len(set(names)) == 8
    assert {name.lower() for name in names}.isdisjoint(str(hint).lower() for hint in HINTS)
    assert all(name == name.lower() and name.isascii() and " " not in name for name in names)


def test_a_name_of_a_hint_is_its_wishes_the_first_one_first() -> None:
    for hint in HINTS:
        if hint.name in ("spread", "packed"):
            assert hint.spread_sockets == hint.spread_llcs == hint.socket_first
            continue
        sockets = "many-sockets" if hint.spread_sockets else "few-sockets"
        caches = "own-caches" if hint.spread_llcs else "shared-caches"
        wishes = (sockets, caches) if hint.socket_first else (caches, sockets)
        assert hint.name == "-".join(wishes)


def test_people_are_shown_name_and_letters() -> None:
    assert PACKED.shown == "packed (slp)"


@pytest.mark.parametrize(
    "text",
    [
        *("XYZ", "", "SL", "SLPP", "pack", "spread ", " packed", "own_caches_few_sockets"),
        *(
            "pac\N{KELVIN SIGN}ed",
            "\N{LATIN SMALL LETTER LONG S}pread",
            "spread\0",
            "\ud800",
            "s\u0131p",
        ),
    ],
)
def test_a_wrong_hint_names_all_eight_by_name_and_letters(text: str) -> None:
    with pytest.raises(ValueError, match=r"spread \(SLP\).*\(sLp\).*packed \(slp\)"):
        Hint.parse(text)


def test_letters_of_a_file_are_no_names() -> None:
    with pytest.raises(ValueError, match=r"three letters.*SLP.*slp"):
        Hint.from_letters("packed")


def test_an_unknown_hint_is_an_error_of_ours_and_of_python() -> None:
    with pytest.raises(UnknownHintError, match="not a hint: 'pack'") as raised:
        Hint.parse("pack")
    assert isinstance(raised.value, AutofinityError)
    assert isinstance(raised.value, ValueError)
