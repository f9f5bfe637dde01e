"""Links and pictures of the built site lead to its files, and every `#` to a place in one."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


@dataclass
class Read(HTMLParser):
    """Names and links of a page."""

    names: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.names |= {name for key in ("id", "name") if (name := given.get(key))}
        self.links += [link for key in ("href", "src") if (link := given.get(key))]


def read(path: Path) -> Read:
    page = Read()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def broken(pages: dict[Path, Read]) -> list[str]:
    """Links of pages that lead nowhere."""
    found = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = path if not parts.path else (path.parent / unquote(parts.path)).resolve()
            name = unquote(parts.fragment)
            lost = name and target in pages and name not in pages[target].names
            if lost or not target.exists():
                found.append(f"{path.name}: {link}")
    return found


def test_links_hold(pages: list[Path]) -> None:
    assert broken({path.resolve(): read(path) for path in pages}) == []


def test_a_link_that_leads_nowhere_is_found(tmp_path: Path) -> None:
    first, second = tmp_path / "a.html", tmp_path / "b.html"
    first.write_text('<a href="b.html#here"></a><a href="b.html#gone"></a><img src="no.svg">')
    second.write_text('<p id="here"><a href="a.html">a</a><a href="https://x.example/">x</a></p>')
    assert broken({path: read(path) for path in (first, second)}) == [
        "a.html: b.html#gone",
        "a.html: no.svg",
    ]
