"""`autofinity explain POLICY --sample …`: the answer of a policy, as text, JSON and a page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from autofinity.cli.printer import say_json, say_wrapped

if TYPE_CHECKING:
    from autofinity.model.affinity import Hint
    from autofinity.model.policy import RulePolicy, SecondLook
    from autofinity.policy.answers import Steps
    from autofinity.policy.explain_steps import ExplainedStep
    from autofinity.report.page import Section


@dataclass(frozen=True, slots=True)
class Answered:
    """Answer of a policy to the given samples: the first look, and a second and a trial where these
    were asked for and given.
    """

    policy: RulePolicy
    found: Steps
    explained: tuple[ExplainedStep, ...]
    lacking: tuple[str, ...]
    """Facts of the machine that the policy asks for and that are not known."""
    impossible: tuple[str, ...]
    """Lines on shares above 1 in the samples."""

    @property
    def first(self) -> ExplainedStep:
        """The first look."""
        return self.explained[0]

    @property
    def again(self) -> ExplainedStep | None:
        """The second look, where it was taken."""
        return self.explained[1] if len(self.explained) > 1 else None

    @property
    def trial(self) -> ExplainedStep | None:
        """The trial, where there was one."""
        return self.explained[2] if len(self.explained) > 2 else None

    @property
    def second(self) -> SecondLook | None:
        """The second question to the policy; None: the first answer is final."""
        return self.policy.second_after(self.first.step.decision.hint)

    @property
    def final(self) -> Hint | None:
        """The final answer; None: there is none yet."""
        from autofinity.policy.possible import open_step

        decided = self.found.final and open_step(self.found) is None
        return self.found.steps[-1].decision.hint if decided else None


def answer(
    policy: RulePolicy,
    first: Mapping[str, float],
    second: Mapping[str, float],
    trial: Mapping[str, float],
) -> Answered:
    """Ask the policy. `first` has facts of the machine, too; an empty sample was not given."""
    from autofinity.policy.answers import Given
    from autofinity.policy.explain_steps import explain_steps
    from autofinity.policy.impossible import impossible_lines
    from autofinity.policy.on_machine import on_machine

    facts = {name: first[name] for name in policy.facts if name in first}
    counts = {name: value for name, value in first.items() if name not in facts}
    here = on_machine(policy, facts)
    found, explained = explain_steps(Given(here, counts, second or None, trial or None))
    again = () if here.second is None else impossible_lines(here.second.policy, second)
    wrong = dict.fromkeys((*impossible_lines(here, counts), *again))
    lacking = tuple(name for name in policy.facts if name not in facts)
    return Answered(here, found, explained, lacking, tuple(wrong))


def tell_answer(answered: Answered, *, as_json: bool) -> None:
    """Print the answer, and why it is so."""
    from autofinity.policy.explain import away_legend
    from autofinity.policy.explain_steps import answer_first, first_lines, later_lines

    if as_json:
        say_json(_document(answered))
        return
    policy, found, why = answered.policy, answered.found, answered.first.why
    later = later_lines(policy, found, answered.explained, lambda sample: f"--{sample}")
    said = first_lines(policy, why, alone=not later)
    last = answer_first(found, found.steps[-1].decision.hint)
    legend = [f"  {line}" if later else line for line in away_legend(said)]  # where first used
    after = [f"  {line}" for line in away_legend(later)] if not legend else []
    say_wrapped(*last, *said, *legend, *_wishes(answered), *later, *after)


def _document(answered: Answered) -> dict[str, object]:
    from autofinity.policy.explain import explanation_data
    from autofinity.policy.explain_steps import trial_data

    policy, second, again, tried = (
        *(answered.policy, answered.second),
        *(answered.again, answered.trial),
    )
    tries = policy.trial if again and (answered.found.awaits or tried) else None
    return {
        **explanation_data(policy, answered.first.why),
        "impossible": list(answered.impossible),
        "asks_again_in": None if second is None else str(second.sampled_in),
        "second": None if again is None else explanation_data(again.step.asked, again.why),
        "tries": None if tries is None else str(tries.hint),
        "trial": trial_data(policy.trial, tried) if policy.trial and tried else None,
        "final": None if answered.final is None else str(answered.final),
    }


def _wishes(answered: Answered) -> list[str]:
    """Values that a sound decision still needs, or that cannot be."""
    lines = [*answered.impossible]
    if answered.lacking:
        lines.append(
            f"facts of the machine that are not known: {', '.join(answered.lacking)}; no rule with "
            "these facts holds"
        )
    why = answered.first.why
    if not why.possible.decided:  # of a run there is nothing more to give
        lines.append(f"give {why.possible.lacking_text} with --sample for a decision")
    return lines


def keep_answer(path: Path, name: str, answered: Answered) -> None:
    """Write the page of the answer of the policy `name`."""
    from autofinity.cli.html_page import keep_page
    from autofinity.policy.readable import policy_text, second_text
    from autofinity.report.decision_page import decision_section
    from autofinity.report.page import Folded, Section, Sentences

    policy, why, second, again = (
        *(answered.policy, answered.first.why),
        *(answered.second, answered.again),
    )
    sections = [decision_section(policy, why, "The decision", "look-1", after=_wishes(answered))]
    last = why.decision
    if second is not None:
        title = second_text(second)
        title = title[:1].upper() + title[1:]
        if again is None:
            lines = ("The answer is not final. Give a sample in this placement with --second.",)
            sections.append(Section(title, (Sentences(lines),)))
        else:
            sections.append(decision_section(second.policy, again.why, title, "look-2"))
            last = again.why.decision
    shown = _example(last.hint, policy)
    sections += [shown] if shown is not None else []
    whole = Sentences(tuple(policy_text(policy).splitlines()))
    sections.append(Section("The policy", (Folded("The whole policy", (whole,)),)))
    ends = "." if second is None or again is not None else ", until the next sample."
    keep_page(
        path,
        f"Policy {name}: answer for a sample",
        f"The policy chooses {last.hint.shown}{ends}",
        sections,
    )


_EXAMPLE_THREADS = 8


def _example(hint: Hint, policy: RulePolicy) -> Section | None:
    """The hint on the machine that the policy was learned on; None: the policy does not say."""
    from autofinity.model.errors import AutofinityError
    from autofinity.report.decision_page import example_section
    from autofinity.sim.preset import preset_names
    from autofinity.workflow.backends import machine_topology

    machine, counts = policy.provenance.get("machine"), policy.provenance.get("threads")
    if machine not in preset_names() or not isinstance(counts, list | tuple) or not counts:
        return None
    threads = _EXAMPLE_THREADS if _EXAMPLE_THREADS in counts else counts[0]
    try:
        return example_section(hint, str(machine), machine_topology(str(machine)), int(threads))
    except (AutofinityError, TypeError, ValueError):  # what a file says need not fit
        return None
