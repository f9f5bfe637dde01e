"""A machine file with anything in it is a machine or an error that names the file."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autofinity.model.errors import AutofinityError, TopologyError
from autofinity.resources import shipped
from autofinity.sim.native import machine_model
from autofinity.sim.preset import preset_names, read_preset

TEXTS = [shipped("data", "machines", f"{name}.toml").read_text() for name in preset_names()]
VALUES = (
    *("-1", "0", "1", "3", "0.5", "1e300", "inf", "nan", "99999999999999999999", "2147483648"),
    *("[]", "[[]]", "{}", "true", '"x"', "[1, 2, 3]", "[[0, 1]]", "[[0, 1, 2]]", "[[0, 1, -1]]"),
    *("[[1, 1, 1, 1, 1]]", '[["a", 1, 2]]', "[[0.5, 1, 2]]", "[10]"),
)


@st.composite
def altered(draw: st.DrawFn) -> str:
    """A shipped file with one to three lines changed, dropped or repeated."""
    lines = draw(st.sampled_from(TEXTS)).splitlines()
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(lines) - 1))
        key = re.match(r"\w+ = ", lines[at])
        change = draw(st.integers(0, 9))
        if key and change < 7:
            lines[at] = key.group() + draw(st.sampled_from(VALUES))
        elif change < 8:
            del lines[at]
        else:
            lines.insert(at, draw(st.sampled_from(lines)))
    return "\n".join(lines)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("altered") / "machine.toml"


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(text=altered())
def test_an_altered_machine_file_is_a_machine_or_a_named_error(path: Path, text: str) -> None:
    path.write_text(text)
    try:
        spec = read_preset(path)
    except TopologyError as error:
        assert str(error).startswith(str(path))
        return
    try:
        machine_model(spec)
    except AutofinityError as error:
        assert "bad machine" in str(error)
