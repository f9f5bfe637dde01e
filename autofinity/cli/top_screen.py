"""The live view on a terminal: its whole screen, redrawn at each look and key.

Looks and refreshes take at most a hundredth of a CPU (`LookBudget`): with very many threads
looks come less often than asked for.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from autofinity.cli.printer import page
from autofinity.cli.top_keys import Keyboard, keyboard
from autofinity.foreign_text import one_line
from autofinity.linux.look_budget import LookBudget
from autofinity.model.topology import Topology
from autofinity.report.live_browsing import Browsing
from autofinity.report.live_view import STYLES, View, fitted, runs_view, threads_view
from autofinity.runtime.runs_now import RunSeen, RunsWatcher
from autofinity.store.behaviour_rows import RunRecord

if TYPE_CHECKING:
    from rich.live import Live
    from rich.text import Text

_ENDED_STAYS_S = 5.0
"""Time for which a run that has ended stays on the screen."""
_SAVED_NS = 50_000_000
"""CPU time that looks may take at once; in the long run they take a hundredth of a CPU."""


class Screen:
    """Looks at runs every `delay_s` seconds, and shows them until `q` is pressed."""

    def __init__(
        self,
        watcher: RunsWatcher,
        topology: Topology,
        database: str,
        decide: Callable[[RunRecord], str],
        delay_s: float,
        opened: int | None = None,
    ) -> None:
        """`decide` gives the decision about a run in one line; run `opened` is shown first."""
        self._watcher = watcher
        self._topology = topology
        self._database = database
        self._decide = decide
        self._delay_s = delay_s
        self._place = Browsing(opened, opened=opened is not None)
        self._runs: tuple[RunSeen, ...] = ()
        self._ended: list[tuple[float, RunSeen]] = []
        self._decisions: dict[object, str] = {}

    def show(self) -> None:
        """Show the view; the terminal is as before afterwards, whatever ends it."""
        from rich.live import Live

        console = page(wide=False)
        with (
            keyboard() as keys,
            Live(
                console=console,
                screen=True,
                auto_refresh=False,
                redirect_stdout=False,
                redirect_stderr=False,
            ) as live,
        ):
            budget = LookBudget(_SAVED_NS, time.monotonic_ns())
            due_s = time.monotonic()
            while True:
                now_s, cpu_ns = time.monotonic(), time.process_time_ns()
                looks = now_s >= due_s
                if looks:
                    self._look(now_s)
                live.update(self._drawn(*console.size), refresh=True)
                budget.spend(time.process_time_ns() - cpu_ns)
                if looks:
                    rest_s = budget.rest_ns(time.monotonic_ns()) / 1e9
                    due_s = time.monotonic() + max(self._delay_s, rest_s)
                for key in keys.wait(due_s - time.monotonic()):
                    if key == "quit":
                        return
                    if key == "suspend":
                        _suspend(keys, live)
                    if key == "resume":  # also after `kill -STOP`, which nobody notices
                        keys.begin()
                        console.set_alt_screen(True)
                    self._place = self._place.after(key, *self._extent())

    def _look(self, now_s: float) -> None:
        found = self._watcher.look(self._place.run)
        self._ended += [(now_s, seen) for seen in found if not seen.alive]
        self._ended = [each for each in self._ended if now_s - each[0] < _ENDED_STAYS_S]
        self._runs = (
            *(seen for seen in found if seen.alive),
            *(seen for _, seen in self._ended),
        )
        self._place = self._place.among(*self._extent())

    def _extent(self) -> tuple[Sequence[int], int]:
        """Numbers of the runs, and how many threads the selected one has."""
        chosen = self._chosen()
        return [seen.run.id for seen in self._runs], len(chosen.threads) if chosen else 0

    def _chosen(self) -> RunSeen | None:
        return next((seen for seen in self._runs if seen.run.id == self._place.run), None)

    def _drawn(self, width: int, height: int) -> Text:
        from rich.text import Text

        view, row = self._view()
        lines = fitted(view, width, max(1, height - 1), row)
        trouble = self._watcher.trouble
        said = one_line(str(trouble)) if trouble is not None else self._keys()
        lines.append(fitted(View((said,), (), ()), width)[0])
        picture = Text(no_wrap=True, overflow="crop")
        for at, line in enumerate(lines[:height]):
            picture.append("\n" * (at > 0))
            last = at == len(lines) - 1
            picture.append(line.text, STYLES.get("keys" if last else line.style, ""))
        return picture

    def _view(self) -> tuple[View, int | None]:
        chosen = self._chosen()
        if chosen is not None and self._place.opened:
            decision = self._decision(chosen)
            return threads_view(chosen, self._topology, decision), self._place.row
        row = self._runs.index(chosen) if chosen is not None else None
        return runs_view(self._runs, self._topology, self._database), row

    def _decision(self, seen: RunSeen) -> str:
        """Decision of a run, worked out once for each state of its record."""
        run = seen.run
        state = (run.id, run.phase, run.hint, run.notes, tuple(run.sample.items()))
        if state not in self._decisions:
            self._decisions = {state: self._decide(run)}
        return self._decisions[state]

    def _keys(self) -> str:
        rest = "esc: all runs" if self._place.opened else "enter: threads"
        return f"q: quit  up, down: select  {rest}  (every {self._delay_s:g} s)"


def _suspend(keys: Keyboard, live: Live) -> None:
    """Stop as Ctrl-Z asks, on the terminal as it was; go on where the view was left."""
    live.stop()
    keys.restore()
    os.kill(os.getpid(), signal.SIGSTOP)
    keys.begin()
    live.start()
