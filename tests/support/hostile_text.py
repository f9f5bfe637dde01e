"""Texts with a meaning for a compiler, a database, a terminal or a page."""

from __future__ import annotations

from hypothesis import strategies as st

MEANING = (
    *("*/", "/*", "*\\", "\\*/", "//", "??/", "\\", "\\\n", "\\u0022", "#define x", "\n#"),
    *('"', "'", '"' * 3, "'" * 3, "`", ";", "--", "/", "*", "?", "%s", "{{ 7 }}", "{% raw %}"),
    *("$(id)", "|", "\\|", "<b>", "&lt;", "[a](b)", "![a](b)", "**", "_", "~~", "* ", "# "),
    *("$x^$", "[bold]", "[/]", ":smile:", "\x1b[2J", "\x1b]0;x\x07", "\x9b31m", "\x90", "\r"),
    *("\n", "\t", "\x7f", "\b", "\u2028", "\u202e", "\u200d", "\ufeff", "\x85", "\x0b"),
    *("é", "漢", "😀", "a", " ", "0"),
)
PWNED = (
    "x *\\ __attribute__((constructor)) static void pwned(void)"
    '{puts("PWNED: code from the policy runs");} \\*'
)


def texts(least: int = 1, *, any_code: bool = False) -> st.SearchStrategy[str]:
    """Up to six texts side by side; with `any_code` also NUL and halves of surrogate pairs."""
    apart = st.characters() if any_code else st.characters(codec="utf-8", exclude_characters="\0")
    no_text = ("\0", "\ud800", "\udcff") if any_code else ()
    part = st.sampled_from((*MEANING, *no_text)) | apart | st.just(PWNED)
    return st.lists(part, min_size=least, max_size=6).map("".join)
