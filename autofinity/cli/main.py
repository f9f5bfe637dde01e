"""The command line: a table of commands, loaded when used."""

from __future__ import annotations

import difflib
import importlib

import click

from autofinity import __version__
from autofinity.cli.errors import ReaderGoneError, reported
from autofinity.cli.interruption import Interruption
from autofinity.cli.removed import refusal
from autofinity.cli.renamed import in_present_words

_STEPS = "The steps of train, one by one"
# Command → one line of help, by what one wants to do, of 60 letters at most: a line of `--help` in
# 80 columns. Each lives in the module of its name, as `command`.
SECTIONS: dict[str, dict[str, str]] = {
    "Place programs on this machine": {
        "run": "Run a program under the policy.",
        "attach": "Watch and place a running program.",
        "restore": "Restore the CPU masks that threads had before binding.",
        "top": "Show live runs, refreshed each second.",
        "status": "List running programs, known programs and the latest runs.",
        "explain": "Explain the decision for a run or a sample: rule, margins.",
        "advise": "Recommend placement, memory policy, threads; bind nothing.",
        "detect": "Show which threads share data, and which use which pages.",
        "doctor": "Report what this machine can measure, and what it lacks.",
    },
    "Learn and judge policies": {
        "train": "Learn a policy for a machine from a suite of programs.",
        "evaluate": "Judge a policy on programs it has not seen.",
        "show": "Print a policy in readable form.",
        "export": "Write a policy as a C header or in other tools' formats.",
        "rebuild": "Retrain the user's policy from recorded runs.",
        "push": "Send recorded runs of this host to the site's database.",
        "site": "Show or make a site's database of runs.",
    },
    "Machines, hints and mappings": {
        "topology": "Show a machine, and where threads would be placed.",
        "hints": "List the hints, and where threads would be placed.",
        "affinities": "List all affinities of a thread count, up to isomorphism.",
        "map": "Map threads to CPUs by the data that they share.",
        "machines": "List the machines that can be simulated by name.",
        "record-machine": "Measure this machine and write its machine file.",
    },
    "Study on simulated machines": {
        "compare": "Run published mechanisms side by side on one machine.",
        "figure": "Draw a figure of the papers from our data.",
        "simulate": "Replay traces on a simulated machine in one affinity.",
        "coverage": "List behaviours of programs, and programs that add none.",
    },
    _STEPS: {
        "capture": "Record the memory accesses of programs as traces.",
        "profile": "Measure programs in many affinities; keep observations.",
        "counters": "Choose the most informative counters.",
        "bins": "Cut counters into bins.",
        "table": "Build the action table.",
        "rules": "Learn rules from an action table.",
    },
}
_ALL = "autofinity.every_option"
COMMANDS = {name: line for section in SECTIONS.values() for name, line in section.items()}


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

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does, and with the name that a mistyped one is nearest to."""
        near = difflib.get_close_matches(args[0], COMMANDS, n=1)
        if near and args[0] not in COMMANDS and not ctx.resilient_parsing:
            ctx.fail(f"no command {args[0]!r}; did you mean {near[0]!r}?")
        name, command, words = super().resolve_command(ctx, args)
        return name, command, in_present_words(name or "", words)

    def invoke(self, ctx: click.Context) -> object:
        """As click does, but for options that are gone and a reader that is."""
        try:
            return super().invoke(ctx)
        except click.NoSuchOption as error:
            raise refusal(error) from None
        except BrokenPipeError as error:
            raise ReaderGoneError from error

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The table above, without importing any command; with `--help-all`, the options, too.

        The steps of train are one line of names, so that all fits on a screen.
        """
        if ctx.meta.get(_ALL):
            from autofinity.cli.help_of_all import write_commands

            write_commands(ctx, formatter, SECTIONS)
            return
        width = max(map(len, COMMANDS))
        for title, commands in SECTIONS.items():
            with formatter.section(title):
                if title == _STEPS:
                    formatter.write_text(", ".join(commands))
                else:
                    rows = [(name.ljust(width), line) for name, line in commands.items()]
                    formatter.write_dl(rows)


def _show_all(ctx: click.Context, option: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        from autofinity.cli.printer import say

        ctx.meta[_ALL] = True
        say(ctx.get_help())
        ctx.exit()


@click.command(
    cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.version_option(__version__, prog_name="autofinity")
@click.option(
    "--help-all",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_all,
    help="Show every command with its options, by subject.",
)
def cli() -> None:
    """Learn where threads should sit on a NUMA machine, and put them there."""


def main() -> None:
    """Run the command line."""
    interruption = Interruption()
    reported(
        lambda: cli.main(prog_name="autofinity", standalone_mode=False, obj=interruption),
        interruption,
    )
