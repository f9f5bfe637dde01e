"""`autofinity machines`: the machines that are known by name."""

from __future__ import annotations

import json

import click

from autofinity.cli.json_option import json_option


@click.command()
@json_option
def command(as_json: bool) -> None:
    """The machines that can be simulated by name.

    Each is a file in `data/machines` in which every number has its source.
    """
    from autofinity.sim.preset import load_preset, preset_names

    specs = [load_preset(name) for name in preset_names()]
    if as_json:
        document = {
            "machines": [
                {
                    "name": spec.name,
                    "model": spec.model,
                    "ghz": spec.ghz,
                    "packages": spec.topology.n_packages,
                    "nodes": spec.topology.n_nodes,
                    "llcs": spec.topology.n_llcs,
                    "cores": spec.topology.n_cores,
                    "pus": len(spec.topology.pus),
                    "llc_bytes": spec.llc.size_bytes,
                    "dram_local_ns": spec.latency.dram[0],
                    "memory_gbs_per_node": spec.bandwidth.memory_gbs[0],
                    "pmu_counters": spec.pmu_counters,
                }
                for spec in specs
            ]
        }
        click.echo(json.dumps(document))
        return

    from rich.console import Console
    from rich.table import Table

    table = Table()
    for heading in ("name", "model", "sockets", "nodes", "LLCs", "cores", "PUs", "GHz"):
        table.add_column(heading, overflow="fold")
    for spec in specs:
        topology = spec.topology
        numbers = (
            topology.n_packages,
            topology.n_nodes,
            topology.n_llcs,
            topology.n_cores,
            len(topology.pus),
        )
        table.add_row(spec.name, spec.model, *map(str, numbers), f"{spec.ghz:g}")
    Console(highlight=False).print(table)
