"""Filters of values, as LangGraph writes them, read as filters of the hub."""

from typing import Any

from apps.core.domain.filters.expression import EVERYTHING, AllOf, Comparison, Expression, FieldKind, Negation, Operator
from apps.core.domain.filters.parse import FilterError, read_operand, shorten

MAX_DEPTH, MAX_COMPARISONS = 8, 100
OPERATORS = {
    "$eq": Operator.EQ,
    "$gt": Operator.GT,
    "$gte": Operator.GTE,
    "$lt": Operator.LT,
    "$lte": Operator.LTE,
}


def read_filter(asked: dict[str, Any]) -> Expression:
    """Return what an object asks for of values: each member equal, or compared by operators. Raises FilterError.

    Names are taken as they are, whatever is in them. An object without operators asks the same of an object inside.
    What is missing equals null, is not equal to anything else, and is in no order.
    """
    parts = [part for name, wanted in asked.items() for part in read_member((name,), wanted)]
    if len(parts) > MAX_COMPARISONS:
        raise FilterError(f"Too many comparisons: at most {MAX_COMPARISONS}.", attr="filter")
    return AllOf(tuple(parts)) if parts else EVERYTHING


def read_member(path: tuple[str, ...], wanted: Any) -> list[Expression]:
    """Return what is asked of the member that a path leads to. Raises FilterError."""
    place = "filter." + ".".join(map(shorten, path))
    if len(path) > MAX_DEPTH:
        raise FilterError(f"Nested too deeply: at most {MAX_DEPTH} levels.", attr=place)
    if not isinstance(wanted, dict):
        return [compare(path, "$eq", wanted, place)]
    if any(name.startswith("$") for name in wanted):
        return [compare(path, name, operand, place) for name, operand in wanted.items()]
    if not wanted:
        return [compare(path, "$eq", wanted, place)]
    return [part for name, inner in wanted.items() for part in read_member((*path, name), inner)]


def compare(path: tuple[str, ...], name: str, operand: Any, place: str) -> Expression:
    """Return a comparison. Raises FilterError."""
    if name == "$ne":
        return Negation(compare(path, "$eq", operand, place))
    operator = OPERATORS.get(name)
    if operator is None:
        known = ", ".join(["$eq", "$ne", *list(OPERATORS)[1:]])
        raise FilterError(f"Unsupported operator: {shorten(name)}. Use {known}.", attr=place)
    if operand is None and operator is Operator.EQ:
        return Comparison("value", FieldKind.JSON, Operator.EXISTS, False, path)
    is_whole = operator is Operator.EQ and isinstance(operand, dict | list)
    try:
        value = operand if is_whole else read_operand(FieldKind.JSON, operator, operand)
    except ValueError as error:
        raise FilterError(str(error), attr=place) from None
    return Comparison("value", FieldKind.JSON, operator, value, path)
