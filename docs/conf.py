"""The site of `make docs`: every Markdown file of the project where it lies, and the commands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from autofinity.cli.main import COMMANDS

ROOT = Path(__file__).resolve().parents[1]
MADE = "build/reference/commands"
"""Folder of the pages that are made here, a page a command."""

project = "autofinity"
author = "the autofinity founders"
extensions = ["myst_parser", "sphinx_click", "sphinx.ext.autodoc"]
root_doc = "docs/index"
include_patterns = [
    "*.md",
    "docs/**.md",
    "docs/**.rst",
    f"{MADE}/*.rst",
    "policies/README.md",
    "training/README.md",
    "kernels/README.md",
    "solvers/README.md",
]
myst_heading_anchors = 4
# Names in single backticks of docstrings are code.
default_role = "code"
# Two hyphens begin an option, and are no dash.
smartquotes = False
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_member_order = "bysource"
html_theme = "furo"
html_title = "autofinity"
html_static_path = ["_static"]
html_css_files = ["wide.css"]
man_pages = [("docs/commands", "autofinity", "where threads should sit", author, 1)]


def _command_page(name: str) -> str:
    title = f"autofinity {name}"
    if name == "run":  # a program that reads its own options
        return (
            f"{title}\n{'=' * len(title)}\n\n"
            "Run a program under a policy. The launcher is a separate program with its own "
            "options.\n\n"
            ".. literalinclude:: /build/docs/run-help.txt\n   :language: none\n"
        )
    return (
        f".. click:: autofinity.cli.{name.replace('-', '_')}:command\n"
        f"   :prog: {title}\n   :nested: full\n"
    )


def _write_command_pages(app: Any) -> None:
    """Write the pages, and only those that change: Sphinx reads changed files again."""
    folder = ROOT / MADE
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.glob("*.rst"):
        if path.stem not in COMMANDS:
            path.unlink()
    for name in COMMANDS:
        path, text = folder / f"{name}.rst", _command_page(name)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def setup(app: Any) -> None:
    """Make the generated pages before Sphinx looks for its sources."""
    app.connect("builder-inited", _write_command_pages)
