"""Filters as conditions of the database: values are parameters of statements, names come from a fixed list."""

import json
from collections.abc import Mapping
from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.db.models import BooleanField, F, FloatField, Func, JSONField, Q, TextField, Value
from django.db.models import Expression as Sql
from django.db.models.functions import Coalesce

from apps.core.domain.filters.expression import AllOf, AnyOf, Comparison, Expression, FieldKind, Operator

# Column of a field, or what computes it.
Columns = Mapping[str, str | Sql]
NULLABLE = frozenset((FieldKind.MOMENT, FieldKind.NUMBER))
EVERY_ROW, NO_ROW = ~Q(pk__in=[]), Q(pk__in=[])
_SIGNS = {Operator.GT: ">", Operator.GTE: ">=", Operator.LT: "<", Operator.LTE: "<=", Operator.EQ: "="}


class Infix(Func):
    """Two operands and the sign between them."""

    arity = 2
    template = "(%(expressions)s)"

    def __init__(self, left: Sql | F, sign: str, right: Sql, output: Any) -> None:
        super().__init__(left, right, arg_joiner=f" {sign} ", output_field=output)


class AnyElement(Func):
    """Any element of an array, which is one parameter however many there are, and is looked up rather than walked."""

    arity = 1
    function = "ANY"


class InByteOrder(Func):
    """A text in the order of code points, whatever the locale of the database."""

    arity = 1
    template = '(%(expressions)s COLLATE "C")'
    output_field = TextField()


def condition(expression: Expression, columns: Columns) -> Q:
    """Return the condition of a filter. It is never NULL, so that `not` holds where a field is missing."""
    if isinstance(expression, AllOf):
        found = EVERY_ROW
        for part in expression.parts:
            found &= condition(part, columns)
        return found
    if isinstance(expression, AnyOf):
        found = NO_ROW
        for part in expression.parts:
            found |= condition(part, columns)
        return found
    if isinstance(expression, Comparison):
        column = columns[expression.field]
        if expression.kind is FieldKind.JSON:
            assert isinstance(column, str)
            return Q(Coalesce(json_condition(expression, column), Value(False), output_field=BooleanField()))
        return column_condition(expression, column) if isinstance(column, str) else sql_condition(expression, column)
    return ~condition(expression.part, columns)


def column_condition(comparison: Comparison, column: str) -> Q:
    """Return the condition of a comparison of a column."""
    operator, value = comparison.operator, comparison.value
    if operator is Operator.EXISTS:
        if comparison.kind is FieldKind.TEXT:
            missing = Q(**{column: ""})
        elif comparison.kind is FieldKind.TEXTS:
            missing = Q(**{column: []})
        else:
            missing = Q(**{f"{column}__isnull": True})
        return ~missing if value else missing
    if operator is Operator.CONTAINS:
        return Q(**{f"{column}__contains": [value]})
    lookup = column if operator is Operator.EQ else f"{column}__{operator.value}"
    found = Q(**{lookup: value})
    return found & Q(**{f"{column}__isnull": False}) if comparison.kind in NULLABLE else found


def sql_condition(comparison: Comparison, computed: Sql) -> Q:
    """Return the condition of a comparison of a computed number or flag that is never NULL."""
    if comparison.operator is Operator.EXISTS:
        return EVERY_ROW if comparison.value else NO_ROW
    if comparison.operator is Operator.IN:
        values = Value([float(value) for value in comparison.value], ArrayField(FloatField()))
        return Q(Infix(computed, "=", AnyElement(values), BooleanField()))
    return Q(Infix(computed, _SIGNS[comparison.operator], Value(comparison.value), BooleanField()))


def json_condition(comparison: Comparison, column: str) -> Sql:
    """Return the condition of a comparison of what a path leads to in JSON; it may be NULL."""
    steps = Value(list(comparison.path), output_field=ArrayField(TextField()))
    found = Infix(F(column), "#>", steps, JSONField())
    kind = Func(found, function="jsonb_typeof", output_field=TextField())
    operator, value = comparison.operator, comparison.value
    if operator is Operator.EXISTS:
        known = Coalesce(kind, Value("null"), output_field=TextField())
        return Infix(known, "<>" if value else "=", Value("null"), BooleanField())
    if operator is Operator.IN:
        values = Value([json.dumps(each) for each in value], ArrayField(TextField()))
        return Infix(found, "=", AnyElement(values, template="ANY((%(expressions)s)::jsonb[])"), BooleanField())
    if operator is Operator.CONTAINS:
        return both(is_of(kind, "array"), Infix(found, "@>", Value([value], JSONField()), BooleanField()))
    if operator is Operator.EQ:
        return Infix(found, "=", Value(value, JSONField()), BooleanField())
    if isinstance(value, str):
        text = InByteOrder(Infix(F(column), "#>>", steps, TextField()))
        return both(is_of(kind, "string"), Infix(text, _SIGNS[operator], Value(value), BooleanField()))
    return both(is_of(kind, "number"), Infix(found, _SIGNS[operator], Value(value, JSONField()), BooleanField()))


def is_of(kind: Sql, name: str) -> Sql:
    """Return whether a value in JSON is of a kind."""
    return Infix(kind, "=", Value(name), BooleanField())


def both(one: Sql, other: Sql) -> Sql:
    """Return whether two conditions hold."""
    return Infix(one, "AND", other, BooleanField())
