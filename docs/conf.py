"""The site of `make docs`: every Markdown file of the project where it lies, and the commands."""

project = "autofinity"
author = "the autofinity founders"
extensions = ["myst_parser", "sphinx_click"]
root_doc = "docs/index"
include_patterns = [
    "*.md",
    "docs/*.md",
    "docs/commands.rst",
    "policies/README.md",
    "training/README.md",
    "kernels/README.md",
    "solvers/README.md",
]
# Links to folders; tests/unit/test_documents.py follows every link.
suppress_warnings = ["myst.xref_missing"]
myst_heading_anchors = 3
html_theme = "furo"
html_title = "autofinity"
man_pages = [("docs/commands", "autofinity", "where threads should sit", author, 1)]
