"""The columns of memories that filters ask for."""

from datetime import datetime
from typing import Any

from django.db.models import BooleanField, Case, Expression, F, FloatField, Func, Q, Value, When
from django.db.models.functions import Coalesce, Floor, Greatest, Least, Power

from apps.core.db.filters import Columns, Infix, condition
from apps.core.domain.filters.expression import Expression as Filter
from apps.core.domain.filters.match import matches
from apps.semantic.domain.confidence import DecayPolicy
from apps.semantic.domain.filters import MEMORY_FIELDS
from apps.semantic.models.memory import Memory, half_lives

_RENAMED = {"id": "uuid", "global": "is_global", "managed": "is_managed"}
_IS_MANAGED = Infix(F("managed_by"), "<>", Value(""), BooleanField())
_MILLION = Value(1_000_000.0)
# What is less than these is nothing in six decimals; of smaller numbers PostgreSQL makes an error: underflow.
_MAX_HALVES, _MIN_CONFIDENCE = Value(64.0), Value(1e-12)


def memory_condition(asked: Filter, now: datetime) -> Q:
    """Return the condition that a filter asks of memories. now: the moment of the confidence that is asked for."""
    columns: Columns = {name: _RENAMED.get(name, name) for name in MEMORY_FIELDS}
    return condition(asked, {**columns, "confidence": confidence_at(now), "managed": _IS_MANAGED})


def passes(memory: Memory, asked: Filter, now: datetime) -> bool:
    """Return whether a memory as it was read passes a filter."""
    row = {name: getattr(memory, _RENAMED.get(name, name)) for name in MEMORY_FIELDS if name != "confidence"}
    return matches(asked, {**row, "confidence": memory.confidence_at(now)})


def confidence_at(now: datetime) -> Expression:
    """Return the confidence at a moment as the database computes it: `Memory.confidence_at` (DESIGN D4)."""
    anchor: Any = Case(
        When(decay_policy=DecayPolicy.REINFORCEABLE, then=Coalesce("last_reinforced_at", "created_at")),
        default=F("created_at"),
    )
    age = Value(now) - anchor
    seconds = Func(age, template="date_part('epoch', %(expressions)s)", output_field=FloatField())
    passed = Greatest(seconds, Value(0.0))
    halves = [
        When(decay_policy=policy, then=Power(Value(0.5), Least(passed / Value(life.total_seconds()), _MAX_HALVES)))
        for policy, life in half_lives().items()
        if life is not None
    ]
    left = Case(*halves, default=Value(1.0), output_field=FloatField())
    return Floor(Greatest(F("base_confidence"), _MIN_CONFIDENCE) * left * _MILLION + Value(0.5)) / _MILLION
