"""Why a policy file cannot be used, for `run`: its launcher knows that the file is damaged, and
calls this module, which is no command, for the words that `show` has.
"""

from __future__ import annotations

import sys
from pathlib import Path

from autofinity.cli.printer import say
from autofinity.foreign_text import one_line
from autofinity.model.errors import AutofinityError
from autofinity.runtime.policies import read_policy


def main() -> None:
    """Print the error of the file in the first argument; nothing where it has none."""
    try:
        read_policy(Path(sys.argv[1]))
    except AutofinityError as error:
        say(one_line(str(error)))


if __name__ == "__main__":
    main()
