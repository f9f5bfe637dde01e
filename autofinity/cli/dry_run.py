"""`autofinity run --dry-run`: what the run would do, as text or as JSON.

The launcher becomes this module with the arguments that the monitor would get, so what is printed
is what would be done. `autofinity` has no command of this name.
"""

from __future__ import annotations

import math
import os
import sys

from autofinity.cli.errors import reported
from autofinity.cli.printer import say, say_json, say_wrapped
from autofinity.foreign_text import one_line
from autofinity.model.affinity import Hint
from autofinity.model.cpu_lists import format_cpu_list
from autofinity.model.topology import OsIndex, Topology
from autofinity.runtime.machine_facts import kind_here
from autofinity.runtime.plan import Plan
from autofinity.runtime.policies import NO_POLICY, NO_POLICY_REMEDY
from autofinity.runtime.preview import Preview, preview
from autofinity.runtime.request import Request
from autofinity.store.behaviour_rows import RunRecord
from autofinity.store.site_address import site_name


def main() -> None:
    """Entry of `python -m autofinity.cli.dry_run`."""
    reported(lambda: tell(Request.parse(sys.argv[1:])))


def tell(request: Request) -> None:
    """Print the plan. Raises `AutofinityError` when machine or policy cannot be read."""
    seen = preview(request)
    if request.as_json:
        say_json(_document(seen), indent=2)
    else:
        _print(seen)


def _print(seen: Preview) -> None:
    request, plan, kind = seen.request, seen.plan, kind_here(seen.topology)
    for name, text in (
        ("program", f"{request.program} (key {request.key[:12]})"),
        ("machine", _shape(seen.topology) + f", known as {kind}" * bool(kind)),
        (
            "CPUs",
            f"{format_cpu_list(seen.available)} allowed"
            + (f"; placed on {format_cpu_list(plan.available)}" if plan.hints else ""),
        ),
        ("threads", f"{seen.threads} ({_promise(request.threads)})"),
        ("measured", f"{request.tier} ({request.ladder})"),
        ("policy", _policy(request)),
        *((("chosen", request.policy_origin),) if request.policy else ()),
        *((("near", f"{request.near}, on node {request.near_node}"),) if request.near else ()),
        *((("sent to", site_name(request.site)),) if request.site and request.db else ()),
        ("decision", seen.decision),
        ("binding", seen.binding),
        *(("run", _claim(run)) for run in seen.runs),
        *(("pins", line) for line in seen.pins),
        *(("note", line) for line in seen.notes),
    ):
        say_wrapped(one_line(f"{name:9} {text}"), hang=10)
    _table(plan, seen.hint, "asked for" if request.hint else "known")
    say("nothing was started")


def _document(seen: Preview) -> dict[str, object]:
    """Lists of CPUs are as `taskset --cpu-list` takes them: `0-3,8`."""
    request = seen.request
    return {
        "program": request.program,
        "key": request.key,
        "packages": seen.topology.n_packages,
        "nodes": seen.topology.n_nodes,
        "llcs": seen.topology.n_llcs,
        "cores": seen.topology.n_cores,
        "pus": len(seen.topology.pus),
        "machine": kind_here(seen.topology) or None,
        "cpus_allowed": format_cpu_list(seen.available),
        "cpus_placed_on": format_cpu_list(seen.plan.available) if seen.plan.hints else None,
        "threads": seen.threads,
        "threads_promised": request.threads or None,
        "measured": request.tier,
        "ladder": request.ladder,
        "policy": None if request.policy is None else str(request.policy),
        "policy_origin": request.policy_origin or None,
        "near": request.near or None,
        "near_node": request.near_node if request.near else None,
        "sent_to": site_name(request.site) if request.site and request.db else None,
        "mechanism": request.mechanism,
        "hint": None if seen.hint is None else str(seen.hint),
        "hint_is": None if seen.hint is None else "asked for" if request.hint else "known",
        "decision": seen.decision,
        "binding": seen.binding,
        "runs": [
            {"run": run.id, "program": run.path, "pid": run.pid, "cpus": run.cpus}
            for run in seen.runs
        ],
        "pins": list(seen.pins),
        "notes": list(seen.notes),
        "hints": [
            {
                "hint": str(each.hint),
                "name": each.hint.shown,
                "affinity": str(each.cores.affinity),
                "cpus_of_thread": [format_cpu_list(mask) for mask in each.masks],
            }
            for each in seen.plan.hints
        ],
    }


def _promise(threads: int) -> str:
    """How the number of threads was found; 0: none was promised."""
    if not threads:
        return "for example; without --threads, each computing thread gets a core"
    words = os.environ.get("OMP_NUM_THREADS", "")
    counts = [int(word) for word in words.split(",") if word.strip().isdecimal()]
    if len(counts) < 2 or math.prod(counts) != threads:
        return "promised"
    outer = f"{counts[0]} thread{'s' * (counts[0] > 1)}"
    return (
        f"promised: OMP_NUM_THREADS={words} is for teams within teams; without these, the {outer} "
        "of the outer team are placed"
    )


def _policy(request: Request) -> str:
    if request.policy is None:
        return "not asked" if request.hint else f"none: {NO_POLICY}; {NO_POLICY_REMEDY}"
    return str(request.policy)


def _shape(topology: Topology) -> str:
    counts = {
        "socket": topology.n_packages,
        "node": topology.n_nodes,
        "last-level cache": topology.n_llcs,
        "core": topology.n_cores,
        "CPU": len(topology.pus),
    }
    return ", ".join(f"{count} {name}{'s' * (count != 1)}" for name, count in counts.items())


def _claim(run: RunRecord) -> str:
    return f"{run.id} ({run.path}, pid {run.pid}) claims CPUs {run.cpus}"


def _table(plan: Plan, marked: Hint | None, mark: str) -> None:
    if not plan.hints:
        return
    say("hint  affinity and the CPUs of each thread")
    for each in plan.hints:
        said = f"  ({mark})" if each.hint == marked else ""
        say(f"{each.hint.shown:32}  {each.cores.affinity}{said}")
        for masks in _grouped(each.masks):
            say_wrapped(f"      {masks}")


def _grouped(masks: tuple[frozenset[OsIndex], ...]) -> list[str]:
    """`threads 0-3 on CPUs 0-5`: neighbours with one mask in one line."""
    lines: list[str] = []
    first = 0
    for thread in range(1, len(masks) + 1):
        if thread == len(masks) or masks[thread] != masks[first]:
            which = f"thread {first}" if thread - first == 1 else f"threads {first}-{thread - 1}"
            lines.append(f"{which} on CPUs {format_cpu_list(masks[first])}")
            first = thread
    return lines


if __name__ == "__main__":
    main()
