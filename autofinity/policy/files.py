"""Policies as JSON files, versioned, checked field by field when read.

    {"format": "autofinity-policy", "version": 7,
     "counters": ["llc_misses", "instructions", …],
     "ratios": [{"name": "llc_misses_pki", "numerator": ["llc_misses"],
                 "denominator": ["instructions"], "scale": 1000.0},
                {"name": "packed_path_share", "numerator": ["llc_misses"],
                 "denominator": ["cycles"], "scale": 1000.0, "fact": "packed_lines_pkc"}, …],
     "cut_points": {"llc_misses_pki": [1.5, 20.0], …},
     "rules": [{"hint": "sLP", "when": [{"counter": "llc_misses_pki", "above": 1.5, "upto": null}],
                "covered": 120.0, "wrong": 3.0}, …],
     "default": "SLP",
     "second": {"sampled_in": "slP", "after": ["slP", "sLP"],
                "ratios": […], "cut_points": {…}, "rules": […], "default": "slP"},
     "trial": {"hint": "sLP", "faster": 1.01},
     "other_counts": {"cores": "{6,6}{6,6}{6,6}{6,6}",
                      "instead": [{"hint": "slP", "threads": [15, 32], "better": "Slp"}, …]},
     "provenance": {…}}

Version 1 has no ratios, version 2 no second look, version 3 no other thread counts (null: none),
version 4 no facts of the machine (`model.facts`) that a ratio is divided by, version 5 no trial
(`model.policy.Trial`; null: none), and version 6 has bounds of its speed, which are not used any
more. All versions are read.
On a machine of `cores`, an answer means the hint `better` for thread counts within `threads`. A
second look may name `start.llc_misses`, the counter's value in the first sample. A condition is
above < value <= upto, for a counter or a ratio of counters (`model.ratios`); null is an open end.
Numbers are finite: JSON has no NaN or ∞, and provenance holds them as the strings "NaN",
"Infinity", "-Infinity". The rules are those of `policies/schema/policy.schema.json`. They are
checked by hand, since the run-time monitor also reads policies and must not load a validator.
"""

from __future__ import annotations

from pathlib import Path

from autofinity.given_file import read_given
from autofinity.model.errors import PolicyError
from autofinity.model.policy import RulePolicy
from autofinity.policy.reading import LARGEST_FILE_BYTES, PolicyReader
from autofinity.whole_file import replace_file


def save(policy: RulePolicy, path: Path | str) -> None:
    """Write a policy; the file appears complete or not at all. Raises `PolicyError`."""
    write_text(path, dumps(policy))


def load(path: Path | str) -> RulePolicy:
    """Read a policy. Raises `PolicyError`, which names the file and the wrong field."""
    path = Path(path)
    try:
        data = read_given(path, LARGEST_FILE_BYTES)
    except OSError as error:
        raise PolicyError(f"cannot read the policy {path}: {error.strerror}") from error
    return loads(data, str(path))


def dumps(policy: RulePolicy) -> str:
    """A policy as JSON text. Raises `PolicyError` for a policy that `loads` would refuse."""
    from autofinity.policy.json_layout import laid_out  # not for a monitor, which only reads
    from autofinity.policy.writing import policy_document

    document = policy_document(policy)
    try:
        text = laid_out(document)
    except ValueError as error:
        raise PolicyError(f"the policy holds a number that is not finite: {error}") from error
    loads(text.encode(), "the policy to be written")
    return text


def loads(data: bytes, name: str = "the policy") -> RulePolicy:
    """A policy from JSON; `name` is for messages. Raises `PolicyError`."""
    return PolicyReader(name).policy(data)


def write_text(path: Path | str, text: str) -> None:
    """Replace a file as a whole. Raises `PolicyError`."""
    try:
        replace_file(Path(path), text)
    except OSError as error:
        raise PolicyError(f"cannot write {path}: {error.strerror}; what was there is kept") from (
            error
        )
