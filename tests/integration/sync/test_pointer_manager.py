"""Pointers belong to their source: while it exists, nothing else changes them."""

from uuid import uuid4

import pytest

from apps.core.domain.errors import ConflictError
from apps.semantic.models import Memory
from apps.semantic.services import memory_delete
from apps.sync.models import KnowledgeSource, SyncKind
from tests.integration.semantic.managed_support import change, write
from tests.integration.sync.syncs import Hub
from tests.integration.sync.test_sources import OPERATOR, OWNER, Scope, create

pytestmark = pytest.mark.django_db


def test_a_pointer_can_be_deleted_by_hand_only_when_its_source_is_gone() -> None:
    source = create()
    [uuid] = write(change("[ADR] Indent with tabs (accepted)", scope=Scope(OWNER)), manager=source.manager)
    with pytest.raises(ConflictError) as caught:
        memory_delete(access=OPERATOR, uuid=uuid)
    assert caught.value.code == "managed"
    KnowledgeSource.objects.all().delete()
    assert memory_delete(access=OPERATOR, uuid=uuid).status == "deleted"


def test_a_name_that_is_no_id_is_of_no_source() -> None:
    source = create()
    assert KnowledgeSource.objects.with_manager(source.manager).get() == source
    for manager in ("sync:", "sync:x", f"sync:{uuid4().hex}"):
        assert not KnowledgeSource.objects.with_manager(manager).exists()


def test_pointer_whose_content_was_changed_in_the_database_is_repaired_by_a_full_sync(hub: Hub) -> None:
    hub.sync()
    pointer = hub.memories["ADR-0001"]
    Memory.objects.filter(uuid=pointer.uuid).update(content="[ADR] Forged (accepted)")
    run = hub.sync(SyncKind.FULL)
    assert (run.updated, run.unchanged) == (1, 2)
    assert hub.memories["ADR-0001"].content == pointer.content
    assert hub.sync(SyncKind.FULL).updated == 0
