"""The command line: a table of commands, loaded when used."""

from __future__ import annotations

import importlib

import click

from autofinity import __version__
from autofinity.cli.errors import reported

# Command → one line of help. Each lives in the module of its name, as `command`.
COMMANDS: dict[str, str] = {
    "train": "Learn a policy for a machine from a suite of programs.",
    "run": "Run a program under the policy.",
    "export": "Write a policy as a C header or in other tools' formats.",
    "explain": "Say which rule decides for a sample, with margins.",
    "show": "Print a policy so that a person can read it.",
    "evaluate": "Judge a policy on programs it has not seen.",
    "compare": "Run published mechanisms side by side on one simulated machine.",
    "coverage": "Which behaviours the programs show, and which add none.",
    "figure": "Draw a figure of the AutoFinity paper from our data.",
    "topology": "Draw a machine, and where threads would sit.",
    "affinities": "All affinities of a thread count, up to isomorphism.",
    "map": "Which thread should sit where, from who shares with whom.",
    "hints": "The best match of each hint.",
    "capture": "Run a suite's programs, or a binary, under capture and keep the traces.",
    "profile": "Measure programs under affinities and baselines, and keep observations.",
    "counters": "Choose the counters that tell most.",
    "bins": "Cut counters into bins.",
    "table": "Build the action table.",
    "rules": "Learn rules from an action table.",
    "simulate": "Replay one trace on a simulated machine in one affinity.",
    "detect": "Show who shares with whom in a captured program, and whose its pages are.",
    "machines": "List the machines that are known by name.",
    "record-machine": "Measure this machine and write a machine file of it.",
    "doctor": "Say what this machine can measure and bind, and how to get more.",
    "attach": "Watch and place a program that runs already.",
    "restore": "Give threads back the masks they had before they were bound.",
    "status": "What runs now, and the programs in the behaviour database.",
    "rebuild": "Learn the user's policy anew from what runs have shown.",
}


class _Lazy(click.Group):
    """Imports a command when it is asked for, so that `--help` and completion stay quick."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"autofinity.cli.{cmd_name.replace('-', '_')}")
        found = module.command
        assert isinstance(found, click.Command)
        found.name = cmd_name
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The table above, without importing any command."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.command(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="autofinity")
def cli() -> None:
    """Learn where a program's threads should sit on a NUMA machine, and put them there."""


def main() -> None:
    """Run the command line."""
    reported(lambda: cli.main(prog_name="autofinity", standalone_mode=False))
