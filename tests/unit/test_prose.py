"""`scripts/tools/prose.py` finds sentences that are no plain technical English, and no others."""

from __future__ import annotations

import pytest
from script_module import script_module

script_module("tools/prose_blocks.py")  # prose.py imports it by its name
prose = script_module("tools/prose.py")


def found(path: str, text: str) -> list[tuple[int, str]]:
    """Line and word of each finding, in the order of lines."""
    return sorted((finding.line, finding.word) for finding in prose.findings_of(path, text))


def words(text: str) -> list[str]:
    """The flaws of a document, in the order of lines."""
    return [word for _, word in found("a.md", text)]


@pytest.mark.parametrize(
    "text",
    [
        "What a run shows is kept.",
        "Of the page colours.",
        "A run ends. What a run shows is kept.",
        'A run ends ("too late"). Of its threads none is left.',
        "# What a run shows",
        "- **What a run shows** is kept.",
        "A run ends.\n\n*Of its threads* none is left.",
        "| name | What a run shows |\n|---|---|\n| a | b |",
        "| name | meaning |\n|---|---|\n| a | Of the page colours |",
        "Of what is a machine made?",
        "What is a hint?",
        "## What is a hint?\n\nA wish for cores.",
    ],
)
def test_a_sentence_that_begins_with_what_or_of_is_found(text: str) -> None:
    assert len(words(text)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "Which cores are near? A hint says what is wanted.",
        "One of the cores, and what a run shows.",
        "Whatever a run shows is kept. Often this is little.",
        "Lines of 64 bytes, e.g. of a cache.",
        "The script prints `What a run shows. Of it all.`.",
        "```\nWhat a run shows\n```",
        "<!-- What a run shows. -->",
    ],
)
def test_other_questions_code_and_the_middle_of_a_sentence_are_left_alone(text: str) -> None:
    assert words(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "where a core is, no file says",
        "Whether threads shared a core, the file does not say.",
        "A run ends. Where pages are no file says, so they stay.",
        "A run ends; on which nodes its pages are no tool knows.",
        "Whether a line was written in between\nno snapshot says.",
    ],
)
def test_a_sentence_that_begins_with_its_object_is_found(text: str) -> None:
    assert len(words(text)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "No file says where pages are. The file does not say whether threads shared a core.",
        "Whether the thread has the lock, as far as the runtime knows.",
        "Where the counter is missing, the file does not say why.",
        "Where one cache is allowed, no node is chosen.",
        "Whether it fits. The file does not say.",
        "Facts: what the file does not show, and how to measure it.",
    ],
)
def test_a_condition_and_an_object_after_its_verb_are_left_alone(text: str) -> None:
    assert words(text) == []


@pytest.mark.parametrize(
    "word",
    [
        *("give up", "gives up", "gave up", "given up", "giving up", "tell", "tells", "told"),
        *("draw", "draws", "drawn", "scatter", "scatters", "in vain", "anew", "foretold"),
        *("started again in the choice", "A run here decides by: faults"),
    ],
)
def test_each_word_of_the_list_is_found_in_each_of_its_forms(word: str) -> None:
    assert len(words(f"Cores that {word} lines.")) == 1
    assert len(words(word.capitalize())) == 1


def test_a_word_within_another_one_is_left_alone() -> None:
    assert words("Intelligent withdrawals, retelling, satellites and drawbacks.") == []


def test_the_words_are_found_across_the_end_of_a_line() -> None:
    assert found("a.md", "A line that another core\nmust give\nup is late.") == [(2, "give up")]


def test_pictures_are_drawn_and_memory_is_scattered() -> None:
    assert words("The command draws a chart. Notebooks draw machines.") == []
    assert words("A gather reads scattered elements.") == []
    assert words("The command draws a chart. The seed draws affinities.") == ["draws"]
    assert words("Reads go to scattered lines. The times scatter.") == ["scatter"]


def test_lines_between_the_marks_of_a_command_are_skipped_and_counted() -> None:
    table = "<!-- begin: make x -->\n| What |\n|---|\n| told |\n<!-- end: make x -->\n"
    assert found("a.md", f"{table}\nA run tells.\n") == [(7, "tells")]


def test_where_a_link_leads_is_no_sentence_and_the_words_of_the_link_are() -> None:
    assert words("See [the samples](model-draws.md).") == []
    assert words("See [the draws](model.md).") == ["draws"]


PROGRAM = '''"""What a module does."""

import random

draw = random.Random("What")  # told by nobody

HELP = {"seed": "Of the page colours.", "draw": "a"}
"""Of each option."""


def tell(told: str) -> str:
    """Say.

    The line
    of a run tells its time.
    """
    # A comment that begins
    # here gives up here.
    return f"{told} is drawn by {draw}, " f"in vain"
'''


def test_docstrings_comments_and_messages_of_a_program_are_read_and_names_are_not() -> None:
    assert found("autofinity/a.py", PROGRAM) == [
        *[(1, "What"), (5, "told"), (7, "Of"), (8, "Of"), (15, "tells"), (18, "gives up")],
        *[(19, "drawn"), (19, "in vain")],
    ]


NATIVE = r"""// What a run keeps,
// it tells.
#include "told.h"
static const char help[] =
    "Run a program. "
    "Of its threads\n"
    "none is left.";  // said in vain
/* The lines
 * are drawn. */
char quote = '"';
say("%s: the times scatter", told);
"""


def test_comments_and_messages_of_a_program_in_c_are_read_and_names_are_not() -> None:
    assert found("autofinity/native/a.c", NATIVE) == [
        *[(1, "What"), (2, "tells"), (5, "Of"), (7, "in vain"), (9, "drawn"), (11, "scatter")],
    ]
    assert found("autofinity/native/a.hpp", NATIVE) == found("autofinity/native/a.c", NATIVE)


SCRIPT = """#!/bin/sh
# What a script does,
# it tells.
told=${1#drawn} # drawn by it
echo "A run tells
its time." 'Times scatter.'
cat <<END
It isn't so: cores give up.
END
"""
SAID = [(6, "scatter"), (8, "give up")]
SETTINGS = """# What a machine has.
told = "drawn" # in vain
name = "Of the page colours."
path = 'What a name'
note = \"\"\"
A line tells its time.
\"\"\"
"""
TEMPLATE = """{% if told %}
/* What a header has. */
{% endif %}
"""
PAGE = """<p class="told">{{ told }}</p>
<p>What a page <b>tells</b></p>
"""
NOTEBOOK = """{
 "cells": [
  {"cell_type": "markdown", "source": []},
  {"cell_type": "markdown",
   "source": [
    "# A notebook\\n",
    "It tells."
   ]
  },
  {"cell_type": "code", "source": [
    "scatter = 1  # drawn by it\\n",
    "show(f\\"Times scatter {scatter}\\")"
   ],
   "outputs": ["What a run prints."]
  }
 ]
}
"""


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        *[
            (path, SCRIPT, [(2, "What"), (3, "tells"), (4, "drawn"), (5, "tells"), *SAID])
            for path in ("scripts/check", "scripts/tools/removed_at_end.sh")
        ],
        *[
            (path, SETTINGS, [(1, "What"), (2, "in vain"), (3, "Of"), (4, "What"), (6, "tells")])
            for path in ("pyproject.toml", "data/a.toml")
        ],
        (
            "Makefile",
            "# What is made.\nall: ## Tell all\n\techo told\n",
            [(1, "What"), (2, "Tell")],
        ),
        ("packaging/rules", "#!/usr/bin/make -f\n# What is made.\n", [(2, "What")]),
        ("a/CMakeLists.txt", "# A mark\n# that tells.\nset(drawn 1)\n", [(2, "tells")]),
        ("a/found.cmake", 'message("A core tells")\n', [(1, "tells")]),
        ("packaging/Containerfile", "# What it has.\nRUN tell it\n", [(1, "What")]),
        (".dockerignore", "# What it leaves out\n*\n!told\n", [(1, "What")]),
        ("recipe.yaml", "# What it needs\ntold: drawn\n", [(1, "What")]),
        ("a.pyi", 'def draw() -> None:\n    """What it does."""\n', [(2, "What")]),
        ("page.js", "// What it does\nconst told = 1;\n", [(1, "What")]),
        ("page.css", "/* What it styles */\n.told { color: red }\n", [(1, "What")]),
        ("policy.h.j2", TEMPLATE, [(2, "What")]),
        ("page.html.j2", PAGE, [(2, "What"), (2, "tells")]),
        ("commands.rst", "Commands\n########\n\nA run ``tells`` and tells.\n", [(4, "tells")]),
        ("a.ipynb", NOTEBOOK, [(7, "tells"), (11, "drawn"), (12, "scatter")]),
        ("data/a.csv", "What,told\n", []),
        ("LICENSE", "What is told in vain.\n", []),
    ],
)
def test_texts_of_every_kind_of_file_are_read_and_its_code_is_not(
    path: str, text: str, expected: list[tuple[int, str]]
) -> None:
    assert found(path, text) == expected


def test_file_names_are_no_words() -> None:
    assert words("See docs/model-draws.md and [model-draws.md](model-draws.md).") == []


def test_programs_of_suites_and_the_lists_own_file_are_left_out() -> None:
    out = ["training/pic/pic.c", "kernels/gups.c", "solvers/ssor.c", "scripts/tools/prose.py"]
    assert all(prose.NOT_OURS.fullmatch(path) for path in out)
    held = ["training/README.md", "solvers/README.md", "scripts/tools/soak.py", "README.md"]
    assert not any(prose.NOT_OURS.fullmatch(path) for path in held)


def test_strings_of_tests_are_data() -> None:
    kinds = {f.kind for f in prose.findings_of("tests/unit/test_a.py", PROGRAM)}
    assert kinds == {"docstring", "comment"}


def test_the_sentence_is_shown_in_one_line() -> None:
    (flaw,) = prose.findings_of("a.md", "A run ends. A look\n  tells `why`. Then it starts.")
    assert flaw.sentence == "A look tells ``."


def test_texts_that_are_not_yet_held_are_given_by_kind_and_folder(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(prose, "NOT_YET", (("comment", "scripts/"), ("document", "")))
    assert not prose.held("comment", "scripts/a.py")
    assert not prose.held("document", "README.md")
    assert prose.held("docstring", "scripts/a.py") and prose.held("comment", "tests/a.py")
