"""Programs that start more threads than requested, recognised before they are run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from autofinity.profiling.campaign import ReadyProgram
from autofinity.reporter import SILENT, Reporter
from autofinity.sim.crew import crew_of
from autofinity.sim.spec import MachineSpec


def with_crew(
    spec: MachineSpec, program: ReadyProgram, reporter: Reporter = SILENT
) -> ReadyProgram:
    """The program, with the crew of a program that starts more threads than requested.

    Raises the errors of `crew_of`.
    """
    crew = crew_of(spec, Path(program.request.program), program.threads)
    if crew.computing == program.threads:
        return program
    how = f"{crew.at_a_time} of them at a time: they share {crew.room} cores"
    reporter.notice(
        f"{program.name} with {program.threads} threads: {crew.computing} compute, "
        + (how if crew.shares else "each on a core of its own")
    )
    return replace(
        program,
        computing=crew.computing,
        room=crew.room,
        origin=f"{program.origin} {crew.computing} {crew.room}",
    )
