"""The tables of a machine file → `MachineSpec`: parts that depend on several tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated

from pydantic import Field

from autofinity.checked_file import Table, WrongValueError, checked
from autofinity.model.cpu import Cpu
from autofinity.model.topology import Topology
from autofinity.sim.distances import Matrix, between_llcs, by_hops, by_slit, slit_ranks
from autofinity.sim.machine_file import AlikeCores, Bandwidths, HybridCores, MachineFile
from autofinity.sim.preset_topology import Block, PlacedCores, read_topology, with_caches
from autofinity.sim.routes import UnconnectedError, direct_links, routes_over
from autofinity.sim.spec import BandwidthSpec, CoreClassSpec, LinkSpec, MachineSpec


class Identity(Table):
    """Identity of a machine in its file."""

    name: str
    model: str
    cpu: tuple[str, int, int] | None = None
    """Vendor, family and model, as in /proc/cpuinfo."""
    cpu_models: tuple[Annotated[str, Field(min_length=1, pattern=r"^\S+( \S+)*$")], ...] = ()
    """The kernel's names of the CPUs of such machines, or beginnings of these names
    (docs/machines.md)."""


OF_ITS_OWN = tuple(Identity.model_fields)
"""Keys of a file that its topology and numbers do not depend on."""


def whole_machine(document: Mapping[str, object]) -> MachineSpec:
    """The machine of a complete file. Raises `WrongValueError`, which names the key."""
    identity = identity_of(document)
    left_aside = (*OF_ITS_OWN, "topology")
    file = read_tables({key: table for key, table in document.items() if key not in left_aside})
    if "topology" not in document:
        raise WrongValueError("topology", "missing; expected a table")
    classes = core_classes(file)
    placed = read_topology(document["topology"], identity.name, identity.model, blocks(file))
    topology = with_caches(placed.topology, classes[0], file.llc.spec())
    spec = assembled(file, replace(placed, topology=topology), classes)
    return replace(spec, cpu=None if identity.cpu is None else Cpu(*identity.cpu))


def identity_of(document: Mapping[str, object]) -> Identity:
    """Identity of the machine in a file. Raises `WrongValueError`, which names the key."""
    return checked(Identity, {key: document[key] for key in OF_ITS_OWN if key in document})


def read_tables(document: Mapping[str, object]) -> AlikeCores | HybridCores:
    """All tables of a file except its name, model and topology. Raises `WrongValueError`."""
    if "core_class" in document:
        return checked(HybridCores, document)
    return checked(AlikeCores, document)


def core_classes(file: AlikeCores | HybridCores) -> tuple[CoreClassSpec, ...]:
    """The kinds of cores, fastest first."""
    if isinstance(file, AlikeCores):
        return (file.spec("all"),)
    return tuple(cores.spec(cores.name) for cores in file.core_class)


def blocks(file: AlikeCores | HybridCores) -> tuple[Block, ...]:
    """Number of cores of each kind in an LLC domain; with one kind `[topology]` has the number."""
    if isinstance(file, AlikeCores):
        return ()
    return tuple(
        (number, cores.cores_per_llc, cores.pus_per_core)
        for number, cores in enumerate(file.core_class)
    )


def assembled(
    file: MachineFile,
    placed: PlacedCores,
    classes: tuple[CoreClassSpec, ...],
    *,
    classes_by_rank: bool = False,
) -> MachineSpec:
    """The machine of `placed` cores with the values of the rest of the file.

    `classes_by_rank`: where the file has neither links nor thresholds, every further value of the
    SLIT is another distance class (`slit_ranks`), as far as there are latencies. Raises
    `WrongValueError`.
    """
    topology = placed.topology
    latency = file.latency.spec()
    further_from: Sequence[int] = file.latency.further_from
    if classes_by_rank and not further_from:
        further_from = slit_ranks(topology, len(latency.dram))
    within = file.latency.further_in_package
    if file.llc.by_home and not topology.has_an_llc_each_node:
        raise WrongValueError(
            "llc.by_home", "got true, but a node has several LLC domains; expected one a node"
        )
    if file.llc.by_home and file.coherence.protocol != "mesi":
        raise WrongValueError("llc.by_home", "got true with moesi; expected false, or mesi")
    bandwidth, node_distance = _bandwidth(file.bandwidth, topology, further_from, within)
    llc_distance = between_llcs(topology, node_distance)
    furthest = max(max(map(max, matrix)) for matrix in (node_distance, llc_distance))
    if furthest >= len(latency.dram):
        raise WrongValueError(
            "latency.dram",
            f"got {len(latency.dram)} values; the furthest nodes are of distance class {furthest}, "
            f"so {furthest + 1} are expected",
        )
    return MachineSpec(
        name=topology.name,
        model=topology.model,
        topology=topology,
        core_classes=classes,
        class_of_core=placed.class_of_core,
        protocol=file.coherence.protocol,
        clean_forwarding=file.coherence.clean_forwarding,
        llc=file.llc.spec(),
        llc_by_home=file.llc.by_home,
        latency=latency,
        node_distance=node_distance,
        llc_distance=llc_distance,
        bandwidth=bandwidth,
        system=file.system,
        pmu_counters=file.pmu.counters,
        energy=file.energy,
        page_bytes=file.page_bytes,
        directory=file.coherence.directory,
    )


def _bandwidth(
    read: Bandwidths, topology: Topology, further_from: Sequence[int], within: Sequence[int]
) -> tuple[BandwidthSpec, Matrix]:
    """Bandwidths, and the distance classes between nodes, which need the links to count hops."""
    nodes = topology.n_nodes
    memory_gbs = read.memory_gbs
    if not isinstance(memory_gbs, tuple):
        memory_gbs = (memory_gbs,) * nodes
    if len(memory_gbs) != nodes:
        raise WrongValueError(
            "bandwidth.memory_gbs",
            f"got a list of {len(memory_gbs)}, expected a number, or a list of {nodes}",
        )
    distance = by_slit(topology, further_from, within)
    if read.links is not None:
        links = tuple(_link(row, nodes) for row in read.links)
        try:
            routes = routes_over(nodes, links)
        except UnconnectedError as error:
            raise WrongValueError("bandwidth.links", str(error)) from None
        if not further_from:
            distance = by_hops(topology, routes, within)
    else:
        gbs = read.link_gbs or ()
        furthest = max(map(max, distance))
        if furthest >= len(gbs):
            raise WrongValueError(
                "bandwidth.link_gbs", f"got {len(gbs)} values, expected {furthest + 1}"
            )
        links, routes = direct_links(distance, gbs)
    spec = BandwidthSpec(
        memory_gbs=memory_gbs,
        links=links,
        routes=routes,
        fabric_gbs=read.fabric_gbs,
        fabric_write_gbs=read.fabric_write_gbs,
        llc_gbs=read.llc_gbs,
    )
    return spec, distance


def _link(row: tuple[int, int, float], nodes: int) -> LinkSpec:
    a, b, _ = row
    if max(a, b) >= nodes or a == b:
        raise WrongValueError(
            "bandwidth.links", f"got {list(row)}, expected two of the {nodes} nodes and GB/s"
        )
    return LinkSpec(*row)
