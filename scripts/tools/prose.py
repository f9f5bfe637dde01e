"""Find sentences that are no plain technical English.

    python scripts/tools/prose.py [--all] [--count] [FILE…]

Reads the files of the repository, or FILEs: documents, docstrings, comments, and messages (string
constants of two words or more, outside tests). `prose_blocks.py` knows the kinds of files. Skips
code, names in backticks, and what stands between the marks of a command. Prints a line for each
finding and exits with 1 if there are any. `NOT_YET` lists the texts that are not held; --all holds
these too, --count prints the number of findings by kind of text and folder.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from prose_blocks import Block, blocks

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

_INVERTED = re.compile(
    r"(?:\A|[.!?;][\"')\]*_”]*\s)[\s*_\"'(“\[]*"
    r"(?:(?:at|by|for|from|in|of|on|to)\s+which|how|what|when|where|whether|which|who|why)\b"
    r"[^.!?;:]*?(?<!as)\s"
    r"((?:no\s[\w\s-]{1,30}?|nobody|nothing)\s(?:says|knows|shows)"
    r"|(?:an?|the|this|that)\s[\w\s-]{1,30}?\s(?:(?:do|does|did)\snot|cannot)\s(?:say|know|show))"
    r"(?=[\s\"')\]*_”]*(?:[.!?;:,]|\Z))",
    re.IGNORECASE,
)
"""A sentence whose object is a clause and begins it, as in "Where pages are no file says"."""


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
    """Banned beginnings, inverted sentences and banned words of a block, in this order."""
    for found in _BEGIN.finditer(block.text):
        yield _finding(block, found.start(1), found[1], BEGINNINGS[found[1]])
    for found in _INVERTED.finditer(block.text):
        say = "begin with the subject, as in 'No file says where'"
        yield _finding(block, found.start(1), found[1], say)
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


def held(kind: str, path: str) -> bool:
    """Whether a kind of text is held in a file of the repository."""
    return not any(kind == not_yet and path.startswith(at) for not_yet, at in NOT_YET)


def findings_of(path: str, text: str) -> Iterator[Finding]:
    """The findings in a file. Strings of tests are data, and no messages."""
    data = path.startswith("tests/")
    for block in blocks(path, text):
        if not (data and block.kind == "message"):
            yield from findings(block)


def _files() -> Iterable[str]:
    listed = ["git", "-C", str(ROOT), "ls-files", "--cached", "--others", "--exclude-standard"]
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
        for found in findings_of(path, (ROOT / path).read_text("utf-8", errors="replace")):
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
