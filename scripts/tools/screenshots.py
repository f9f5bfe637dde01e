"""Take the pictures of docs/pictures: pages in a headless Chromium, terminals and machines as SVG.

    python scripts/tools/screenshots.py [report] [site] [top] [topology]

Without a name all pictures are taken, of what the present commands print. `report` and `site` need
chromium-headless-shell or chromium, as distributions package them; `site` needs `make docs` before;
`top` compiles a small program that computes with two threads, and runs it here.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PICTURES = ROOT / "docs/pictures"
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
SAMPLE = "instructions=4.1e8,llc_requests=6e6,llc_misses=1e6"
_COLUMNS = 100
_WATCHED_S = 50


def report(folder: Path) -> None:
    """The page of `explain` for a sample of the shipped policy of the Opteron."""
    page = folder / "page.html"
    _call("explain", "opteron-6164he", "--sample", SAMPLE, "--html", str(page))
    _browse(page, PICTURES / "report.png", 1250, folder)


def site(folder: Path) -> None:
    """The landing page of the documents."""
    page = ROOT / "build/docs/html/docs/index.html"
    if not page.exists():
        sys.exit("the site is not built; call `make docs` first")
    _browse(page, PICTURES / "site.png", 800, folder)


def top(folder: Path) -> None:
    """The two views of `top` while a program with two threads runs."""
    from autofinity.linux.sysfs_topology import read_sysfs
    from autofinity.report.live_view import STYLES, fitted, runs_view, threads_view
    from autofinity.runtime.runs_now import RunsWatcher
    from autofinity.workflow.decision_line import decision_line

    program, state = folder / "app", folder / ".local/state"
    source = ROOT / "tests/smoke/spinner.c"
    subprocess.run(["cc", "-O2", "-pthread", str(source), "-o", str(program)], check=True)
    run = [*_AUTOFINITY, "run", "--quiet", "--hint", "spread", "--", str(program), "2", "60"]
    database = state / "autofinity/behaviour.db"
    topology = read_sysfs("/sys")
    with subprocess.Popen(run, env=os.environ | {"XDG_STATE_HOME": str(state)}) as running:
        try:
            watcher = RunsWatcher(database, topology)
            for _ in range(_WATCHED_S):
                time.sleep(1)
                runs = watcher.look(1)
                if any(each.run.bound for each in runs):
                    break
            else:
                sys.exit(f"the program was not placed within {_WATCHED_S} s")
            time.sleep(1)
            runs = watcher.look(1)
        finally:
            running.kill()
    views = (
        ("autofinity top", runs_view(runs, topology, str(database))),
        (
            "autofinity top last",
            threads_view(runs[0], topology, decision_line(runs[0].run, database)),
        ),
    )
    lines = []
    for command, view in views:
        lines += [("", "")] if lines else []
        lines.append((f"$ {command}", "bold"))
        lines += [(each.text, STYLES.get(each.style, "")) for each in fitted(view, _COLUMNS)]
    _draw([(text.replace(str(folder), "~"), style) for text, style in lines], "top")


def topology(folder: Path) -> None:
    """A machine with threads in place."""
    del folder
    asked = ("--machine", "opteron-6164he", "--threads", "8", "--hint", "packed")
    _call("topology", *asked, "--svg", str(PICTURES / "topology.svg"))


_AUTOFINITY = (sys.executable, "-m", "autofinity")
_TAKEN: dict[str, Callable[[Path], None]] = {
    "report": report,
    "site": site,
    "top": top,
    "topology": topology,
}


def _call(*words: str) -> None:
    subprocess.run([*_AUTOFINITY, *words], check=True, stdout=subprocess.DEVNULL)


def _browse(page: Path, out: Path, height_px: int, folder: Path) -> None:
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        sys.exit(f"no Chromium here; expected one of {', '.join(BROWSERS)}")
    subprocess.run(
        [
            browser,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            f"--user-data-dir={folder}/browser",
            f"--window-size=1280,{height_px}",
            "--virtual-time-budget=5000",
            f"--screenshot={out}",
            page.as_uri(),
        ],
        check=True,
        stderr=subprocess.DEVNULL,
    )


def _draw(lines: list[tuple[str, str]], name: str) -> None:
    """Lines of a terminal as a picture that names nothing outside itself."""
    from rich._export_format import CONSOLE_SVG_FORMAT
    from rich.console import Console
    from rich.text import Text

    with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        console = Console(width=_COLUMNS, record=True, file=nowhere, highlight=False)
        for line, style in lines:
            console.print(Text(line, style), soft_wrap=True)
    foreign = r"@font-face \{\{.*?\}\}|<!--.*?-->"
    own_fonts = re.sub(foreign, "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)
    text = console.export_svg(title="autofinity", code_format=own_fonts, unique_id=name)
    (PICTURES / f"{name}.svg").write_text(text, encoding="utf-8")


def main() -> None:
    """Take the pictures that are named, or all."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("picture", nargs="*", help=f"one of {', '.join(_TAKEN)}; none: all")
    wanted = parser.parse_args().picture or list(_TAKEN)
    for name in wanted:
        if name not in _TAKEN:
            parser.error(f"no picture {name!r}; expected one of {', '.join(_TAKEN)}")
        with tempfile.TemporaryDirectory() as folder:
            _TAKEN[name](Path(folder))


if __name__ == "__main__":
    main()
