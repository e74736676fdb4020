"""Filters as values: comparisons of fields, and what joins them (docs/reference/api-conventions.md)."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class FieldKind(StrEnum):
    """What a field holds, which decides how it can be compared."""

    TEXT = "text"
    NUMBER = "number"
    MOMENT = "moment"
    FLAG = "flag"
    ID = "id"
    TEXTS = "texts"
    JSON = "json"


class Operator(StrEnum):
    """How a field is compared with a value."""

    EQ = "eq"
    IN = "in"
    GT = "gt"
    GTE = "gte"
    LT = "lt"
    LTE = "lte"
    EXISTS = "exists"
    CONTAINS = "contains"


ORDERING = frozenset((Operator.GT, Operator.GTE, Operator.LT, Operator.LTE))
OPERATORS: Mapping[FieldKind, frozenset[Operator]] = {
    FieldKind.TEXT: frozenset((Operator.EQ, Operator.IN, Operator.EXISTS)),
    FieldKind.ID: frozenset((Operator.EQ, Operator.IN)),
    FieldKind.FLAG: frozenset((Operator.EQ,)),
    FieldKind.NUMBER: frozenset((Operator.EQ, Operator.IN, Operator.EXISTS)) | ORDERING,
    FieldKind.MOMENT: frozenset((Operator.EQ, Operator.EXISTS)) | ORDERING,
    FieldKind.TEXTS: frozenset((Operator.CONTAINS, Operator.EXISTS)),
    FieldKind.JSON: frozenset(Operator),
}


@dataclass(frozen=True)
class Comparison:
    """A field compared with a value. path: the steps into a JSON field, empty for others.

    value: of the type of the field; a tuple for `in`, a bool for `exists`.
    """

    field: str
    kind: FieldKind
    operator: Operator
    value: Any
    path: tuple[str, ...] = ()


@dataclass(frozen=True)
class AllOf:
    """Holds where every part holds, so also without parts."""

    parts: tuple["Expression", ...]


@dataclass(frozen=True)
class AnyOf:
    """Holds where a part holds, so not without parts."""

    parts: tuple["Expression", ...]


@dataclass(frozen=True)
class Negation:
    """Holds where the other does not: also where a field is missing that the other asks for."""

    part: "Expression"


def names_field(expression: "Expression", field: str) -> bool:
    """Return whether a filter asks for a field."""
    if isinstance(expression, Comparison):
        return expression.field == field
    parts = (expression.part,) if isinstance(expression, Negation) else expression.parts
    return any(names_field(part, field) for part in parts)


def constant_value(expression: "Expression") -> bool | None:
    """Return whether a filter holds for every row (true) or for none (false); None where it depends on the row."""
    if isinstance(expression, Comparison):
        return False if expression.operator is Operator.IN and not expression.value else None
    if isinstance(expression, Negation):
        inner = constant_value(expression.part)
        return None if inner is None else not inner
    decisive, parts = isinstance(expression, AnyOf), [constant_value(part) for part in expression.parts]
    if decisive in parts:
        return decisive
    return None if None in parts else not decisive


Expression = Comparison | AllOf | AnyOf | Negation
EVERYTHING = AllOf(())
