"""The id of a running process."""

from __future__ import annotations

from typing import Any

import click


class Pid(click.IntRange):
    """A number, at least 1; a refusal says that a pid is expected."""

    name = "pid"

    def __init__(self) -> None:
        super().__init__(min=1)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number. Raises `click.BadParameter`."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            self.fail(f"{value!r}: expected a pid, the number of a process", param, ctx)
