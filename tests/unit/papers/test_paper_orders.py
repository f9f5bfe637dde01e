"""Packed and spread beside the real machine of the AutoFinity paper (docs/policy-study.md)."""

from __future__ import annotations

from script_module import SCRIPTS, script_module

from autofinity.report.marked import between_marks

study = script_module("studies/paper_orders.py")
PAGE = SCRIPTS.parent / "docs" / "policy-study.md"


def test_the_page_has_the_orders_of_the_shipped_observations() -> None:
    text, table = PAGE.read_text(), "\n".join(study.rows(study.OBSERVATIONS))
    assert between_marks(text, "scripts/studies/paper_orders.py", table) == text
