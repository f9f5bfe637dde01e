"""All that is learned and shipped, made anew: observations, policies, headers, and their figures.

    python scripts/policies.py [MACHINE…] [--root DIR] [--work DIR] [-- option of profile …]

For each machine (default: every preset) these commands of autofinity run one after the other:

    profile ─► observations (packed) ─► rules ─► export ─► evaluate ─► policies/README.md

Hours for all of them; an interrupted call goes on where it stopped, as long as WORK stays. What
follows `--` is given to `profile` as well (`--size tiny --program pricer`), to try it out in a DIR
of its own.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parents[1]
DEFAULT = (
    "opteron-6164he"  # the paper's machine: its policy is the one `run` takes when none is named
)
BEGIN, END = "<!-- begin: scripts/policies.py -->", "<!-- end: scripts/policies.py -->"
HEAD = (
    "| policy | machine | learned from | rules | interesting cases won | of the oracle "
    "| × packed | × distributed |\n|---|---|---|---|---|---|---|---|"
)


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("machines", nargs="*", metavar="MACHINE")
    words.add_argument("--root", type=Path, default=HERE, help="where data/ and policies/ are")
    words.add_argument("--work", type=Path, default=HERE / "build" / "policies")
    own, more = split(sys.argv[1:])
    wanted = words.parse_args(own)
    machines = wanted.machines or presets(HERE / "data" / "machines")
    for machine in machines:
        make(machine, wanted.root, wanted.work, more)
    readme = wanted.root / "policies" / "README.md"
    readme.write_text(with_figures(readme.read_text(), figures(wanted.root, wanted.work)))
    print(f"figures kept in {readme}")


def split(words: list[str]) -> tuple[list[str], list[str]]:
    """What is before and what is behind `--`."""
    at = words.index("--") if "--" in words else len(words)
    return words[:at], words[at + 1 :]


def presets(folder: Path) -> list[str]:
    """Names of the preset machines, the default one first."""
    names = sorted(path.stem for path in folder.glob("*.toml"))
    return sorted(names, key=lambda name: name != DEFAULT)


def make(machine: str, root: Path, work: Path, more: list[str]) -> None:
    """Observations, policy, header and evaluation of one machine."""
    observations = root / "data" / "observations" / f"{machine}.parquet"
    policy = root / "policies" / f"{'default' if machine == DEFAULT else machine}.json"
    campaign = ("--machine", machine, "--threads", "8", "--affinities", "all")
    autofinity("profile", *campaign, "--work", work, "-o", observations, "--pack", *more)
    autofinity("rules", observations, "--machine", machine, "-o", policy)
    autofinity("export", policy, "--format", "c", "-o", policy.with_suffix(".h"))
    judged = ("--machine", machine, "--observations", observations, "--json")
    said = autofinity("evaluate", *judged, stdout=subprocess.PIPE)
    evaluation_of(work, policy).write_text(said)


def autofinity(*words: str | Path, stdout: int | None = None) -> str:
    """Run one command, shown first; ends the program when it fails."""
    print("$ autofinity", *words, flush=True)
    done = subprocess.run(
        [sys.executable, "-m", "autofinity", *map(str, words)], stdout=stdout, text=True
    )
    if done.returncode:
        sys.exit(done.returncode)
    return done.stdout or ""


def evaluation_of(work: Path, policy: Path) -> Path:
    return work / f"{policy.stem}.evaluation.json"


def figures(root: Path, work: Path) -> str:
    """One row for each policy that has been made, the default one first."""
    policies = sorted((root / "policies").glob("*.json"), key=lambda path: path.stem != "default")
    rows = [row(path, evaluation_of(work, path)) for path in policies]
    return "\n".join([HEAD, *rows])


def row(policy: Path, evaluation: Path) -> str:
    learned = json.loads(policy.read_text())
    made_of: Any = learned["provenance"]
    summary: Any = json.loads(evaluation.read_text())["summary"]
    programs = made_of["observations"]["programs"]
    return " | ".join(
        (
            f"| `{policy.name}`",
            f"`{made_of['machine']}`, simulated",
            f"{len(programs)} training programs, 8 threads",
            str(len(learned["rules"])),
            f"{summary['wins']} of {summary['interesting']}",
            f"{summary['oracle_ratio']:.3f}",
            f"{summary['packed_ratio']:.2f}",
            f"{summary['distributed_ratio']:.2f} |",
        )
    )


def with_figures(text: str, table: str) -> str:
    """`text` with the table between its two marks."""
    before, _, rest = text.partition(BEGIN)
    _, mark, after = rest.partition(END)
    if not mark:
        sys.exit(f"policies/README.md lacks the lines {BEGIN} and {END}")
    return f"{before}{BEGIN}\n{table}\n{END}{after}"


if __name__ == "__main__":
    main()
