"""`--html`: commands write pages that browsers show, offline, whatever the names in them are."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from browser import MISSING, Browser, browser_here, browsing
from commands import autofinity
from compiled import compiled
from live_run import preferred

from autofinity.affinity.best_matches import BestMatches
from autofinity.evaluation.cases import Case
from autofinity.model.affinity import PACKED, SPREAD, Affinity
from autofinity.model.observation import Workload
from autofinity.model.policy import Decision
from autofinity.report.evaluation_table import COLUMNS
from autofinity.report.judged_cases import judged_cases, times_table
from autofinity.report.page import Page, Section, html_of
from autofinity.workflow.backends import machine_topology

type PageOf = Callable[[str], Path]

HOSTILE = "<img src=x onerror=alert(1)>"
SHOWN = HOSTILE.replace("<", "&lt;").replace(">", "&gt;")
TEXTS = {
    "evaluate": ("Evaluation on xeon-e5-2650", "Cases by regret", "Counters over time", HOSTILE),
    "explain-policy": (PACKED.shown, "by rule 2 of 2", "Where", "All rules, in order", HOSTILE),
    "explain-run": ("Run 1:", "Measured before and after", "Not recorded:", "Notes", HOSTILE),
    "advise": ("Advice on", "memory policy", "Where the advice puts threads", "MiB", HOSTILE),
    "advise-curve": ("Number of threads for prodcons", "Speed by number of threads", "time, ms"),
    "detect": ("Sharing in", "exclusivity of pages", "Use of pages", HOSTILE),
    "compare": ("Mechanisms on opteron-6164he", "oracle", "prodcons", "Measured before and after"),
}
"""Texts of each page."""
PLOTS = {
    "evaluate": {"verdict", "regrets"},
    "explain-policy": {"look-1"},
    "explain-run": {"look-1", "look-2", "change", "time-cpu-time", "time-reads-by-node"},
    "advise": {
        *("look-1", "gain", "memory", "pages"),
        *("time-instructions", "time-halted", "time-reads-local", "time-reads-remote"),
        *("time-llc-misses", "time-reads-by-node"),
    },
    "advise-curve": {"curve"},
    "detect": {"sharing", "pages"},
    "compare": {"vs-os-time", "by-program"},
}
DRAWN = {"evaluate", "explain-policy", "explain-run", "advise", "compare"}
"""Pages with a machine."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    program = browser_here()
    if program is None:
        pytest.skip(MISSING)
    with browsing(program) as found:
        yield found


@pytest.fixture(scope="module")
def spinner(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program of threads that compute: how many, and for how many seconds."""
    source = Path(__file__).parents[2] / "smoke" / "spinner.c"
    return compiled([source], tmp_path_factory.mktemp("spinner") / "spinner")


@pytest.mark.parametrize("name", TEXTS)
def test_a_command_writes_one_whole_page_without_markup_of_others(
    page_of: PageOf, name: str
) -> None:
    page = page_of(name)
    html = page.read_text()
    assert html.startswith("<!DOCTYPE html>") and html.rstrip().endswith("</html>")
    assert (SHOWN in html) == (HOSTILE in TEXTS[name])
    assert HOSTILE not in html
    assert ('class="machine"' in html) == (name in DRAWN)
    assert not [each for each in page.parent.iterdir() if each.suffix == ".tmp"]


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("name", TEXTS)
def test_a_browser_shows_a_page_from_the_disk_and_has_nothing_to_complain_about(
    page_of: PageOf, browser: Browser, name: str, dark: bool
) -> None:
    browser.open(page_of(name), dark=dark)
    assert browser.complaints == []
    loaded = [url for url in browser.loaded if not url.startswith("data:")]
    assert loaded == [page_of(name).as_uri()]
    assert browser.value("document.documentElement.scrollWidth") <= 1280
    text = browser.value(
        "(() => { const main = document.querySelector('main').cloneNode(true);"
        "for (const each of main.querySelectorAll('script')) each.remove();"
        "return main.textContent; })()"
    )
    for said in TEXTS[name]:
        assert said in text
    assert browser.value("document.querySelectorAll('img, iframe, link').length") == 0
    drawn = browser.value(
        "[...document.querySelectorAll('.plot')].filter(p => p.querySelector('.main-svg'))"
        ".map(p => p.id)"
    )
    assert set(drawn) == PLOTS[name]
    light = browser.value("getComputedStyle(document.body).backgroundColor") == "rgb(244, 246, 248)"
    assert light is not dark


@pytest.mark.parametrize("name", TEXTS)
def test_tables_fit_1280_pixels_where_all_that_is_folded_is_open(
    page_of: PageOf, browser: Browser, name: str
) -> None:
    browser.open(page_of(name))
    browser.value("document.querySelectorAll('details').forEach(each => each.open = true)")
    widths = browser.value(
        "[...document.querySelectorAll('.wide')].map(each => [each.scrollWidth, each.clientWidth])"
    )
    assert all(0 < needed <= given for needed, given in widths), widths


def test_all_times_of_an_evaluation_fit_where_every_alternative_is_known(
    tmp_path: Path, browser: Browser
) -> None:
    roi_s = dict.fromkeys(COLUMNS, 0.12345)
    affinities = dict.fromkeys(("best_hint", "autofinity"), Affinity.of([[1], [1]]))
    case = Case(
        Workload("percolation", "memory", 128), Decision(SPREAD, 0, 1.0, None), affinities, roi_s
    )
    judged = judged_cases([case], BestMatches(machine_topology("opteron-6164he")))
    page = tmp_path / "page.html"
    page.write_text(html_of(Page("Times", "", (Section("", (times_table(judged),)),), "")))
    browser.open(page)
    table = "document.querySelector('.wide')"
    assert browser.value(f"{table}.querySelectorAll('th').length") == 3 + len(COLUMNS)
    assert browser.value(f"{table}.scrollWidth") <= browser.value(f"{table}.clientWidth")


def test_rows_are_filtered_and_sorted_and_points_dimmed_with_them(
    page_of: PageOf, browser: Browser
) -> None:
    browser.open(page_of("evaluate"))
    table = ".table[data-plot=regrets]"
    rows = f"[...document.querySelectorAll('{table} tbody tr')].filter(row => !row.hidden)"
    programs = f"{rows}.map(row => row.cells[0].textContent)"
    before = browser.value(programs)
    browser.value(
        "(() => { const field = document.querySelector('input[type=search]');"
        "field.value = 'PIC'; field.dispatchEvent(new Event('input', {bubbles: true})); })()"
    )
    assert browser.value(programs) == ["pic"]
    assert (
        browser.value("document.querySelector('output').textContent") == f"1 of {len(before)} rows"
    )
    selected = browser.value("document.getElementById('regrets').data.map(t => t.selectedpoints)")
    assert sum(len(points) for points in selected) == 1
    browser.value(
        "(() => { const field = document.querySelector('input[type=search]');"
        "field.value = ''; field.dispatchEvent(new Event('input', {bubbles: true})); })()"
    )
    browser.value("document.querySelector('.table[data-plot=regrets] th').click()")
    assert browser.value(programs) == sorted(before)
    browser.value("document.querySelector('.table[data-plot=regrets] th').click()")
    assert browser.value(programs) == sorted(before, reverse=True)


def test_bytes_by_node_have_a_panel_for_each_thread_and_a_legend_of_nodes(
    page_of: PageOf, browser: Browser
) -> None:
    browser.open(page_of("explain-run"))
    plot = "document.getElementById('time-reads-by-node')"

    def texts(of: str) -> list[str]:
        found: list[str] = browser.value(
            f"[...{plot}.querySelectorAll('{of}')].map(each => each.textContent)"
        )
        return found

    assert texts(".legendtext") == ["node 0", "node 1"]
    assert texts(".annotation-text") == ["thread 0", "thread 1"]
    assert browser.value(f"{plot}.querySelectorAll('.bars .point').length") == 2 * 2 * 3
    assert browser.value(f"{plot}.querySelectorAll('.shapelayer path').length") == 2 * 2
    legend, title = (
        f"{plot}.querySelector('{of}').getBoundingClientRect()"
        for of in (".legend", ".annotation-text")
    )
    assert browser.value(f"{legend}.bottom <= {title}.top")


def test_a_comparison_unfolds_what_each_thread_did_before_and_after(
    page_of: PageOf, browser: Browser
) -> None:
    browser.open(page_of("compare"))
    browser.value("document.querySelectorAll('details').forEach(each => each.open = true)")
    browser.value("dispatchEvent(new Event('beforeprint'))")
    drawn = "[...document.querySelectorAll('.plot')].filter(p => p.querySelector('.main-svg'))"
    names = set(browser.value(f"{drawn}.map(p => p.id)"))
    assert browser.complaints == []
    for kind in ("instructions", "halted", "reads-by-node"):
        pair = [f"time-{kind}-oracle-{end}" for end in ("before", "after")]
        assert set(pair) <= names
        of = "yaxis" if kind != "reads-by-node" else "yaxis2"
        ranges = [
            browser.value(f"document.getElementById('{name}')._fullLayout.{of}.range")
            for name in pair
        ]
        assert ranges[0] == ranges[1]
        title = f"document.getElementById('{pair[1]}').querySelector('.gtitle').textContent"
        assert "under oracle" in browser.value(title)


def test_a_printed_page_has_all_that_is_folded_on_the_screen(
    page_of: PageOf, browser: Browser, tmp_path: Path
) -> None:
    browser.open(page_of("evaluate"))
    folded = browser.value("document.querySelectorAll('details:not([open])').length")
    browser.value("dispatchEvent(new Event('beforeprint'))")
    assert folded > 0
    assert browser.value("document.querySelectorAll('details:not([open])').length") == 0
    browser.value("dispatchEvent(new Event('afterprint'))")
    assert browser.value("document.querySelectorAll('details:not([open])').length") == folded
    browser.printed(tmp_path / "page.pdf")
    assert (tmp_path / "page.pdf").read_bytes().startswith(b"%PDF")


def test_topology_and_map_write_the_machine_as_svg(tmp_path: Path, browser: Browser) -> None:
    matrix = tmp_path / "sharing.csv"
    matrix.write_text("0,5,0,0\n5,0,0,0\n0,0,0,5\n0,0,5,0\n")
    of = {name: tmp_path / f"{name}.svg" for name in ("topology", "map")}
    on = ("--machine", "opteron-6164he")
    autofinity("topology", *on, "-t", "8", "--hint", "packed", "--svg", str(of["topology"]))
    autofinity("map", *on, "--matrix", str(matrix), "--svg", str(of["map"]))
    assert "; thread 7</title>" in of["topology"].read_text()
    assert "packed (slp): 8 threads as {6,2}</text>" in of["topology"].read_text()
    assert "refined: 4 threads at a cost of" in of["map"].read_text()
    for path in of.values():
        browser.open(path)
        assert browser.complaints == []
        assert browser.loaded == [path.as_uri()]


def test_a_page_replaces_another_file_only_as_a_whole(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("old")
    sample = ("--sample", "instructions=1,llc_requests=1,llc_misses=1")
    autofinity("explain", "opteron-6164he", "--sample", "instructions", "--html", str(page), code=2)
    assert page.read_text() == "old"
    autofinity("explain", "opteron-6164he", *sample, "--html", str(page))
    assert page.read_text().startswith("<!DOCTYPE html>")
    assert os.listdir(tmp_path) == ["page.html"]


def test_where_no_page_can_be_written_is_said_before_any_work(tmp_path: Path) -> None:
    nowhere = tmp_path / "nowhere" / "page.html"
    done = autofinity("evaluate", "--machine", "opteron-6164he", "--html", str(nowhere), code=2)
    assert f"there is no folder {nowhere.parent}" in done.stderr


def test_a_running_program_is_advised_on_with_its_threads_over_time(
    spinner: Path, tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    with preferred(), subprocess.Popen([spinner, "2", "300"]) as process:
        try:
            autofinity("advise", "--pid", str(process.pid), "-t", "2", "--html", str(page))
        finally:
            process.kill()
    html = page.read_text()
    assert "Advice on spinner" in html
    assert 'data-plot="time-cpu-time"' in html
    assert "Nothing was moved" in html


def test_a_launched_program_keeps_its_exit_code_where_no_page_can_be_written(
    tmp_path: Path,
) -> None:
    page = tmp_path / "page.html"
    command = ("--html", str(page), "--", "sh", "-c", "exit 37")
    done = autofinity("advise", *command, code=37)
    why = "the program ended before anything was seen of it"
    assert f"no advice, so no page is written: {why}" in done.stderr
    assert not page.exists()
