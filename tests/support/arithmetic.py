"""Formulas of machine files: numbers, keys, + - * / and brackets, and nothing else."""

from __future__ import annotations

import ast
import operator
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

_OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
type Numbers = NDArray[np.float64]


def calculate(formula: str, known: Mapping[str, Numbers]) -> Numbers:
    """The value of `formula` with `known` values, element by element for lists. Raises `KeyError`
    for anything else in the formula.
    """
    return _value(ast.parse(formula, mode="eval").body, known)


def _value(node: ast.AST, known: Mapping[str, Numbers]) -> Numbers:
    match node:
        case ast.BinOp(left, operation, right):
            result = _OPERATORS[type(operation)](_value(left, known), _value(right, known))
            return np.asarray(result, float)
        case ast.Name(name):
            return known[name]
        case ast.Constant(int() | float() as number):
            return np.asarray(number, float)
    raise KeyError(ast.unparse(node))
