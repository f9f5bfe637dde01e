"""Pack all observations of a folder into one file: what `make observations` ships of a machine.

    python scripts/tools/pack_observations.py FOLDER MACHINE FILE [--whole COUNT…]

FOLDER is that of `autofinity profile --work`, after any number of calls with other sizes and thread
counts. Thread counts of `--whole` keep the sample periods of all runs, the others those of the
hints' best matches.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from autofinity.store.observations import read
from autofinity.workflow.observations import thread_counts_of
from autofinity.workflow.profile import keep


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("folder", type=Path)
    words.add_argument("machine")
    words.add_argument("file", type=Path)
    words.add_argument("--whole", type=int, nargs="*", default=(), metavar="COUNT")
    wanted = words.parse_args()
    table = read(wanted.folder / "observations" / wanted.machine)
    thin = [count for count in thread_counts_of(table) if count not in wanted.whole]
    kept = keep(table, wanted.file, machine=wanted.machine, packed=True, thin=thin)
    print(f"{len(kept)} observations of {len(kept.programs())} programs in {wanted.file}")


if __name__ == "__main__":
    main()
