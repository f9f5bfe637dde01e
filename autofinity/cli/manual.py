"""Manual pages, a page a command, from the help of each: `man autofinity-train`.

    python -m autofinity.cli.manual LAUNCHER FOLDER

writes them into FOLDER when autofinity is built. LAUNCHER is the native program, whose own help
makes the page of `run`. Nothing but click has to be installed.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from textwrap import wrap

import click

from autofinity import __version__
from autofinity.cli.main import COMMANDS, SECTIONS, cli

_CODE = re.compile(r"`([^`]+)`")
_COLUMNS = 78
"""Columns of a line of a page's source."""
_VALUES = 22
"""Blanks before a value of an option in the help of `run`."""
_OPTIONS = re.compile(r"\A(?:More o|O)ptions:\n")
"""The heading of options in the help of `run`."""


def roff(text: str) -> str:
    """Text that means itself in a manual page, whatever it holds; `code` is bold."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    text = "".join(char if char.isascii() else f"\\[u{ord(char):04X}]" for char in text)
    return _CODE.sub(r"\\fB\1\\fP", text)


def _filled(text: str) -> Iterator[str]:
    """Lines of a paragraph. None begins with a character that asks for a macro."""
    joined = roff(" ".join(text.split()))
    for line in wrap(joined, _COLUMNS, break_long_words=False, break_on_hyphens=False):
        yield f"\\&{line}" if line.startswith((".", "'")) else line


def _title(name: str, line: str) -> Iterator[str]:
    seconds = int(os.environ.get("SOURCE_DATE_EPOCH", time.time()))
    date = time.strftime("%Y-%m-%d", time.gmtime(seconds))
    yield f'.TH {name.upper()} 1 {date} "autofinity {__version__}" "User Commands"'
    yield ".SH NAME"
    yield f"{roff(name)} \\- {roff(line[0].lower() + line[1:].rstrip('.'))}"


def _usage(words: str) -> Iterator[str]:
    command, *others = re.split(r" (?=[\[A-Z-])", words, maxsplit=1)
    yield ".SH SYNOPSIS"
    yield f".B {roff(command)}"
    yield from map(roff, others)


def _paragraphs(text: str) -> Iterator[str]:
    for number, paragraph in enumerate(re.split(r"\n\s*\n", text.strip())):
        if number:
            yield ".PP"
        yield from _filled(paragraph)


def _option(names: str, text: str) -> Iterator[str]:
    yield ".TP"
    words = (
        f"\\fB{roff(word)}\\fP{comma}"
        if word.startswith("-")
        else roff(word).replace("|", "|\\:") + comma  # a line may end after each |
        for word, comma in re.findall(r"(\S+?)(,?)(?:\s+|\Z)", names)
    )
    yield " ".join(words)
    yield from _filled(text)


def command_page(name: str, command: click.Command) -> str:
    """The page of a command of the command line."""
    whole = click.Context(cli, info_name="autofinity", **cli.context_settings)
    context = click.Context(command, info_name=name, parent=whole, **command.context_settings)
    records = [option.get_help_record(context) for option in command.get_params(context)]
    lines = [
        *_title(f"autofinity-{name}", COMMANDS[name]),
        *_usage(" ".join([f"autofinity {name}", *command.collect_usage_pieces(context)])),
        ".SH DESCRIPTION",
        *_paragraphs(command.help or ""),
        ".SH OPTIONS",
        *(line for record in records if record and record[1] for line in _option(*record)),
        *_see_also(),
    ]
    return "\n".join(lines) + "\n"


def run_page(text: str) -> str:
    """The page of `run`, from what `run --help-all` prints."""
    usage, about, *blocks = re.split(r"\n\n", text.strip())
    options = [block for block in blocks if _OPTIONS.match(block)]
    lines = [
        *_title("autofinity-run", COMMANDS["run"]),
        *_usage(usage.removeprefix("Usage: ")),
        ".SH DESCRIPTION",
        *_paragraphs(about),
        ".SH OPTIONS",
        *(line for block in options for line in _options_of_run(_OPTIONS.sub("", block))),
        ".SH NOTES",
        *_paragraphs("\n\n".join(block for block in blocks if block not in options)),
        *_see_also(),
    ]
    return "\n".join(lines) + "\n"


def _options_of_run(text: str) -> Iterator[str]:
    """Options as `run --help-all` has them: below each `  --NAME`, its values further in."""
    for option in re.split(r"\n(?=  -)", text):
        names, about = re.split(r"  +|\n", option.strip(), maxsplit=1)
        about, *values = re.split(rf"\n {{{_VALUES}}}(?=\S)", about)
        yield from _option(names, about)
        if values:
            yield ".RS"
            for value in values:
                yield from _option(*re.split("  +", value, maxsplit=1))
            yield ".RE"


def whole_page() -> str:
    """The page of autofinity itself: all commands, by what one wants to do."""
    lines = [
        *_title("autofinity", (cli.help or "").split("\n")[0]),
        *_usage("autofinity COMMAND [ARGUMENTS]..."),
        ".SH DESCRIPTION",
        *_paragraphs(cli.help or ""),
        ".SH COMMANDS",
    ]
    for title, commands in SECTIONS.items():
        lines.append(f".SS {roff(title)}")
        for name, line in commands.items():
            lines += [".TP", f".BR {roff(f'autofinity-{name}')} (1)", *_filled(line)]
    return "\n".join(lines) + "\n"


def _see_also() -> Iterator[str]:
    yield ".SH SEE ALSO"
    yield ".BR autofinity (1)"


def pages(launcher: Path) -> dict[str, str]:
    """All pages by their file names."""
    made = {"autofinity.1": whole_page()}
    context = click.Context(cli)
    for name in COMMANDS:
        if name == "run":  # a program that reads its own options
            told = subprocess.run(
                [launcher, "run", "--help-all"], check=True, capture_output=True, encoding="utf-8"
            )
            page = run_page(told.stdout)
        else:
            command = cli.get_command(context, name)
            assert command is not None
            page = command_page(name, command)
        made[f"autofinity-{name}.1"] = page
    return made


def main() -> None:
    """Write all pages."""
    launcher, folder = Path(sys.argv[1]), Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    for name, page in pages(launcher).items():
        (folder / name).write_text(page, encoding="ascii")


if __name__ == "__main__":
    main()
