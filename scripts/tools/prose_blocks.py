"""Take files apart into blocks of text: documents, docstrings, comments and messages.

The name of a file says how its texts are found; of a file without a suffix, its `#!` line does.
Code, names in backticks, and what stands between the marks of a command, are left out.
"""

from __future__ import annotations

import ast
import io
import json
import re
import tokenize
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import PurePosixPath


@dataclass(frozen=True)
class Block:
    """A stretch of text that ends the sentences in it: a paragraph, an item, a cell, a message."""

    kind: str
    """document, docstring, comment or message."""
    line: int
    """Number in the file, counted from 1."""
    text: str


_COMMAND = re.compile(r"<!-- begin: (.*?) -->.*?<!-- end: \1 -->", re.DOTALL)
_NO_SENTENCE = re.compile(
    r"^ *(`{3,}).*?^ *\1 *$"  # a block of code
    r"|<!--.*?-->"
    r"|``.*?``|`[^`]*`"
    r"|(?<=\])\([^)\s]*\)"  # where a link leads
    r"|[\w/-]+\.(?:md|py|toml)\b",
    re.DOTALL | re.MULTILINE,
)
_BORDER = re.compile(
    r"(?:^|\n)[ \t]*(?=\n|\Z)"  # an empty line
    r"|(?:^|\n)[ \t]*(?:[-*+]|\d+\.|#+|>)[ \t]+"  # an item, a heading
    r"|[ \t]*\|[ \t]*(?:\n[ \t]*\|[ \t]*)?"  # a cell
)


def of_markdown(text: str, kind: str = "document", line: int = 1) -> Iterator[Block]:
    """The blocks of a document, or of another text that begins in a line."""
    text = _COMMAND.sub(lambda found: "\n" * found[0].count("\n"), text)
    text = _NO_SENTENCE.sub(lambda found: "`" + "\n" * found[0].count("\n") + "`", text)
    at = 0
    for border in (*_BORDER.finditer(text), None):
        end = border.start() if border else len(text)
        if text[at:end].strip():
            yield Block(kind, line + text.count("\n", 0, at), text[at:end])
        at = border.end() if border else end


_WORDS_OF_PROSE = re.compile(r"[A-Za-z]{2,}[,:;.]? +\S*[A-Za-z]{2,}|\b(?:Of|What) ")


def _messages(text: str, line: int, kind: str = "message") -> Iterator[Block]:
    """The blocks of a string of a program, where it has two words or more."""
    if _WORDS_OF_PROSE.search(text):
        yield from of_markdown(text, kind, line)


@dataclass(frozen=True)
class _Comment:
    first: int
    last: int
    """Lines of the file."""
    alone: bool
    """Nothing stands before it in its line."""
    text: str


def _comments(found: Iterable[_Comment]) -> Iterator[Block]:
    """Comments in lines that follow each other are one text."""
    texts: list[_Comment] = []
    for comment in (*found, None):
        if texts and not (comment and comment.alone and comment.first == texts[-1].last + 1):
            text = "\n".join(part.text for part in texts)
            yield from of_markdown(text, "comment", texts[0].first)
            texts = []
        if comment:
            texts.append(comment)


def of_python(source: str) -> Iterator[Block]:
    """The docstrings, comments and messages of a program."""
    tree = ast.parse(source)
    docstrings = {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    parts = {
        part
        for node in ast.walk(tree)
        if isinstance(node, ast.JoinedStr)
        for part in node.values
        if isinstance(part, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            text = "".join(
                str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values
            )
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in parts:
            text = node.value
        else:
            continue
        yield from _messages(text, node.lineno, "docstring" if node in docstrings else "message")
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    yield from _comments(
        _Comment(
            token.start[0],
            token.end[0],
            not token.line[: token.start[1]].strip(),
            token.string.lstrip("#").removeprefix(" "),
        )
        for token in tokens
        if token.type == tokenize.COMMENT
    )


_OF_C = re.compile(
    r"(?P<comment>//[^\n]*|/\*.*?\*/)"
    r"|\"(?P<text>(?:\\.|[^\"\\\n])*(?:\"\s*\"(?:\\.|[^\"\\\n])*)*)\""  # literals that meet
    r"|'(?:\\.|[^'\\\n])*'",
    re.DOTALL,
)
_OF_HASH = re.compile(
    r"(?:^|(?<=\s))(?P<comment>\#(?!!)[^\n]*)"
    r"|<<(?P<word>\w+)\n(?P<here>.*?)^(?P=word)$"
    r"|\"\"\"(?P<long>.*?)\"\"\""
    r"|\"(?P<text>(?:\\.|[^\"\\])*)\""
    r"|'(?P<plain>[^'\n]*)'",
    re.DOTALL | re.MULTILINE,
)
_MARK = re.compile(r"(?m)^[ /*!#]+|\*+/$")
"""Begin of each line of a comment, and end of a comment."""


def _of_tokens(token: re.Pattern[str], source: str) -> Iterator[Block]:
    """The comments and messages of a program: the group `comment` of a pattern, and the others."""
    comments: list[_Comment] = []
    for found in token.finditer(source):
        if not found.lastgroup:
            continue
        line = source.count("\n", 0, found.start(found.lastgroup)) + 1
        if found["comment"]:
            before = source[source.rfind("\n", 0, found.start()) + 1 : found.start()]
            last, text = line + found[0].count("\n"), _MARK.sub("", found[0])
            comments.append(_Comment(line, last, not before.strip(), text))
        else:
            text = re.sub(r"\"\s*\"", "", found[found.lastgroup]).replace(r"\n", " ")
            yield from _messages(text, line)
    yield from _comments(comments)


def of_c(source: str) -> Iterator[Block]:
    """The comments and messages of a program in C, C++ or JavaScript, or of a style sheet."""
    return _of_tokens(_OF_C, source)


def of_hash(source: str) -> Iterator[Block]:
    """The comments and messages of a file whose comments begin with `#`: a script, settings."""
    return _of_tokens(_OF_HASH, source)


def of_page(source: str) -> Iterator[Block]:
    """The texts between the tags of a page."""
    skip = re.compile(r"\{%.*?%\}|\{\{.*?\}\}|<[^>]*>", re.DOTALL)
    return of_markdown(skip.sub(lambda found: "\n" * found[0].count("\n") + "|", source))


def of_notebook(source: str) -> Iterator[Block]:
    """The texts of a notebook's cells, and the comments and messages of their code."""
    at = 0
    for cell in json.loads(source)["cells"]:
        lines: list[str] = cell["source"]
        if not lines:
            continue
        at = source.index(json.dumps(lines[0], ensure_ascii=False), at)
        before = source.count("\n", 0, at)  # each line of a cell has a line of the file
        read = of_markdown if cell["cell_type"] == "markdown" else of_python
        for block in read("".join(lines)):
            yield replace(block, line=before + block.line)


_READERS: dict[str, Callable[[str], Iterator[Block]]] = {
    **dict.fromkeys((".md", ".rst"), of_markdown),
    **dict.fromkeys((".py", ".pyi"), of_python),
    **dict.fromkeys((".c", ".h", ".cpp", ".hpp", ".js", ".css"), of_c),
    **dict.fromkeys((".sh", ".toml", ".yaml", ".cmake", "CMakeLists.txt"), of_hash),
    **dict.fromkeys(("Makefile", "Containerfile"), of_hash),
    **dict.fromkeys((".dockerignore", ".gitignore", ".clang-format"), of_hash),
    ".html": of_page,
    ".ipynb": of_notebook,
}
_OF_SCRIPT = re.compile(r"#!.*\b(?:sh|make)\b")


def blocks(path: str, text: str) -> Iterator[Block]:
    """The blocks of a file; none where nothing is known of its kind."""
    name = PurePosixPath(path.removesuffix(".j2"))
    read = _READERS.get(name.name) or _READERS.get(name.suffix)
    if not read and _OF_SCRIPT.match(text):
        read = of_hash
    return read(text) if read else iter(())
