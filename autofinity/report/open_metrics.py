"""Gauges as text in the OpenMetrics format (openmetrics.io), for node_exporter's collector.

That collector reads the older text format of Prometheus (0.0.4), in which unknown types are errors
and `# UNIT` and `# EOF` are comments. A file of gauges without timestamps is valid in both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Sample:
    """One value of a gauge, and the labels that distinguish it from the others."""

    value: float
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Gauge:
    """A quantity that may rise and fall."""

    name: str
    help: str
    samples: Sequence[Sample]
    unit: str = ""
    """Unit, with which the name ends; empty for a count of the things that the name says."""


def open_metrics_text(gauges: Sequence[Gauge]) -> str:
    """The whole file. Raises `ValueError` for a unit that a name does not end with."""
    lines: list[str] = []
    for gauge in gauges:
        lines.append(f"# TYPE {gauge.name} gauge")
        if gauge.unit:
            if not gauge.name.endswith(f"_{gauge.unit}"):
                raise ValueError(f"got the unit {gauge.unit}, expected the end of {gauge.name}")
            lines.append(f"# UNIT {gauge.name} {gauge.unit}")
        lines.append(f"# HELP {gauge.name} {_escaped(gauge.help)}")
        lines += [f"{gauge.name}{_labels(each.labels)} {each.value!r}" for each in gauge.samples]
    return "\n".join([*lines, "# EOF", ""])


def _labels(labels: Mapping[str, str]) -> str:
    pairs = ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items())
    return f"{{{pairs}}}" if pairs else ""


def _escaped(text: str) -> str:
    plain = text.encode("utf-8", "backslashreplace").decode()
    return plain.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')
