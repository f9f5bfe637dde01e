"""Formulas of machine files: numbers, keys, + - * / and brackets, and nothing else."""

from __future__ import annotations

import ast
import operator
from collections.abc import Mapping

_OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


def calculate(formula: str, known: Mapping[str, float]) -> float:
    """What `formula` gives with `known` values. Raises `KeyError` for anything else in it."""
    return _value(ast.parse(formula, mode="eval").body, known)


def _value(node: ast.AST, known: Mapping[str, float]) -> float:
    match node:
        case ast.BinOp(left, operation, right):
            return float(_OPERATORS[type(operation)](_value(left, known), _value(right, known)))
        case ast.Name(name):
            return known[name]
        case ast.Constant(int() | float() as number):
            return float(number)
    raise KeyError(ast.unparse(node))
