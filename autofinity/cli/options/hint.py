"""A hint on the command line: its name or its letters, completed by the shell."""

from __future__ import annotations

import click
from click.shell_completion import CompletionItem

from autofinity.model.affinity import HINTS, Hint
from autofinity.model.errors import UsageError


def hint_of(text: str) -> Hint:
    """The hint written `text`. Raises `UsageError` naming all eight."""
    try:
        return Hint.parse(text)
    except ValueError as error:
        raise UsageError(str(error)) from None


def completed(incomplete: str) -> list[CompletionItem]:
    """Names and letters that begin so, names first; each with the other for its help."""
    names = [CompletionItem(hint.name, help=str(hint)) for hint in HINTS]
    letters = [CompletionItem(str(hint), help=hint.name) for hint in HINTS]
    begun = incomplete.lower()
    return [item for item in names if item.value.startswith(begun)] + [
        item for item in letters if item.value.startswith(incomplete)
    ]


class HintType(click.ParamType):  # type: ignore[type-arg]  # generic since click 8.3
    """Click's type for an option that is a hint."""

    name = "hint"

    def convert(
        self, value: str | Hint, param: click.Parameter | None, ctx: click.Context | None
    ) -> Hint:
        """The hint written `value`. Raises `UsageError`."""
        del param, ctx
        return value if isinstance(value, Hint) else hint_of(value)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Names and letters."""
        del ctx, param
        return completed(incomplete)


class LettersOf(click.Choice):  # type: ignore[type-arg]  # as above
    """Click's type for an option that is a word or the letters of a hint: some hints are allowed,
    and a hint's name stands for its letters.
    """

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The word, or the letters. Raises `UsageError`."""
        if value in self.choices:
            return value
        hint = hint_of(value)
        if str(hint) not in self.choices:
            self.fail(f"{hint.shown} is not allowed here; expected {self._expected()}", param, ctx)
        return str(hint)

    def _expected(self) -> str:
        words = [word for word in self.choices if word not in map(str, HINTS)]
        return ", ".join([*words, *(hint.shown for hint in HINTS if str(hint) in self.choices)])


HINT = HintType()
