"""Managed memories for tests: a manager that exists, and writing its memories as an app would."""

from collections.abc import Iterator, Mapping
from typing import Any
from uuid import UUID

import pytest
from django.db import transaction

from apps.core.domain.scope import Scope
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.memories import lifecycle
from apps.semantic.services import (
    ManagedChange,
    managed_prepare,
    managed_with_space,
    managed_write,
    manager_register,
)

MANAGER, OTHER, GONE = "test:handbook", "test:other", "test:gone"


@pytest.fixture
def manager() -> Iterator[str]:
    """Return a manager that exists, besides another one."""
    manager_register("test", lambda name: name in {MANAGER, OTHER})
    yield MANAGER
    del lifecycle._checks["test"]


def change(content: str, uuid: UUID | None = None, **fields: Any) -> ManagedChange:
    """Return what a memory of the user ana is to be."""
    scope = fields.pop("scope", Scope("ana"))
    reason = fields.pop("reason", "added")
    draft = MemoryDraft(content, scope=scope, **{"source": "knowledge", "type": "adr", **fields})
    return ManagedChange(draft=draft, uuid=uuid, reason=reason)


def write(*changes: ManagedChange, deletes: Mapping[UUID, str] | None = None, manager: str = MANAGER) -> list[UUID]:
    """Prepare and write changes; return the ids."""

    def work() -> list[UUID]:
        prepared = managed_prepare(changes=changes)
        with transaction.atomic():
            return managed_write(manager=manager, prepared=prepared, deletes=deletes or {}, actor="system:test")

    return managed_with_space(work)
