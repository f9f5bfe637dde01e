"""`autofinity advise --html`: the advice as a page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from autofinity.cli.html_page import keep_page

if TYPE_CHECKING:
    from collections.abc import Mapping

    from autofinity.evaluation.speed_curve import Curve
    from autofinity.model.sharing import SharingMatrix
    from autofinity.workflow.advice.seen import Section, Seen


def keep_advice(
    path: Path,
    seen: Seen,
    questions: tuple[Section, ...],
    whole: SharingMatrix | None,
) -> None:
    """Write the page. `whole` is the sharing in a whole trace, where there is one."""
    from autofinity.report.advice_page import AdviceShown, Answer, advice_sections
    from autofinity.workflow.advice.placement import chosen_of

    chosen = chosen_of(seen)
    sharing, by = (whole, "Counted in all accesses of the trace.") if whole else _seen_sharing(seen)
    facts: Mapping[str, object] = next(
        (each.facts for each in questions if each.question == "expected gain"), {}
    )
    shown = AdviceShown(
        answers=tuple(Answer(each.question, each.advice, each.evidence) for each in questions),
        topology=seen.topology,
        available=seen.available,
        computing=seen.computing,
        cpus=seen.cpus,
        chosen=chosen.cores if chosen is not None else None,
        policy=seen.policy if chosen is not None else None,
        why=chosen.why if chosen is not None else None,
        gain=facts,
        timeline=seen.timeline,
        memory=seen.memory,
        touched=seen.touched,
        sharing=sharing,
        sharing_by=by,
        not_measured=seen.not_measured,
    )
    machine = seen.topology.name
    keep_page(
        path,
        f"Advice on {seen.program}",
        f"{seen.threads} threads on {machine}; nothing was bound or moved.",
        advice_sections(shown),
    )


def keep_curve(path: Path, curve: Curve) -> None:
    """Write the page of `advise --curve`."""
    from autofinity.report.curve_page import curve_sections

    keep_page(
        path,
        f"Number of {curve.counted} for {curve.program}",
        f"On {curve.machine}: {curve.advice}.",
        curve_sections(curve),
    )


def _seen_sharing(seen: Seen) -> tuple[SharingMatrix | None, str]:
    found = seen.state.sharing.among(seen.computing)
    if sum(map(sum, found.cells)) > 0:
        return found, "Seen in the accesses or page faults that were sampled."
    return None, "Sharing was not seen: `autofinity detect -- PROGRAM` records it from page faults."
