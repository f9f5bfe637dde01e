"""A machine drawn as an SVG: sockets, NUMA nodes, last-level caches and cores, nested, with threads
in place.

The same drawing stands in pages, in notebooks and in files of its own. It needs nothing else: its
colours are inside, for light and for dark surroundings. Without threads a PU shows its OS index.
With threads a PU shows its OS index small, and below the numbers of the threads that may run there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from itertools import product

from autofinity.foreign_text import one_line
from autofinity.model.cpu_lists import format_numbers
from autofinity.model.devices import Device
from autofinity.model.topology import PU, OsIndex, Topology
from autofinity.report.device_boxes import ByNode, device_box, devices_by_node, lines_of_others
from autofinity.report.machine_parts import Domain, Node, Package, nodes_without_cpus, packages_of
from autofinity.report.nested_boxes import LETTER, Box, flowed, stacked
from autofinity.report.thread_colours import colours, text_on

WIDTH = 1120
"""Largest width in pixels, except for a machine whose core is wider."""
_PU_WIDTH, _PU_HEIGHT, _PU_HEIGHT_WITH_THREADS = 32, 22, 32
_GAP, _PAD, _HEAD = 4, 6, 17
_LINE, _MARGIN = 18, 8
_PUS_IN_A_ROW = 4
_CORES_IN_A_ROW = (4, 6, 8, 12, 16, 32)
_SOCKETS_IN_A_ROW = (1, 2, 3, 4, 6, 8)
_LOW = 300
_LEGEND_AT_MOST = 16
_NARROWEST = 420

_STYLE = """
.machine text{font:11px system-ui,"Segoe UI",Roboto,Helvetica,Arial,sans-serif;fill:#30363d}
.machine .title{font-size:13px;font-weight:600}
.machine .small{font-size:8.5px;fill:#6e7781}
.machine .bold{font-weight:700;text-anchor:middle}
.machine .middle{text-anchor:middle}
.machine .back{fill:#ffffff}
.machine .socket{fill:#f3f5f7;stroke:#a9b3bf}
.machine .node{fill:#e6eff3;stroke:#c0d0d8}
.machine .llc{fill:#ffffff;stroke:#c9d1d9}
.machine .core{fill:none;stroke:#8c96a1}
.machine .pu{fill:#ffffff;stroke:#b4bdc7}
.machine .closed{fill:#dfe3e8;stroke:#dfe3e8}
.machine .device{fill:#fff4e0;stroke:#d3a75c}
.machine .given{stroke:#b35900;stroke-width:2}
@media screen and (prefers-color-scheme:dark){
.machine text{fill:#d5dbe2}
.machine .small{fill:#98a3ae}
.machine .back{fill:#151b23}
.machine .socket{fill:#1b2027;stroke:#4a545f}
.machine .node{fill:#1f2c34;stroke:#3a4c57}
.machine .llc{fill:#161b22;stroke:#3d4650}
.machine .core{stroke:#6b7682}
.machine .pu{fill:#161b22;stroke:#55606b}
.machine .closed{fill:#2d343c;stroke:#2d343c}
.machine .device{fill:#3a2f1c;stroke:#8a6d3b}
.machine .given{stroke:#f0a04b}
}
""".strip()


@dataclass(frozen=True, slots=True)
class OnMachine:
    """Threads on a machine, as a picture shows them."""

    threads: Mapping[OsIndex, tuple[int, ...]] = field(default_factory=dict)
    """Numbers of the threads that may run on each PU."""
    given: frozenset[OsIndex] = frozenset()
    """PUs with a thick border: those that a run claims."""

    @staticmethod
    def seated(cpus: Sequence[OsIndex], numbers: Sequence[int] | None = None) -> OnMachine:
        """Thread `numbers[i]` (default: i) on `cpus[i]`."""
        return OnMachine.masked([(cpu,) for cpu in cpus], numbers)

    @staticmethod
    def masked(
        masks: Sequence[Sequence[OsIndex] | frozenset[OsIndex]],
        numbers: Sequence[int] | None = None,
    ) -> OnMachine:
        """Thread `numbers[i]` (default: i) on any of `masks[i]`."""
        found: dict[OsIndex, tuple[int, ...]] = {}
        for thread, cpus in zip(numbers or range(len(masks)), masks, strict=True):
            for cpu in cpus:
                found[cpu] = (*found.get(cpu, ()), thread)
        return OnMachine(found)


@dataclass(frozen=True, slots=True)
class _Look:
    """Everything that decides the look of a PU."""

    shown: OnMachine
    usable: frozenset[OsIndex]
    colour: Mapping[tuple[int, ...], str]
    """Colour of threads that share their PUs."""
    devices: ByNode
    cores_in_a_row: int = 1
    """Most cores of a last-level cache beside each other."""

    @property
    def pu_height(self) -> int:
        return _PU_HEIGHT_WITH_THREADS if self.shown.threads else _PU_HEIGHT


def machine_svg(
    topology: Topology,
    shown: OnMachine | None = None,
    available: frozenset[OsIndex] | None = None,
    lines: Sequence[str] = (),
    devices: Sequence[Device] = (),
) -> str:
    """The drawing as a document of SVG, at most `WIDTH` pixels wide; foreign text is escaped.

    `lines` stand above it, the first one as a title. PUs outside `available` are grey (default:
    those that the topology does not allow). Devices are in their nodes.
    """
    shown = shown or OnMachine()
    groups = list(dict.fromkeys(shown.threads[cpu] for cpu in sorted(shown.threads)))
    look = _Look(
        shown,
        topology.allowed if available is None else available,
        dict(zip(sorted(groups), colours(len(groups)), strict=True)),
        devices_by_node(topology, devices),
    )
    packages = packages_of(topology)
    whole = _least_high(packages, look)
    longest = max((len(one_line(line)) for line in lines), default=0)
    inner = max(whole.width, _NARROWEST, min(WIDTH, round(longest * LETTER)))
    top = _MARGIN + _LINE * len(lines) + (_GAP if lines else 0)
    closed = any(pu.os_index not in look.usable for pu in topology.pus)
    said_below = (*nodes_without_cpus(topology), *lines_of_others(topology, devices))
    below = [*_legend(look, inner, closed=closed), *map(_plain_line, said_below)]
    height = top + whole.height + _LINE * len(below) + 2 * _MARGIN
    width = inner + 2 * _MARGIN
    said = one_line(" · ".join(lines)) or "machine"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="machine" width="{width}" '
        f'height="{height}" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="{escape(said)}">',
        f"<style>{_STYLE}</style>",
        f'<rect class="back" width="{width}" height="{height}"/>',
        *(
            f'<text x="{_MARGIN}" y="{_MARGIN + _LINE * i + 11}" '
            f'class="{"title" if i == 0 else "line"}">{escape(one_line(line))}</text>'
            for i, line in enumerate(lines)
        ),
        *whole.drawn(_MARGIN, top),
    ]
    for i, line in enumerate(below):
        parts.append(
            f'<g transform="translate({_MARGIN},{top + whole.height + _MARGIN + _LINE * i})">'
            f"{line}</g>"
        )
    return "\n".join((*parts, "</svg>")) + "\n"


def _least_high(packages: Sequence[Package], look: _Look) -> Box:
    """The layout that makes the picture least high, by the size of the first socket. For low
    pictures, one with all sockets side by side, then one with all cores of a cache in one row.
    """

    def key(layout: tuple[int, int]) -> tuple[bool, int, int, int, int]:
        sockets, cores = layout
        first = _packages(packages[:1], replace(look, cores_in_a_row=cores), sockets)
        whole = flowed(first * len(packages), WIDTH, _GAP)
        low = max(whole.height, _LOW)
        return whole.width > WIDTH, low, -min(sockets, len(packages)), -cores, whole.height

    sockets, cores = min(product(_SOCKETS_IN_A_ROW, _CORES_IN_A_ROW), key=key)
    return flowed(_packages(packages, replace(look, cores_in_a_row=cores), sockets), WIDTH, _GAP)


def _packages(packages: Sequence[Package], look: _Look, in_a_row: int) -> list[Box]:
    limit = WIDTH // in_a_row - _GAP - 2 * _PAD
    return [
        _titled(
            package.label, "socket", [_node(node, look, limit) for node in package.nodes], limit
        )
        for package in packages
    ]


def _node(node: Node, look: _Look, limit: int) -> Box:
    inner = limit - 2 * _PAD
    inside = [flowed([_domain(domain, look, inner) for domain in node.domains], inner, _GAP)]
    if devices := look.devices.get(node.number, ()):
        inside.append(flowed([device_box(device) for device in devices], inner, _GAP))
    return _titled(node.label, "node", [stacked(inside, _GAP)], inner)


def _domain(domain: Domain, look: _Look, limit: int) -> Box:
    label = domain.label + (" (of several nodes)" if domain.across_nodes else "")
    cores = [_core(core, look) for core in domain.cores]
    row = look.cores_in_a_row * (max(core.width for core in cores) + _GAP)
    return _titled(label, "llc", cores, min(limit - 2 * _PAD, row))


def _core(pus: Sequence[PU], look: _Look) -> Box:
    if len(pus) == 1:
        return _pu(pus[0], look)
    inside = flowed([_pu(pu, look) for pu in pus], _PUS_IN_A_ROW * (_PU_WIDTH + 2), 2)
    return inside.framed("core", 2, 2, radius=3)


def _titled(label: str, kind: str, children: Sequence[Box], limit: int) -> Box:
    inside = flowed(children, limit, _GAP).at_least(round(len(label) * LETTER))
    return inside.framed(kind, _PAD, _HEAD, radius=5, head=label)


def _pu(pu: PU, look: _Look) -> Box:
    cpu, height = pu.os_index, look.pu_height
    threads = look.shown.threads.get(cpu, ())
    usable = cpu in look.usable
    kind = "pu" if usable else "pu closed"
    kind += " given" if cpu in look.shown.given else ""
    where = f"CPU {cpu}: core {pu.core}, LLC {pu.llc}, node {pu.node}, socket {pu.package}"
    doing = f"; {_threads_text(threads)}" if threads else "" if usable else "; may not be used"
    fill = look.colour.get(threads, "")

    def drawn(x: int, y: int) -> list[str]:
        middle = x + _PU_WIDTH // 2
        style = f' style="fill:{fill};stroke:{fill}"' if fill else ""
        rect = (
            f'<rect class="{kind}" x="{x}" y="{y}" width="{_PU_WIDTH}" height="{height}" '
            f'rx="3"{style}/>'
        )
        if not look.shown.threads:
            texts = f'<text class="middle" x="{middle}" y="{y + 15}">{cpu}</text>'
        else:
            ink = f' style="fill:{text_on(fill)}"' if fill else ""
            texts = f'<text class="small middle" x="{middle}" y="{y + 10}"{ink}>{cpu}</text>'
            if threads:
                texts += (
                    f'<text class="bold" x="{middle}" y="{y + 25}"{ink}>{_short(threads)}</text>'
                )
        return [f"<g><title>{where}{doing}</title>{rect}{texts}</g>"]

    return Box(_PU_WIDTH, height, drawn)


def _short(threads: Sequence[int]) -> str:
    text = "+".join(map(str, threads))
    if len(text) > 5:
        text = format_numbers(threads)
    return text if len(text) <= 5 else f"{len(threads)}×"


def _threads_text(threads: Sequence[int]) -> str:
    return f"thread{'s' if len(threads) > 1 else ''} {format_numbers(threads)}"


def _legend(look: _Look, width: int, *, closed: bool) -> list[str]:
    """Lines of swatches with their meaning."""
    entries: list[tuple[str, str, str]] = []
    if 0 < len(look.colour) <= _LEGEND_AT_MOST:
        entries = [("", fill, _threads_text(some)) for some, fill in look.colour.items()]
    elif look.colour:
        fill = next(iter(look.colour.values()))
        entries = [("", fill, "thread: small its CPU, large its number; threads differ in colour")]
    if look.shown.given:
        entries.append(("pu given", "", "CPU given to the run"))
    if look.shown.threads or look.shown.given:
        entries.append(("pu", "", "CPU without a thread"))
    if closed:
        entries.append(("pu closed", "", "CPU that may not be used"))
    lines: list[str] = []
    line, at = "", 0
    for kind, fill, text in entries:
        room = 18 + round(len(text) * LETTER) + 14
        if at and at + room > width:
            lines, line, at = [*lines, line], "", 0
        style = f' style="fill:{fill}"' if fill else ""
        line += (
            f'<rect class="{kind}" x="{at}" y="1" width="12" height="12" rx="2"{style}/>'
            f'<text x="{at + 17}" y="11">{text}</text>'
        )
        at += room
    return [*lines, line] if line else lines


def _plain_line(text: str) -> str:
    return f'<text x="0" y="11">{escape(text)}</text>'
