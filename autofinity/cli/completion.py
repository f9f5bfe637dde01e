"""Completion scripts for bash, zsh and fish, by click.

    python -m autofinity.cli.completion FOLDER

writes them where these shells look below `share`, when autofinity is built. The scripts ask the
command that is being typed, so they fit every version. Nothing but click has to be installed.
"""

from __future__ import annotations

import sys
from pathlib import Path

from click.shell_completion import BashComplete, FishComplete, ShellComplete, ZshComplete

from autofinity.cli.main import cli

_PLACES: dict[type[ShellComplete], str] = {
    BashComplete: "bash-completion/completions/autofinity",
    ZshComplete: "zsh/site-functions/_autofinity",
    FishComplete: "fish/vendor_completions.d/autofinity.fish",
}


def scripts() -> dict[str, str]:
    """Each script by its place below `share`."""
    made = {}
    for kind, place in _PLACES.items():
        shell = kind(cli, {}, "autofinity", "_AUTOFINITY_COMPLETE")
        # Not `source`, which would start bash to look at its version.
        made[place] = (shell.source_template % shell.source_vars()).strip() + "\n"
        if kind is ZshComplete:
            made[place] = _autoloaded(made[place])
    return made


def _autoloaded(script: str) -> str:
    """The script as a function that zsh loads by itself.

    Such a file is the function's body at every call. Click's end of it completes at the first call
    only, and after that only registers itself.
    """
    functions, _, _ = script.partition("\nif [[ $zsh_eval_context")
    return f'{functions}\n_autofinity_completion "$@"\n'


def main() -> None:
    """Write all scripts."""
    for place, script in scripts().items():
        path = Path(sys.argv[1]) / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(script, encoding="utf-8")


if __name__ == "__main__":
    main()
