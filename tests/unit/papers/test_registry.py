"""All figures: found from the folders, of what exists, and listed in the document."""

from __future__ import annotations

from pathlib import Path

import pytest

from autofinity import papers
from autofinity.evaluation.comparison_summary import FIGURES
from autofinity.mechanisms.registry import MECHANISMS
from autofinity.papers.bars import Bars
from autofinity.papers.names import NAMES
from autofinity.papers.registry import OF_MECHANISMS, OF_OBSERVATIONS
from autofinity.papers.values import AS_THEY_ARE, LABELS
from autofinity.sim.preset import load_preset

EVERY = {**OF_OBSERVATIONS, **OF_MECHANISMS}
FOLDER = Path(papers.__file__).parent


def test_every_file_of_a_paper_is_a_figure_of_the_registry() -> None:
    files = {
        f"{path.parent.name}/{path.stem}" for path in FOLDER.glob("*/*.py") if "_" in path.stem
    } - {f"{paper}/__init__" for paper in ("cc13", "kmaf14", "kmaf16", "sammu", "tlb")}
    listed = set()
    for figure in EVERY.values():
        kind, number = ("table", figure.number.partition("-")[0][1:])
        if not figure.number.startswith("t"):
            kind, number = ("figure", figure.number.partition("-")[0].rstrip("abcd"))
        listed.add(f"{figure.paper.prefix.rstrip('-') or 'cc13'}/{kind}_{number}")
    assert files == listed


def test_the_names_of_the_command_line_are_those_of_the_figures() -> None:
    assert tuple(EVERY) == NAMES


def test_no_two_figures_have_one_name_and_each_says_where_it_stands() -> None:
    assert len(EVERY) == len(OF_OBSERVATIONS) + len(OF_MECHANISMS) == 51
    assert EVERY["9a"].source == "Moore & Childers, CC 2013, section 3.2, figure 9a"
    assert EVERY["kmaf16-t5"].source == "Diener et al., TPDS 2016, section 6.6, table 5"
    of_a_part = EVERY["kmaf16-9a-matrices"]
    assert of_a_part.source == "Diener et al., TPDS 2016, section 6.4, figure 9a, matrices"


@pytest.mark.parametrize("name", OF_MECHANISMS)
def test_every_figure_is_of_known_mechanisms_on_a_preset_with_room_for_its_threads(
    name: str,
) -> None:
    figure = OF_MECHANISMS[name]
    study = figure.study
    pus = len(load_preset(figure.default_machine).topology.pus)
    assert figure.default_threads == (figure.threads or pus) <= pus
    named = (*getattr(study, "mechanisms", ()), getattr(study, "mechanism", "os"))
    assert set(named) <= MECHANISMS.keys()
    if isinstance(study, Bars):
        assert study.quantity in LABELS
        assert (study.quantity in AS_THEY_ARE) != (study.quantity in FIGURES)
        assert figure.numbers.keys() <= set(study.mechanisms)


def test_the_document_lists_every_figure_of_mechanisms() -> None:
    text = (Path(__file__).parents[3] / "docs" / "mechanisms.md").read_text(encoding="utf-8")
    assert {name for name in OF_MECHANISMS if f"`{name}`" not in text} == set()
