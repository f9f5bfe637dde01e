"""Assumed values of a recorded machine where nothing can be measured:
data/latencies/assumed.toml.
"""

from __future__ import annotations

from autofinity.checked_file import read_toml
from autofinity.model.errors import TopologyError
from autofinity.recording.rows import Row
from autofinity.sim.machine_on import assumed_latencies
from autofinity.sim.sources import sourced_values


class Assumed:
    """The values of the file of assumed latencies, and their bounds from the comments of the
    file.
    """

    def __init__(self) -> None:
        path = assumed_latencies()
        self._document = read_toml(path, TopologyError)
        text = path.read_text(encoding="utf-8")
        self._bounds = {
            (each.table, each.key): each.comment.partition(":")[0] for each in sourced_values(text)
        }

    def table(self, name: str) -> dict[str, object]:
        """All values of a table."""
        table = self._document[name]
        assert isinstance(table, dict)
        return table

    def row(self, table: str, key: str, why: str = "assumed.toml") -> Row:
        """A value as a row of a machine file, with its bounds and `why` as the comment."""
        value = self.table(table)[key]
        if isinstance(value, str):
            text = f'"{value}"'
        elif isinstance(value, dict):
            text = "{ " + ", ".join(f"{inner} = {each}" for inner, each in value.items()) + " }"
        else:
            text = str(value)
        return Row(key, text, f"{self._bounds[table, key]}: {why}")
