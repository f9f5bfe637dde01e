"""`autofinity doctor`: what this machine can measure and bind, and how to get more."""

from __future__ import annotations

import math
import os
from dataclasses import asdict
from pathlib import Path

import click

from autofinity.cli.help import Command
from autofinity.cli.options.json import json_option
from autofinity.cli.options.site import site_option, site_url
from autofinity.cli.printer import say, say_json
from autofinity.linux.capabilities import TIERS, Capability, Ladder, probe
from autofinity.linux.online import sysfs_root
from autofinity.linux.sysfs_topology import read_sysfs
from autofinity.model.errors import AutofinityError, LinuxError, TopologyError, UsageError
from autofinity.model.policy import RulePolicy
from autofinity.policy.evidence import can_ask
from autofinity.policy.files import load
from autofinity.policy.lacking import without_text
from autofinity.policy.shipped import policy_names
from autofinity.runtime.evidence import (
    HARDWARE,
    MORE_CPUS,
    STAYS,
    UNMEASURED,
    measurable,
    nothing_to_choose,
)
from autofinity.runtime.launcher import find_launcher
from autofinity.runtime.machine_facts import speeds_here
from autofinity.runtime.policies import NO_POLICY, NO_POLICY_REMEDY, chosen_policy
from autofinity.store.site_address import EXPECTED, SITE_VARIABLE, is_site, site_name
from autofinity.store.site_connection import can_open

_ASKED = "policy's needs"
_CROSS_CORE = "cross-core events"
_UNREAD = "no hardware counter can be read here"
_COUNTERS_FIRST = "hardware counters, see that line"
_NO_COUNTERS_NEEDED = (
    "hardware counters, see below; `run --hint HINT` needs none, and `run --fallback HINT` uses "
    "HINT where they are missing"
)


@click.command(cls=Command)
@click.option(
    "--measure",
    is_flag=True,
    help="Measure the speeds of caches and memory, and keep them for later runs: `advise` uses "
    "them, and so do policies of your own, no shipped one (takes seconds, on an idle machine).",
)
@click.option(
    "--site",
    is_flag=True,
    help="List the kinds of machines in the site's database instead, and which lack a policy of "
    "their own.",
)
@site_option
@click.option(
    "--policies",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Folder of the site's policies (`rebuild --each-machine`), for --site.",
)
@json_option
def command(
    measure: bool, site: bool, url: str | None, policies: Path | None, as_json: bool
) -> None:
    """Report what a run can measure and bind here, and how to enable the rest; change nothing."""
    if site:
        from autofinity.cli.doctor_site import tell_site

        if measure:
            raise UsageError("--measure is of this machine; expected it without --site")
        tell_site(site_url(url), policies, as_json)
        return
    if url is not None or policies is not None:
        raise UsageError("--db and --policies are for --site")
    if measure:
        _measure()
    ladder = probe()
    parts = (_launcher(), _choice(), _speeds(), *_policy(ladder.tier), *_site())
    found = (*_if_counted(ladder), *parts)
    from autofinity.cli.doctor_text import in_short, print_found

    if as_json:
        short = in_short(ladder.tier, {each.name: each for each in found})
        say_json(_document(ladder.tier, short, found), indent=2)
        return
    print_found(ladder.tier, found)


def _if_counted(ladder: Ladder) -> tuple[Capability, ...]:
    """Events for lines from other cores are of no use where no counter can be read."""
    known = ladder[_CROSS_CORE]
    if ladder[HARDWARE].available or not known.available:
        return ladder.capabilities
    lost = Capability(_CROSS_CORE, False, f"{known.detail}; {_UNREAD}", _COUNTERS_FIRST)
    return tuple(lost if each is known else each for each in ladder.capabilities)


def _launcher() -> Capability:
    try:
        return Capability("launcher", True, str(find_launcher()))
    except LinuxError as error:
        return Capability("launcher", False, str(error), "reinstall autofinity")


def _choice() -> Capability:
    """Whether there is anything to choose between."""
    name = "last-level caches"
    try:
        topology = read_sysfs(sysfs_root())
    except TopologyError as error:
        return Capability(name, False, str(error))
    if why := nothing_to_choose(topology, topology.allowed):
        return Capability(name, False, why, MORE_CPUS)
    count = len({topology.by_os_index[cpu].llc for cpu in topology.allowed})
    return Capability(name, True, f"CPUs of {count} are allowed")


def _measure() -> None:
    from autofinity.cli.progress import Terminal
    from autofinity.workflow.measure_speeds import measure_speeds

    _, path = measure_speeds(Terminal())
    say(f"speeds kept in {path}", err=True)


def _speeds() -> Capability:
    """Known speeds of caches and memory, for policies of any machine."""
    name = "speeds"
    try:
        speeds = speeds_here(read_sysfs(sysfs_root()))
    except TopologyError as error:
        return Capability(name, False, str(error))
    known = {key: value for key, value in asdict(speeds).items() if not math.isnan(value)}
    said = ", ".join(f"{key} {value:.4g}" for key, value in known.items()) or "none is known"
    remedy = "" if len(known) == len(asdict(speeds)) else "autofinity doctor --measure"
    return Capability(name, bool(known), said, remedy)


def _policy(tier: str) -> tuple[Capability, ...]:
    """Which policy a run that names none asks, and whether that can be answered here."""
    try:
        chosen = chosen_policy()
    except AutofinityError as error:
        return (Capability("policy", False, str(error), "see AUTOFINITY_POLICY"),)
    if chosen is None:
        return (Capability("policy", False, NO_POLICY, NO_POLICY_REMEDY),)
    said = f"{chosen.path}, {chosen.origin}"
    shown = Capability("policy", chosen.path.is_file(), said)
    try:
        policy = load(chosen.path)
    except AutofinityError as error:
        return (shown, Capability(_ASKED, False, str(error)))
    return (shown, _evidence(policy, tier), *_lacking(policy, tier))


def _site() -> tuple[Capability, ...]:
    """Whether finished runs can be sent to the site's database, where one is named."""
    value = os.environ.get(SITE_VARIABLE, "")
    if not value:
        return ()
    if not is_site(value):
        said = f"{SITE_VARIABLE} is no postgresql:// URL: runs are not sent"
        return (Capability("site's database", False, said, f"set it to {EXPECTED}"),)
    name = site_name(value)
    if not can_open():
        said = f"{name}: psycopg is missing, so that runs wait here"
        return (Capability("site's database", False, said, "pip install 'autofinity[site]'"),)
    return (Capability("site's database", True, f"{name}: finished runs are sent there"),)


def _evidence(policy: RulePolicy, tier: str) -> Capability:
    counters = ", ".join(policy.counters) or "no counter is needed"
    if can_ask(policy, measurable(tier)):
        return Capability(_ASKED, True, counters)
    return Capability(_ASKED, False, f"{UNMEASURED} ({counters}): {STAYS}", _NO_COUNTERS_NEEDED)


def _lacking(policy: RulePolicy, tier: str) -> tuple[Capability, ...]:
    """Whether each counter of the policy has an event of this CPU, which can be counted here."""
    name = "policy's counters"
    if not policy.counters:
        return ()
    counted = measurable(HARDWARE)
    missing = [counter for counter in policy.counters if counter not in counted]
    if not missing:
        detail = f"this CPU has events for {', '.join(policy.counters)}"
        if not {*policy.counters} <= measurable(tier):
            return (Capability(name, False, f"{detail}; {_UNREAD}", _COUNTERS_FIRST),)
    else:
        left = without_text(policy, missing) if can_ask(policy, counted) else STAYS
        detail = f"no event for {', '.join(missing)}: {left}"
    return (Capability(name, not missing, detail),)


def _document(tier: str, short: str, found: tuple[Capability, ...]) -> dict[str, object]:
    return {
        "summary": short,
        "tier": tier,
        "tiers": list(TIERS),
        "capabilities": [asdict(capability) for capability in found],
        "policies": list(policy_names()),
    }
