r"""Text that others wrote (file names, keys, counters, what a compiler said) made safe to show.

Characters that a terminal would obey, and those that hide or reorder other text, are written as
escapes, as `repr` does: ESC is `\x1b`, a bidirectional override `\u202e`, a byte that is no UTF-8
`\xff`.
"""

from __future__ import annotations

_UNDECODED = range(0xDC80, 0xDD00)
"""Python's code points for bytes that are no UTF-8 (`surrogateescape`)."""


def one_line(text: str) -> str:
    r"""The text without anything unprintable; a newline is `\n`."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else _escape(char) for char in text)


def printable(text: str) -> str:
    """The text as from `one_line`, except that newlines and tabs stay: for lines of our own
    layout.
    """
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() or char in "\n\t" else _escape(char) for char in text)


def _escape(char: str) -> str:
    code = ord(char)
    if code in _UNDECODED:
        return f"\\x{code - 0xDC00:02x}"
    return ascii(char)[1:-1]
