from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import pytest
from pydantic import Field

from autofinity.checked_file import Table, WrongValueError, checked, naming, read_toml
from autofinity.model.errors import TopologyError


@dataclass(frozen=True, slots=True)
class Core:
    width: Annotated[int, Field(ge=1, le=64)]
    ipc: Annotated[float, Field(gt=0)] = 1.0


class Machine(Table):
    core: Core
    kind: Literal["mesi", "moesi"] = "mesi"
    shared: bool | None = None
    gbs: float | tuple[Annotated[float, Field(ge=0)], ...] = ()
    links: tuple[tuple[int, float], ...] = ()
    by_name: dict[str, Core] = {}


def test_what_fits_is_a_model_with_tuples_for_lists() -> None:
    read = checked(Machine, {"core": {"width": 2}, "gbs": [1, 2.5], "links": [[0, 1]]})
    assert read.core == Core(2, 1.0)
    assert (read.gbs, read.links) == ((1.0, 2.5), ((0, 1.0),))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"core": {}}, "core.width: missing; expected a whole number from 1 to 64"),
        ({"core": {"wdith": 2}}, "core.wdith: unknown key; did you mean width?"),
        (
            {"speed": 2},
            "speed: unknown key; expected one of core, kind, shared, gbs, links, by_name",
        ),
        ({"core": 3}, "core: got 3, expected a table"),
        ({"core": {"width": True}}, "core.width: got True, expected a whole number from 1 to 64"),
        ({"core": {"width": 2, "ipc": 0}}, "core.ipc: got 0, expected a number above 0"),
        ({"kind": "msi"}, "kind: got 'msi', expected one of mesi, moesi"),
        ({"shared": 1}, "shared: got 1, expected true or false"),
        ({"gbs": "2"}, "gbs: got '2', expected a number or a list, each a number of at least 0"),
        ({"links": [[0, 1], ["a", 1]]}, "links[1][0]: got 'a', expected a whole number"),
        ({"links": [[0, float("inf")]]}, "links[0][1]: got inf, expected a number"),
        ({"by_name": {"P": {"width": 0}}}, "by_name.P.width: got 0, expected a whole number from"),
        ({"kind": ["x" * 100]}, "kind: got ['" + "x" * 55 + "..., expected one of"),
    ],
)
def test_what_does_not_fit_is_named_with_what_was_got_and_expected(
    changed: dict[str, object], message: str
) -> None:
    with pytest.raises(WrongValueError) as wrong:
        checked(Machine, {"core": {"width": 2}, **changed}, "here")
    assert str(wrong.value).startswith(f"here.{message}")


def test_the_file_comes_first_and_the_key_of_the_whole_is_left_out(tmp_path: Path) -> None:
    refused = pytest.raises(TopologyError, match=r"^a\.toml: got 3, expected a table$")
    with refused, naming(Path("a.toml"), TopologyError):
        checked(Machine, 3)
    number = tmp_path / "number.toml"
    number.write_text("a = " + "9" * 5000)
    with pytest.raises(TopologyError, match=r"number\.toml: not a TOML file"):
        read_toml(number, TopologyError)
