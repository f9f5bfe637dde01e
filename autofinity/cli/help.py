"""Help in two lengths: `--help` shows common options, `--help-all` all options by subject."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from autofinity.cli.printer import say

# Subject → options, in the order in which `--help-all` lists both.
SUBJECTS = {
    subject: tuple(names.split())
    for subject, names in {
        "Program and input": (
            "--pid --from --suite --program --size --threads --curve --repeats --ranks --rank "
            "--roi --sampled --matrix --directed --last-first --observations --train-threads "
            "--sample --second --trial --start --after --restart --paper-seconds "
            "--faults-per-page"
        ),
        "Machine": (
            "--machine --latencies --page-size --available --near --name --quick --measure "
            "--sources --markdown --on"
        ),
        "Placement": (
            "--policy --hint --fallback --bind --mechanism --algorithm --as --affinity --cpus "
            "--affinities --placement --pages --migrate-pages --keep-pages "
            "--arm --restore"
        ),
        "Learning": (
            "--paper --metric --features --learner --k --counters --labels --selection "
            "--discretisation --bins --bin-number --condense --leeway --probe --other-counts "
            "--most-rules --folds --if-due --each-machine"
        ),
        "Measurement": (
            "--with --period --every --delay --once --seed --seeds --error --baselines --search "
            "--certify --estimate --jobs --work"
        ),
        "Result": (
            "--words --list --limit --runs --rows --all --format --prefix --output --pack --thin "
            "--html --svg --json --quiet --dry-run --explain --db --no-db --auto-rebuild "
            "--metrics --site --policies --to --init --read"
        ),
        "Help": "--help",
    }.items()
}
_ALL = "autofinity.help_all"


class Command(click.Command):
    """A command whose options `more`, such as `"--jobs --work"`, only `--help-all` describes."""

    def __init__(self, *arguments: Any, more: str = "", **how: Any) -> None:
        super().__init__(*arguments, **how)
        self.more = tuple(more.split())
        for param in self.params:
            number = isinstance(param.type, click.types.IntParamType)
            if number and isinstance(param, click.Option) and not param.is_flag:
                param.metavar = param.metavar or "N"

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """The options, with `--help-all`, which is described where that shows more."""
        return [*super().get_params(ctx), _help_all(self.more)]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The common options in the command's order; all of them by subject."""
        records = {
            param.opts[0] if param.opts[0].startswith("--") else param.opts[-1]: record
            for param in self.get_params(ctx)
            if isinstance(param, click.Option)
            and (record := param.get_help_record(ctx)) is not None
        }
        if not ctx.meta.get(_ALL):
            common = [record for name, record in records.items() if name not in self.more]
            with formatter.section("Options"):
                formatter.write_dl(common)
            return
        for subject, names in SUBJECTS.items():
            found = [records[name] for name in names if name in records]
            if found:
                with formatter.section(subject):
                    formatter.write_dl(found)


def _help_all(more: Sequence[str]) -> click.Option:
    def show(ctx: click.Context, option: click.Parameter, wanted: bool) -> None:
        if wanted and not ctx.resilient_parsing:
            ctx.meta[_ALL] = True
            say(ctx.get_help())
            ctx.exit()

    return click.Option(
        ["--help-all"],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=show,
        hidden=not more,
        help=f"Show all options, also {', '.join(more)}.",
    )
