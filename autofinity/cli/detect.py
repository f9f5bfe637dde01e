"""`autofinity detect`: who shares with whom in a program, captured or running here, and whose its
pages are.
"""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from autofinity.cli.detect_live import TraceOrProgram, detect_live, live_program, refuse_machine
from autofinity.cli.given_options import refuse_options
from autofinity.cli.html_page import keep_page
from autofinity.cli.matrix_out import check_matrix_out, heterogeneities, save_matrix
from autofinity.cli.options.hint import HINT
from autofinity.cli.options.html import html_option
from autofinity.cli.options.json import json_option
from autofinity.cli.options.latencies import latencies_option
from autofinity.cli.options.output import output_option
from autofinity.cli.options.page_size import page_size_option
from autofinity.cli.options.placing import trace_machine_option
from autofinity.cli.printer import say, say_json
from autofinity.cli.progress import Terminal
from autofinity.detect.scaled import SCALED
from autofinity.model.affinity import Hint
from autofinity.model.errors import UsageError
from autofinity.workflow.detect import WHOLE_TRACE

if TYPE_CHECKING:
    from autofinity.evaluation.watched_sharing import SeenSharing
    from autofinity.workflow.detect import Detected


@click.command("detect", cls=TraceOrProgram, more="--latencies --page-size --seed")
@click.argument(
    "trace",
    metavar="[TRACE | -- PROGRAM [ARGS]...]",
    required=False,
    type=click.Path(path_type=Path),
)
@trace_machine_option
@latencies_option
@page_size_option
@click.option(
    "--threads",
    "-t",
    type=int,
    help="Number of threads of the trace to place.  [default: all threads of the program]",
)
@click.option(
    "--hint", type=HINT, default="spread", show_default=True, help="Placement of the threads."
)
@click.option(
    "--with",
    "source",
    type=click.Choice([*SCALED, WHOLE_TRACE]),
    default="faults",
    show_default=True,
    help="Detector to use; trace: count all accesses of the trace, without a simulated run.",
)
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, help="Random seed of the page colours."
)
@output_option("Save the matrix as a picture (.svg), or for `autofinity map` (.csv).")
@click.option(
    "--arm",
    is_flag=True,
    help="Switch on the kernel's NUMA hinting while PROGRAM runs (needs root).",
)
@html_option
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    trace: Path | None,
    machine: str,
    latencies: str | None,
    page_size: str | None,
    threads: int | None,
    hint: Hint,
    source: str,
    seed: int,
    output: Path | None,
    arm: bool,
    html: Path | None,
    as_json: bool,
) -> None:
    """Show the sharing matrix and the page exclusivity of TRACE (a folder of `autofinity capture`),
    or of PROGRAM, which runs here while its page faults are recorded.

    Page faults of PROGRAM show which thread touched a page first. With --arm, the kernel makes
    pages fault repeatedly, which shows sharing, also on machines with one node, unless the kernel
    leaves memory of one node alone.

    The program of a TRACE runs on a simulated machine, watched by one of the published detectors:
    induced page faults (kMAF'16, or kMAF'14's sub-blocks), equal TLB entries, access counters in
    the TLB (SAMMU) or the page table (LAPT), or remote accesses (Azimi). Detection rates are scaled
    to the length of the run, since the papers ran programs for minutes.
    """
    from autofinity.workflow.backends import simulated
    from autofinity.workflow.detect import detect

    check_matrix_out(output)
    program = live_program(ctx)
    if (trace is None) == (program is None) or program == ():
        raise UsageError("expected either the folder of a trace or `-- PROGRAM [ARGS]...`")
    if program is not None:
        refuse_machine(ctx)
        refuse_options(("threads",), "the program itself says how many threads it has")
        sys.exit(detect_live(program, output, html, arm=arm, as_json=as_json))
    assert trace is not None
    if arm:
        raise UsageError("--arm needs a program that runs here; expected no --arm with a trace")
    simulator = simulated(machine, latencies, page_size, reporter=Terminal())
    detected = detect(simulator, trace, source, threads=threads or None, hint=hint, seed=seed)
    name = simulator.spec.name
    title = f"{trace.name} on {name}, with {source}"
    document = _document(trace, name, source, detected)
    if as_json:
        say_json(document)
    else:
        _print(title, detected.found, document)
    save_matrix(detected.found.sharing, title, output)
    if html is not None:
        _keep_page(html, trace.name, f"On {name}, seen with {source}.", detected.found, document)


def _document(trace: Path, machine: str, source: str, detected: Detected) -> dict[str, object]:
    from autofinity.detect.agreement import correlation
    from autofinity.model.sharing_metrics import average_exclusivity, sharing_amount

    found = detected.found
    agreement = correlation(found.sharing, detected.whole.sharing)
    return {
        "trace": str(trace),
        "machine": machine,
        "with": source,
        "detector": asdict(found.detector) if found.detector else None,
        "sharing": [list(row) for row in found.sharing.cells],
        "amount": sharing_amount(found.sharing),
        **heterogeneities(found.sharing),
        "whole_trace_correlation": None if agreement != agreement else agreement,
        "pages": len(found.pages.pages),
        "exclusivity": average_exclusivity(found.pages) if found.pages.pages else None,
        "triggers": found.triggers,
        "roi_ns": found.roi_ns,
        "roi_ns_without": found.roi_ns_without,
        "overhead_ns": dict(found.overhead_ns) if found.detector else None,
    }


def _print(title: str, found: SeenSharing, document: dict[str, object]) -> None:
    from autofinity.report.heat_map import heat_lines

    say(title)
    for line in heat_lines(found.sharing):
        say(line)
    say(
        f"sharing: {document['amount']:.6g} a pair of threads, heterogeneity "
        + _heterogeneity(document)
        + _agreement(document["whole_trace_correlation"])
    )
    if document["exclusivity"] is not None:
        say(f"pages: {document['pages']} seen, exclusivity {document['exclusivity']:.1%}")
    if found.roi_ns is not None and found.roi_ns_without:
        lost = found.roi_ns / found.roi_ns_without - 1
        kinds = ", ".join(
            f"{kind} {time_ns / 1000:.1f} us" for kind, time_ns in found.overhead_ns.items()
        )
        say(f"cost: the run took {lost:+.2%}" + (f"; of the cores' time {kinds}" if kinds else ""))


def _keep_page(
    path: Path, name: str, lead: str, found: SeenSharing, document: dict[str, object]
) -> None:
    from autofinity.report.sharing_page import sharing_sections

    facts = [
        ("sharing, a pair of threads", f"{document['amount']:.6g}"),
        ("heterogeneity", _heterogeneity(document)),
    ]
    if document["exclusivity"] is not None:
        facts.append(("exclusivity of pages", f"{document['exclusivity']:.1%}"))
    if document["whole_trace_correlation"] is not None:
        facts.append(
            ("correlation with all accesses", f"{document['whole_trace_correlation']:.3f}")
        )
    nodes = max((len(counts) for counts in found.pages.pages.values()), default=0)
    rows = [f"from node {node}" for node in range(nodes)]
    sections = sharing_sections(found.sharing, facts, found.pages, rows, "accesses seen")
    keep_page(path, f"Sharing in {name}", lead, sections)


def _heterogeneity(document: dict[str, object]) -> str:
    """By equation 1 of kMAF'14, and the same off the diagonal."""
    off = f"{document['heterogeneity_off_diagonal']:.4f} off the diagonal"
    return f"{document['heterogeneity']:.4f} ({off})"


def _agreement(found: object) -> str:
    return f", correlation with the whole trace {found:.3f}" if found is not None else ""
