"""Whether a row in memory passes a filter: for rows in files, and to check what the database answers."""

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from apps.core.domain.filters.expression import ORDERING, AllOf, AnyOf, Comparison, Expression, FieldKind, Operator

# What PostgreSQL takes for the place of an element.
_PLACE = re.compile(r"[ \t\n\v\f\r]*[+-]?\d+", re.ASCII)
MAX_PLACE = 2**31


def matches(expression: Expression, row: Mapping[str, Any]) -> bool:
    """Return whether a row passes. row: its values by field; None, a blank text or no entry for what is missing."""
    if isinstance(expression, AllOf):
        return all(matches(part, row) for part in expression.parts)
    if isinstance(expression, AnyOf):
        return any(matches(part, row) for part in expression.parts)
    if isinstance(expression, Comparison):
        return holds(expression, row.get(expression.field))
    return not matches(expression.part, row)


def holds(comparison: Comparison, value: Any) -> bool:
    """Return whether a comparison holds for the value of its field."""
    if comparison.kind is FieldKind.JSON:
        value = follow(value, comparison.path)
    operator, asked = comparison.operator, comparison.value
    if operator is Operator.EXISTS:
        is_blank = comparison.kind is not FieldKind.JSON and value in ("", [])
        return (value is not None and not is_blank) is asked
    if value is None:
        return False
    if operator is Operator.CONTAINS:
        return isinstance(value, list) and any(are_equal(each, asked) for each in value)
    if operator is Operator.IN:
        return any(are_equal(value, each) for each in asked)
    if operator in ORDERING:
        return are_ordered(operator, value, asked)
    return are_equal(value, asked)


def follow(value: Any, path: tuple[str, ...]) -> Any:
    """Return what is found in JSON after some steps: names in objects, places in lists; None for nothing."""
    for step in path:
        if isinstance(value, dict):
            value = value.get(step)
        elif isinstance(value, list) and _PLACE.fullmatch(step) and abs(int(step)) < MAX_PLACE:
            place = int(step)
            value = value[place] if -len(value) <= place < len(value) else None
        else:
            return None
    return value


def are_equal(one: Any, other: Any) -> bool:
    """Return whether two scalars are of one type and equal; 1 and 1.0 are, 1 and true are not."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if is_number(one) and is_number(other):
        return exact(one) == exact(other)
    return type(one) is type(other) and bool(one == other)


def are_ordered(operator: Operator, one: Any, other: Any) -> bool:
    """Return whether two values of one type are in an order; texts by their code points."""
    if is_number(one) and is_number(other):
        one, other = exact(one), exact(other)
    elif type(one) is not type(other) or isinstance(one, bool | dict | list):
        return False
    match operator:
        case Operator.GT:
            return bool(one > other)
        case Operator.GTE:
            return bool(one >= other)
        case Operator.LT:
            return bool(one < other)
    return bool(one <= other)


def is_number(value: Any) -> bool:
    """Return whether a value is a number, which true and false are not."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def exact(number: float) -> Decimal:
    """Return a number as it is written, as JSON in the database keeps it."""
    return Decimal(repr(number))
