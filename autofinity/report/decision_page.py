"""A decision as sections of a page: the answer, the sample against the thresholds, the rules."""

from __future__ import annotations

import math
from collections.abc import Sequence

from autofinity.affinity.hints import get_affinity
from autofinity.model.affinity import Hint
from autofinity.model.policy import RulePolicy
from autofinity.model.topology import Topology
from autofinity.policy.explain import Explanation, explanation_text
from autofinity.policy.readable import condition_text, number, percent
from autofinity.policy.sentences import sentence, value_sentence
from autofinity.report.decision_strips import decision_plot
from autofinity.report.machine_drawing import OnMachine, machine_svg
from autofinity.report.page import Block, Cell, Drawing, Folded, Section, Sentences, Table


def decision_section(
    policy: RulePolicy,
    why: Explanation,
    title: str,
    name: str,
    before: Sequence[str] = (),
    after: Sequence[str] = (),
) -> Section:
    """A section on one look of a policy. `name` is unique on the page; lines of `before` and
    `after` stand around the explanation.
    """
    said = explanation_text(policy, why).splitlines()
    blocks: list[Block] = [Sentences(tuple(before))] if before else []
    blocks.append(Sentences((*said, *after), strong=True))
    plot = decision_plot(policy, why, name)
    if plot is not None:
        blocks.append(plot)
    blocks.append(Folded("All inputs and their margins", (inputs_table(policy, why),)))
    blocks.append(Folded("All rules, in order", (rules_table(policy, why),)))
    return Section(title, tuple(blocks))


def example_section(hint: Hint, machine: str, topology: Topology, threads: int) -> Section:
    """Threads where a hint puts them on the machine that the policy was learned on.

    Raises the errors of `get_affinity`.
    """
    cores = get_affinity(topology, threads, hint)
    drawing = Drawing(
        machine_svg(topology, OnMachine.seated(cores.cpus)),
        f"An example: {threads} threads on {machine}, where the policy was learned. Threads by "
        f"socket and last-level cache are {cores.affinity}.",
    )
    return Section(f"Where {hint.shown} puts threads", (drawing,))


def inputs_table(policy: RulePolicy, why: Explanation) -> Table:
    """Every input with its measured value, and the change of it alone that would change the
    hint.
    """
    changes = {change.counter: change for change in why.margins}
    rows = []
    for name in policy.inputs:
        value, change = why.values[name], changes.get(name)
        edge = "" if change is None else f"{'>' if change.upwards else '≤'} {number(change.edge)}"
        rows.append(
            (
                Cell(name),
                Cell("not measured" if math.isnan(value) else number(value)),
                Cell(_unit(policy, name, value)),
                Cell(edge or "no value alone", tone="" if edge else "quiet"),
                Cell("" if change is None else percent(change.relative)),
                Cell("" if change is None else change.hint.shown),
            )
        )
    headings = ("input", "measured", "in words", "would have to be", "away", "then")
    return Table(headings, tuple(rows))


def rules_table(policy: RulePolicy, why: Explanation) -> Table:
    """Every rule, and which of its conditions does not hold."""
    rows = []
    decided = why.decision.rule
    for answer in why.rules:
        rule = policy.rules[answer.index]
        failing = " and ".join(map(condition_text, answer.failing))
        if answer.index == decided:
            said, tone = "decides", "good"
        elif answer.fires:
            said, tone = "holds, but an earlier rule decides", "quiet"
        else:
            said, tone = f"does not hold: {failing}", "quiet"
        where = sentence(rule) or " and ".join(map(condition_text, rule.conditions)) or "always"
        rows.append(
            (Cell(str(answer.index + 1)), Cell(where), Cell(rule.hint.shown), Cell(said, tone=tone))
        )
    said, tone = ("decides", "good") if decided is None else ("a rule decides", "quiet")
    rows.append(
        (Cell("else"), Cell("no rule holds"), Cell(policy.default.shown), Cell(said, tone=tone))
    )
    return Table(("rule", "if", "then", "here"), tuple(rows))


def _unit(policy: RulePolicy, name: str, value: float) -> str:
    if math.isnan(value):
        return "no condition on it can hold"
    if name in policy.counters:
        return "per thread and second"
    said = value_sentence(name, value)
    return "" if said == f"{value:.3g}" else said
