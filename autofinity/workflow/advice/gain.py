"""Expected gain of the placement: the gain of training programs under the same rule.

    policy ─► learned_from ─► cases under the rule ─► worth ─► expected gain

A policy's file has no times. The observations that it was learned from have, and they are shipped
with a shipped policy: the same rule is asked of each program's sample there. The reported gain is
that of the last placement, after the second look where the policy takes one, since nobody stays
where the first look says. The gain of each answer of a second look is reported apart. Cases
without a run under the operating system count for the gain over spread threads alone.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from autofinity.evaluation.bootstrap import TOO_FEW
from autofinity.evaluation.times import geometric_mean
from autofinity.evaluation.under_rule import Fell
from autofinity.model.affinity import Hint
from autofinity.model.errors import AutofinityError
from autofinity.model.policy import RulePolicy, SecondLook
from autofinity.policy.readable import number
from autofinity.workflow.advice.learned_from import learned_from
from autofinity.workflow.advice.placement import Chosen
from autofinity.workflow.advice.seen import Section, Seen
from autofinity.workflow.advice.worth import (
    OS,
    SPREAD,
    Worth,
    by_program,
    programs_of,
    with_os,
    worth_of,
)

_QUESTION = "expected gain"


def gain(seen: Seen, chosen: Chosen | None) -> Section:
    """Expected gain over the system's own placement, with its interval."""
    if chosen is None or seen.policy is None:
        return _unknown("nothing was decided", (), {})
    decision, possible = chosen.why.decision, chosen.why.possible
    if len(possible.rules) > 1:
        why = f"{possible.lacking_text} was not measured, so which rule decides is not known"
        return _unknown(why, (), {})
    rule = None if decision.rule is None else seen.policy.rules[decision.rule]
    weights, facts = _weights(seen.policy, decision.rule)
    general = seen.learned or seen.policy
    try:
        learned = learned_from(general)
    except AutofinityError as error:
        return _unknown(f"the policy's file has no times, and {error}", weights, facts)
    fell = learned.under(rule, seen.kind)
    if not fell:
        return _unknown("no training program fell under this rule", weights, facts)
    by = "the default" if decision.rule is None else f"rule {decision.rule + 1}"
    second = general.second_after(decision.hint)  # facts that are not known here are there
    answers = _answers(fell, second)
    known = with_os(fell)
    over_os, over_spread = worth_of(fell, OS), worth_of(fell, SPREAD)
    programs = programs_of(fell)
    evidence = (
        f"{len(programs)} of the programs that the policy was learned from fell under {by}: "
        f"{', '.join(programs)}",
        f"cases: {len(fell)}, {_where(fell)}, {_counts_line(fell, seen.threads)}",
        *_answer_lines(answers, second),
        *_spread(known),
        f"over the same program spread (SLP), of all cases: {_times(over_spread)}",
        *_left_out(fell, known),
        _lost(fell),
        "the rule was learned from these programs; `autofinity evaluate` judges by unseen ones",
        *weights,
    )
    facts |= {
        **_figures(over_os, "gain", "interval"),
        **_figures(over_spread, "gain_over_spread", "interval_over_spread"),
        "gains": {
            program: geometric_mean(one.case.against(OS) for one in cases)
            for program, cases in by_program(known).items()
        },
        "regrets": _regrets(fell),
        "machines": _machines(fell),
        "threads": _thread_counts(fell),
        "cases": len(fell),
        "cases_without_os": len(fell) - len(known),
        "answers": [_answer_facts(hint, some) for hint, some in answers.items()],
        "why_not": None if known else _NO_OS,
    }
    return Section(_QUESTION, _advice(over_os, over_spread), evidence, facts)


_NO_OS = "no run of them under the operating system was observed"


def _advice(over_os: Worth | None, over_spread: Worth | None) -> str:
    if over_os is None:
        also = f"over spread (SLP) {_times(over_spread)}"
        return f"not known over the operating system; {also}"
    said = f"{_interval(over_os)}, 95 % by bootstrap over programs" if over_os.interval else TOO_FEW
    return f"{over_os.value:.2f} times the speed under the operating system ({said})"


def _answers(fell: Sequence[Fell], second: SecondLook | None) -> dict[str, list[Fell]]:
    """Answers of a second look, with the cases of each."""
    if second is None:
        return {}
    words = dict.fromkeys((*second.policy.last_words, *(one.answer for one in fell)))
    return {str(word): [one for one in fell if one.answer == word] for word in words}


def _answer_lines(answers: dict[str, list[Fell]], second: SecondLook | None) -> tuple[str, ...]:
    if second is None:
        return ()
    where = second.sampled_in.shown
    lines = [f"a run looks again in {where}; its answers for these programs, and their gain:"]
    for hint, some in answers.items():
        count = f"cases: {len(some)}, programs: {len(programs_of(some))}"
        gain = f"; {_times(worth_of(some, OS))}" if some else ""
        lines.append(f"  {Hint.from_letters(hint).shown}: {count}{gain}")
    return tuple(lines)


def _answer_facts(hint: str, fell: Sequence[Fell]) -> dict[str, object]:
    return {
        "hint": hint,
        "cases": len(fell),
        "programs": programs_of(fell),
        **_figures(worth_of(fell, OS), "gain", "interval"),
        **_figures(worth_of(fell, SPREAD), "gain_over_spread", "interval_over_spread"),
    }


def _figures(worth: Worth | None, value: str, interval: str) -> dict[str, object]:
    if worth is None:
        return {value: None, interval: None}
    return {value: worth.value, interval: list(worth.interval) if worth.interval else None}


def _times(worth: Worth | None) -> str:
    if worth is None:
        return "not known"
    interval = f" ({_interval(worth)})" if worth.interval else ""
    return f"{worth.value:.2f} times the speed{interval}"


def _interval(worth: Worth) -> str:
    assert worth.interval is not None
    low, high = worth.interval
    return f"{low:.2f} to {high:.2f}"


def _machines(fell: Sequence[Fell]) -> list[str]:
    return sorted({one.machine for one in fell})


def _where(fell: Sequence[Fell]) -> str:
    machines = _machines(fell)
    if len(machines) == 1:
        return f"on {machines[0]}"
    return f"on {len(machines)} machines: {', '.join(machines)}"


def _thread_counts(fell: Sequence[Fell]) -> list[int]:
    return sorted({one.case.workload.threads for one in fell})


def _counts_line(fell: Sequence[Fell], threads: int) -> str:
    """Thread counts of the cases, and whether they say anything of `threads`."""
    counts = _thread_counts(fell)
    said = f"with {', '.join(map(str, counts))} threads"
    return said if threads <= counts[-1] else f"{said}; none has as many as {threads}"


def _spread(known: Sequence[Fell]) -> tuple[str, ...]:
    gains = [one.case.against(OS) for one in known]
    if not gains:
        return ()
    return (f"time under the system over time as advised: {min(gains):.2f} to {max(gains):.2f}",)


def _left_out(fell: Sequence[Fell], known: Sequence[Fell]) -> tuple[str, ...]:
    without = len(fell) - len(known)
    if not without:
        return ()
    return (
        f"cases without a run under the operating system: {without}; they do not count for the "
        "gain over it",
    )


def _regrets(fell: Sequence[Fell]) -> dict[str, float]:
    return {
        program: max(one.case.regret for one in cases)
        for program, cases in by_program(fell).items()
    }


def _lost(fell: Sequence[Fell]) -> str:
    regrets = _regrets(fell)
    worst = max(regrets, key=lambda program: regrets[program])
    middle = statistics.median(one.case.regret for one in fell)
    return (
        f"lost against the best hint: {middle:.1%} (median), {regrets[worst]:.1%} at most ({worst})"
    )


def _weights(policy: RulePolicy, rule: int | None) -> tuple[tuple[str, ...], dict[str, object]]:
    if rule is None:
        return ("the default decided, for which a policy has no weights",), {"rule": None}
    said = policy.rules[rule]
    facts: dict[str, object] = {"rule": rule, "covered": said.covered, "wrong": said.wrong}
    line = (
        f"rule {rule + 1} covers a weight of {number(said.covered)} of the training cases, "
        f"{number(said.wrong)} of it wrongly"
    )
    return (line,), facts


def _unknown(why: str, evidence: tuple[str, ...], facts: dict[str, object]) -> Section:
    nothing: dict[str, object] = {"gain": None, "interval": None, "why_not": why}
    return Section(_QUESTION, "not known", (why, *evidence), {**facts, **nothing})
