"""The policy that a command is about."""

from __future__ import annotations

import click

policy_argument = click.argument("policy", metavar="POLICY")
