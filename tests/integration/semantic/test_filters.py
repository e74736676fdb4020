"""Filters of memories: the database answers as a naive reading of the same rows does."""

import random
import string
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection

from apps.core.domain.filters.expression import FieldKind
from apps.core.domain.filters.match import matches
from apps.core.domain.filters.parse import parse_filter
from apps.core.domain.scope import Scope
from apps.semantic.domain.filters import MEMORY_FIELDS
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.models import Memory
from apps.semantic.models.filters import memory_condition
from apps.semantic.store.rows import new_memory, word_columns
from tests.effort import examples

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)
WORDS = ["", "a", "b", "B", "é", "fact", "o'clock", "%", "_", "\\", '"', "{}", "中", "𝒳", "\uffff"]
STEPS = ["page", "of", "0", "-1", " 1", "+0", "12", "é", "o'clock", "a b", '"', "{0,1}"]
NUMBERS = [0, 1, -1, 1.0, 0.1, 0.5, 2**53, 1e-300, 1e22, 7.25]
HOSTILE = ["'; DROP TABLE semantic_memory; --", "%s", "%(x)s", "\\'", "}{", "::jsonb", "$$", "/*", "\n", "' OR '1'='1"]


class Source:
    """Random values, metadata and filters of rows with some fields."""

    fields: Mapping[str, FieldKind] = MEMORY_FIELDS

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def text(self) -> str:
        return self.random.choice(WORDS if self.random.random() < 0.8 else HOSTILE)

    def scalar(self) -> Any:
        return self.random.choice([self.text(), self.random.choice(NUMBERS), True, False])

    def moment(self) -> datetime:
        return NOW + timedelta(days=self.random.randint(-40, 4), seconds=self.random.randint(0, 3))

    def json(self, depth: int = 0) -> Any:
        kind = self.random.random()
        if depth < 3 and kind < 0.3:
            return {self.random.choice(STEPS): self.json(depth + 1) for _ in range(self.random.randint(0, 3))}
        if depth < 3 and kind < 0.45:
            return [self.json(depth + 1) for _ in range(self.random.randint(0, 3))]
        return None if kind > 0.95 else self.scalar()

    def memory(self) -> Memory:
        choose, some = self.random.choice, self.random.random
        draft = MemoryDraft(
            "".join(choose(string.ascii_letters) for _ in range(20)),
            scope=Scope(choose(["ana", "ben"]), choose([None, "h"]), choose([None, "p"])),
            keywords=tuple(self.random.sample(WORDS[1:], self.random.randint(0, 3))),
            occurred_at=self.moment() if some() < 0.7 else None,
            importance=choose([0.0, 0.1, 0.5, 0.7, 1.0]),
            confidence=choose([0.1, 0.5, 0.9, 1.0]),
            metadata={choose(STEPS): self.json() for _ in range(self.random.randint(0, 4))},
            is_global=some() < 0.5,
            decay_policy=choose(["stable", "reinforceable", "contextual"]),
            **{name: self.text() for name in ("agent", "project", "type", "session_id")},
        )
        memory = new_memory(draft, draft.scope, word_columns(draft.content, (), "", None), self.moment())
        memory.content_hash, memory.managed_by = str(memory.uuid), choose(["", "test:handbook"])
        memory.last_reinforced_at = self.moment() if some() < 0.5 else None
        return memory

    def comparison(self, rows: list[dict[str, Any]]) -> dict[str, Any]:
        name = self.random.choice(list(self.fields))
        kind = self.fields[name]
        seen = self.random.choice(rows)[name]
        if kind is FieldKind.JSON:
            path = [self.random.choice(STEPS) for _ in range(self.random.randint(1, 3))]
            value = seen
            for step in path:
                value = value.get(step) if isinstance(value, dict) else None
            value = value if isinstance(value, str | int | float) and self.random.random() < 0.7 else self.scalar()
            operator = self.random.choice(["eq", "in", "gt", "gte", "lt", "lte", "exists", "contains"])
            if isinstance(value, bool) and operator in ("gt", "gte", "lt", "lte"):
                operator = "eq"
            return {f"{name}.{'.'.join(path)}": self.operand(operator, value, self.scalar())}
        if kind is FieldKind.TEXTS:
            return {name: self.operand(self.random.choice(["contains", "exists"]), self.text(), None)}
        if kind is FieldKind.FLAG:
            return {name: self.random.random() < 0.5}
        value = seen if seen is not None and self.random.random() < 0.6 else None
        if kind is FieldKind.ID:
            return {
                name: self.operand(self.random.choice(["eq", "in"]), str(seen), str(self.random.choice(rows)[name]))
            }
        if kind is FieldKind.TEXT:
            other = self.text()
            return {name: self.operand(self.random.choice(["eq", "in", "exists"]), value or other, other)}
        operator = self.random.choice(["eq", "gt", "gte", "lt", "lte", "exists"])
        if kind is FieldKind.MOMENT:
            return {name: self.operand(operator, (value or self.moment()).isoformat(), None)}
        return {name: self.operand(operator, value if value is not None else self.random.choice(NUMBERS[:-3]), None)}

    def operand(self, operator: str, value: Any, other: Any) -> Any:
        if operator == "exists":
            return {"exists": self.random.random() < 0.5}
        if operator == "in":
            return {"in": [value, other][: self.random.randint(0, 2)]}
        return value if operator == "eq" and self.random.random() < 0.5 else {operator: value}

    def filter(self, rows: list[dict[str, Any]], depth: int = 0) -> dict[str, Any]:
        kind = self.random.random()
        if depth > 3 or kind < 0.45:
            return self.comparison(rows)
        if kind < 0.6:
            return {"not": self.filter(rows, depth + 1)}
        parts = [self.filter(rows, depth + 1) for _ in range(self.random.randint(0, 3))]
        return (
            {self.random.choice(["all", "any"]): parts} if kind < 0.95 else {k: v for p in parts for k, v in p.items()}
        )


def as_row(memory: Memory) -> dict[str, Any]:
    """The fields of a memory by the names of the API."""
    row = {name: getattr(memory, name, None) for name in MEMORY_FIELDS}
    return {
        **row, "id": memory.uuid, "global": memory.is_global, "managed": memory.is_managed,
        "confidence": memory.confidence_at(NOW), "keywords": list(memory.keywords),
    }  # fmt: skip


@pytest.mark.parametrize("seed", [20, 21])
def test_random_filters_find_what_a_naive_reading_finds(seed: int) -> None:
    source = Source(seed)
    Memory.objects.bulk_create([source.memory() for _ in range(120)])
    rows = [as_row(memory) for memory in Memory.objects.all()]
    count, found = examples(5_000), 0
    for number in range(count):
        asked = source.filter(rows)
        expression = parse_filter(asked, MEMORY_FIELDS)
        expected = {row["id"] for row in rows if matches(expression, row)}
        answer = set(Memory.objects.filter(memory_condition(expression, NOW)).values_list("uuid", flat=True))
        assert answer == expected, (number, asked)
        found += 0 < len(expected) < len(rows)
    assert found > count / 10, "most filters find everything or nothing"


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_paths_and_values_are_only_data(text: str) -> None:
    source = Source(3)
    memory = source.memory()
    memory.metadata, memory.type = {text: {text: text}}, text
    Memory.objects.bulk_create([memory, *(source.memory() for _ in range(3))])
    asked: Mapping[str, Any] = {f"metadata.{text}.{text}": text, "type": {"in": [text]}}
    assert Memory.objects.filter(memory_condition(parse_filter(asked, MEMORY_FIELDS), NOW)).get().uuid == memory.uuid
    assert "semantic_memory" in connection.introspection.table_names()


@pytest.mark.parametrize("base", [1.0, 0.5, 1e-7, 1e-300, 5e-324, 0.0])
@pytest.mark.parametrize("days", [0, 7, 900, 36_500])
def test_confidence_of_the_old_and_the_unsure_can_be_asked_for(base: float, days: int) -> None:
    draft = MemoryDraft("Ana rows", scope=Scope("ana"), decay_policy="contextual", confidence=base)
    row = new_memory(draft, draft.scope, word_columns("Ana rows", (), "", None), NOW)
    row.save()
    now = NOW + timedelta(days=days)
    wanted = parse_filter({"confidence": row.confidence_at(now)}, MEMORY_FIELDS)
    assert Memory.objects.filter(memory_condition(wanted, now)).exists()


def test_many_values_are_looked_for_in_one_go() -> None:
    values = [f"value {number}" for number in range(500)]
    wanted = parse_filter(
        {"all": [{"metadata.a.b": {"in": values}}, {"confidence": {"in": [0.5] * 500}}]}, MEMORY_FIELDS
    )
    statement = str(Memory.objects.filter(memory_condition(wanted, NOW)).query)
    assert statement.count("#>") <= 2
    assert statement.count("POWER") <= 4
