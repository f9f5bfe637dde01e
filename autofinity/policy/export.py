"""A policy in other forms: `exported(policy, format)` gives the text of a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from autofinity.model.errors import ExportError, UnknownFormatError
from autofinity.model.policy import RulePolicy
from autofinity.policy import files
from autofinity.policy.export_c import c_header
from autofinity.policy.export_markdown import markdown
from autofinity.policy.export_python import python_module
from autofinity.policy.export_sql import sql_expression
from autofinity.policy.readable import policy_text

DEFAULT_PREFIX = "autofinity"


type Write = Callable[[RulePolicy, str], str]
"""(policy, prefix) → the text of a file. `prefix` goes before every name in a C header, so that
several policies fit into one program."""


@dataclass(frozen=True, slots=True)
class _Nameless:
    """Writer of a form that has no names for a prefix."""

    write: Callable[[RulePolicy], str]

    def __call__(self, policy: RulePolicy, prefix: str) -> str:
        del prefix
        return self.write(policy)


@dataclass(frozen=True, slots=True)
class Format:
    """A form that policies can be written in."""

    about: str
    write: Write
    decides: bool = False
    """Whether the exported form decides by itself, where nothing of autofinity knows the
    machine."""

    @property
    def has_names(self) -> bool:
        """Whether a prefix goes before any name."""
        return not isinstance(self.write, _Nameless)


FORMATS: Mapping[str, Format] = {
    "c": Format("a header for C99 and C++", c_header, True),
    "json": Format("as it is stored", _Nameless(files.dumps)),
    "text": Format("as `show` prints it", _Nameless(policy_text)),
    "python": Format("a module without dependencies", _Nameless(python_module), True),
    "sql": Format("an expression over a table of samples", _Nameless(sql_expression), True),
    "markdown": Format("for a report", _Nameless(markdown)),
}


def format_of(form: str) -> Format:
    """The format of this name. Raises `UnknownFormatError`."""
    if form not in FORMATS:
        raise UnknownFormatError(f"format {form!r}: expected one of {', '.join(FORMATS)}")
    return FORMATS[form]


def exported(policy: RulePolicy, form: str, prefix: str = DEFAULT_PREFIX) -> str:
    """The policy in a format of `FORMATS`. Raises `ExportError`, and `PolicyError` for a policy
    that no file can hold, so no exporter has to check for such a policy.
    """
    wanted = format_of(form)
    if policy.facts and wanted.decides:
        raise ExportError(
            f"the policy needs facts of the machine ({', '.join(policy.facts)}), which {form} "
            "cannot hold; name the machine and the number of threads (--machine, --threads)"
        )
    files.dumps(policy)
    return wanted.write(policy, prefix)
