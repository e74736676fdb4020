"""No two active memories say the same of the same moment, whatever one transaction changes."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest

from apps.core.domain.clock import SYSTEM_CLOCK
from apps.core.domain.errors import UnavailableError
from apps.core.domain.scope import Access, Scope
from apps.semantic.conflicts.restatement import change
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.models import Memory
from apps.semantic.services import memory_save
from apps.semantic.store.details import details_of
from apps.semantic.store.unit_of_work import UnitOfWork, unit_of_work

pytestmark = pytest.mark.django_db

THEN = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.fixture(autouse=True)
def two_moments(access: Access) -> None:
    """Have one statement of no moment and of one."""
    for moment in (None, THEN):
        memory_save(access=access, draft=MemoryDraft("Ana likes tea.", scope=Scope("ana"), occurred_at=moment))


def rows() -> list[dict[str, Any]]:
    return list(Memory.objects.order_by("id").values())


def test_two_changes_of_one_transaction_never_take_over_the_same() -> None:
    with unit_of_work("ana", actor="test", clock=SYSTEM_CLOCK) as unit:
        for memory in Memory.objects.active().order_by("id"):
            change(unit, memory, replace(details_of(memory), occurred_at=THEN, project="kitchen"), None)
    found = Memory.objects.active().order_by("id").values_list("occurred_at", "project")
    assert list(found) == [(THEN, "kitchen"), (THEN, "")]


def move(unit: UnitOfWork) -> None:
    unit.update(Memory.objects.get(occurred_at=None), {"occurred_at": THEN})


def insert(unit: UnitOfWork) -> None:
    memory = Memory.objects.get(occurred_at=None)
    embedding = memory.embeddings.get()
    memory.pk, memory.uuid = None, uuid4()
    unit.insert(memory, embedding.space, embedding.vector, is_given=False, reason="test")


@pytest.mark.parametrize("repeat", [move, insert])
def test_what_gets_through_twice_is_refused_and_may_be_tried_again(repeat: Any) -> None:
    before = rows()

    def write() -> None:
        with unit_of_work("ana", actor="test", clock=SYSTEM_CLOCK) as unit:
            repeat(unit)

    with pytest.raises(UnavailableError):
        write()
    assert rows() == before
