"""The columns of events that filters ask for, in statements that are written out."""

from typing import Any

from django.core.exceptions import EmptyResultSet, FullResultSet

from apps.core.db.filters import condition
from apps.core.domain.filters.expression import EVERYTHING, Expression
from apps.episodic.domain.filters import EVENT_FIELDS
from apps.episodic.models.event import TimelineEvent

COLUMNS = {name: "uuid" if name == "id" else name for name in EVENT_FIELDS}


def filter_sql(asked: Expression) -> tuple[str, dict[str, Any]]:
    """Return the condition that a filter asks of rows called `e`, and its parameters by name."""
    if asked == EVERYTHING:
        return "TRUE", {}
    rows = TimelineEvent.objects.filter(condition(asked, COLUMNS))
    rows.query.change_aliases({TimelineEvent._meta.db_table: "e"})
    try:
        sql, parameters = rows.query.get_compiler(rows.db).compile(rows.query.where)
    except EmptyResultSet:
        return "FALSE", {}
    except FullResultSet:
        return "TRUE", {}
    names = [f"asked_{number}" for number in range(len(parameters))]
    return f"({sql % tuple(f'%({name})s' for name in names)})", dict(zip(names, parameters, strict=True))
