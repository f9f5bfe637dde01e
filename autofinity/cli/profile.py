"""`autofinity profile`: measure programs under affinities and keep the observations."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Unpack

import click

from autofinity.cli.campaign import gather, observations_folder
from autofinity.cli.campaign_options import (
    CampaignOptions,
    campaign_options,
    wanted_of,
)
from autofinity.cli.json_option import json_option
from autofinity.model.errors import UsageError


@click.command("profile")
@campaign_options
@click.option("--threads", default="8", show_default=True, help="Thread counts, such as 4,8,16.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    default=None,
    help="Write all observations to one Parquet file as well.",
)
@click.option(
    "--pack",
    is_flag=True,
    help="Make that file small, for shipping: counters in single precision, hard compression.",
)
@json_option
def command(
    threads: str,
    output: Path | None,
    pack: bool,
    as_json: bool,
    **options: Unpack[CampaignOptions],
) -> None:
    """Measure programs under affinities and keep observations.

    Programs are captured once, then replayed in every selected affinity; every finished run is kept
    at once, and a second call continues where the first one stopped.
    """
    if pack and output is None:
        raise UsageError("--pack: expected -o as well, the file to pack the observations into")
    wanted = wanted_of(options, threads)
    table = gather(wanted)
    folder = observations_folder(wanted)
    if output is not None:
        from autofinity.store.observations import read, write_one

        write_one(table, output, packed=pack)
        table = read(output)  # packing rounds: what is said below is said of the file
    said = {
        "machine": wanted.machine,
        "programs": list(table.programs()),
        "observations": len(table),
        "digest": table.digest(),
        "folder": str(folder),
        "file": None if output is None else str(output),
    }
    if as_json:
        print(json.dumps(said))
    else:
        print(
            f"{len(table)} observations of {len(table.programs())} programs on {wanted.machine} "
            f"in {output or folder}"
        )
