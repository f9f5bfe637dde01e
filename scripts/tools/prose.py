"""Find sentences that are no plain technical English.

    python scripts/tools/prose.py [--all] [--count] [FILE…]

Reads the markdown, Python, C and C++ files of the repository, or FILEs: documents, docstrings,
comments, and messages (string constants of two words or more, outside tests). Skips code, names in
backticks, and what stands between the marks of a command. Prints a line for each finding and exits
with 1 if there are any. `NOT_YET` lists the texts that are not held; --all holds these too, --count
prints the number of findings by kind of text and folder.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import subprocess
import sys
import tokenize
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parents[2]

NOT_YET: tuple[tuple[str, str], ...] = ()
"""Kinds of text that are not held, and where: the begin of the paths."""


NOT_OURS = re.compile(r"scripts/tools/prose\.py|(?:training|kernels|solvers)/.*(?<!\.md)")
"""This file names the words. Programs of suites keep styles of their own."""


@dataclass(frozen=True)
class Word:
    """A word of which the field has a better one."""

    pattern: str
    say: str
    unless: str | None = None
    """Where the sentence matches this, the word is a term."""


PICTURES = (
    "chart|figure|picture|plot|svg|notebook|diagram|matrix|matrices|heat map|axis|axes|bars|boxes"
)
"""Pictures are drawn. Cores, seeds, samples and affinities are chosen."""
MEMORY = "access|address|allocat|element|index|line|load|memory|page|read|stor|write"
"""Accesses are scattered. Measured values have noise."""

WORDS = (
    Word(r"g(?:ive|ives|ave|iven|iving) up", "evict, release, stop, fail"),
    Word(r"tells?|told|telling|untold", "show, report, notify, distinguish, say"),
    Word(r"draws?|drew|drawn|drawing", "choose at random, sample", unless=PICTURES),
    Word(r"scatters?|scattering", "noise, spread, vary", unless="gather"),
    Word(r"scattered", "noise, spread, vary", unless=MEMORY),
    Word(r"in vain", "without result, no source found"),
    Word(r"anew|afresh", "again, retrain, rebuild"),
    Word(r"foretells?|foretold|foretelling", "predict"),
    Word(r"in the choice", "with the chosen placement"),
    Word(r"decides? by:", "counters, evidence"),
    Word(r"the ones? (?:that|which)|that one(?=[.,;:)]|\Z| (?:is|was|has|had))", "repeat the noun"),
    Word(r"teach(?:es)? nothing", "show no difference"),
    Word(r"nobody knows", "is not known"),
)
_WORDS = [
    (re.compile(rf"\b(?:{word.pattern})(?!\w)".replace(" ", r"\s+"), re.IGNORECASE), word)
    for word in WORDS
]

_BEGIN = re.compile(r"(?:\A|(?<=[.!?])[\"')\]*_”]*\s)[\s*_\"'(“\[]*(What|Of)\b")
_END = re.compile(r"[.!?](?=[\"')\]*_”]*(?:\s|\Z))")
BEGINNINGS = {
    "What": "begin with a verb or the thing, as in 'Show a run' or 'The rows that'",
    "Of": "begin with a verb or the thing, as in 'Random seed for'",
}


@dataclass(frozen=True)
class Block:
    """A stretch of text that ends the sentences in it: a paragraph, an item, a cell, a message."""

    kind: str
    """document, docstring, comment or message."""
    line: int
    """Of the file, counted from 1."""
    text: str


@dataclass(frozen=True)
class Finding:
    """A word or a beginning that is not plain."""

    kind: str
    line: int
    word: str
    say: str
    sentence: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.word!r}: {self.say}: {self.sentence}"


def findings(block: Block) -> Iterator[Finding]:
    """Each banned word and each banned beginning of a block, in the order of the rules."""
    for found in _BEGIN.finditer(block.text):
        begin = found.start(1)
        word, sentence = found[1], _sentence(block.text, begin)
        if word == "Of" or not sentence.endswith("?"):
            yield _finding(block, begin, word, BEGINNINGS[word])
    for pattern, word in _WORDS:
        for found in pattern.finditer(block.text):
            sentence = _sentence(block.text, found.start())
            if not (word.unless and re.search(word.unless, sentence, re.IGNORECASE)):
                yield _finding(block, found.start(), found[0], word.say)


def _finding(block: Block, at: int, word: str, say: str) -> Finding:
    line = block.line + block.text.count("\n", 0, at)
    return Finding(block.kind, line, " ".join(word.split()), say, _sentence(block.text, at))


def _sentence(text: str, at: int) -> str:
    """The sentence around a position, in one line."""
    begin = max((end.end() for end in _END.finditer(text, 0, at)), default=0)
    end = _END.search(text, at)
    return " ".join(text[begin : end.end() if end else len(text)].split())


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
    """The blocks of a document, or of a docstring that begins in a line."""
    text = _COMMAND.sub(lambda found: "\n" * found[0].count("\n"), text)
    text = _NO_SENTENCE.sub(lambda found: "`" + "\n" * found[0].count("\n") + "`", text)
    at = 0
    for border in (*_BORDER.finditer(text), None):
        end = border.start() if border else len(text)
        if text[at:end].strip():
            yield Block(kind, line + text.count("\n", 0, at), text[at:end])
        at = border.end() if border else end


_WORDS_OF_PROSE = re.compile(r"[A-Za-z]{2,}[,:;.]? +\S*[A-Za-z]{2,}|\b(?:Of|What) ")


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
        kind = "docstring" if node in docstrings else "message"
        if _WORDS_OF_PROSE.search(text):
            yield from of_markdown(text, kind, node.lineno)
    yield from _comments(source)


def _comments(source: str) -> Iterator[Block]:
    """Comments in lines that follow each other are one text."""
    texts: list[str] = []
    first = last = 0
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type != tokenize.COMMENT:
            continue
        line, alone = token.start[0], not token.line[: token.start[1]].strip()
        if texts and not (alone and line == last + 1):
            yield from of_markdown("\n".join(texts), "comment", first)
            texts = []
        first, last = (first if texts else line), line
        texts.append(token.string.lstrip("#").removeprefix(" "))
    if texts:
        yield from of_markdown("\n".join(texts), "comment", first)


_OF_C = re.compile(
    r"(?P<comment>//[^\n]*|/\*.*?\*/)"
    r"|(?P<text>\"(?:\\.|[^\"\\\n])*\"(?:\s*\"(?:\\.|[^\"\\\n])*\")*)"
    r"|'(?:\\.|[^'\\\n])*'",
    re.DOTALL,
)


def of_c(source: str) -> Iterator[Block]:
    """The comments and messages of a program in C or C++. Literals that meet are one text."""
    texts: list[str] = []
    first = last = 0
    for found in _OF_C.finditer(source):
        line = source.count("\n", 0, found.start()) + 1
        if found["comment"]:
            if texts and line != last + 1:
                yield from of_markdown("\n".join(texts), "comment", first)
                texts = []
            first, last = (first if texts else line), line + found[0].count("\n")
            texts.append(re.sub(r"(?m)^[ /*!]+|\*+/$", "", found[0]))
        elif found["text"] and _WORDS_OF_PROSE.search(found["text"]):
            text = re.sub(r"\"\s*\"", "", found["text"]).replace(r"\n", " ").strip('"')
            yield from of_markdown(text, "message", line)
    if texts:
        yield from of_markdown("\n".join(texts), "comment", first)


def held(kind: str, path: str) -> bool:
    """Whether a kind of text is held in a file of the repository."""
    return not any(kind == not_yet and path.startswith(at) for not_yet, at in NOT_YET)


_READERS = {
    ".md": of_markdown,
    ".py": of_python,
    **dict.fromkeys((".c", ".h", ".cpp", ".hpp"), of_c),
}


def findings_of(path: str, text: str) -> Iterator[Finding]:
    """The findings in a file. Strings of tests are data, and no messages."""
    data = path.startswith("tests/")
    read = _READERS[PurePosixPath(path).suffix]
    for block in read(text):
        if not (data and block.kind == "message"):
            yield from findings(block)


def _files() -> Iterable[str]:
    patterns = (f"*{suffix}" for suffix in _READERS)
    listed = ["git", "-C", str(ROOT), "ls-files", *patterns]
    done = subprocess.run(listed, check=True, capture_output=True, text=True)
    return (path for path in done.stdout.splitlines() if not NOT_OURS.fullmatch(path))


def main() -> int:
    """Print the findings; 1 where there are any."""
    parser = argparse.ArgumentParser(description="Find sentences that are no plain English.")
    parser.add_argument("files", nargs="*", metavar="FILE", help="paths from the repository's root")
    parser.add_argument("--all", action="store_true", help="hold the texts of NOT_YET, too")
    parser.add_argument("--count", action="store_true", help="print counts by kind and folder")
    asked = parser.parse_args()
    counts: Counter[tuple[str, str]] = Counter()
    for path in asked.files or _files():
        for found in findings_of(path, (ROOT / path).read_text(encoding="utf-8")):
            if not (asked.all or held(found.kind, path)):
                continue
            counts[found.kind, "/".join(PurePosixPath(path).parts[:2])] += 1
            if not asked.count:
                print(f"{path}:{found.line}: {found}")
    for (kind, folder), number in sorted(counts.items()) if asked.count else ():
        print(f"{number:5} {kind:9} {folder}")
    if counts:
        print(f"{counts.total()} findings", file=sys.stderr)
    return 1 if counts else 0


if __name__ == "__main__":
    sys.exit(main())
