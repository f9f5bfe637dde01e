"""Programs with a line of text for each thread, for tests of effects between threads.

    written("lock 1, compute 30_000, unlock 1", "compute 10, barrier 7 2")

`compute` takes its instructions; `share` takes a lock for reading; `wait` and `post` take a token,
`barrier` its number and its participants, `begin` and `end` the instance of a work unit and its
number; `enter` and `leave` bound the region of interest. Each is one instruction, except `compute`.
"""

from __future__ import annotations

from autofinity._core.trace import TraceBuilder


def written(*threads: str) -> TraceBuilder:
    """One stream for each text."""
    builder = TraceBuilder()
    for text in threads:
        write(builder, builder.stream(), text)
    return builder


def write(builder: TraceBuilder, stream: int, text: str) -> None:
    """Append the statements of a text to a stream."""
    verbs = {
        "begin": builder.unit_begin,
        "end": builder.unit_end,
        "enter": builder.roi_begin,
        "leave": builder.roi_end,
    }
    for step in filter(None, map(str.strip, text.split(","))):
        verb, *words = step.split()
        numbers = [int(word) for word in words]
        if verb == "compute":
            builder.compute(stream, gap=numbers[0])
        elif verb == "share":
            builder.lock(stream, numbers[0], shared=True)
        else:
            (verbs.get(verb) or getattr(builder, verb))(stream, *numbers)
