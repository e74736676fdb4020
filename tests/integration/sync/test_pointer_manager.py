"""Pointers belong to their source: while it exists, nothing else changes them."""

from uuid import uuid4

import pytest

from apps.core.domain.errors import ConflictError
from apps.semantic.services import memory_delete
from apps.sync.models import KnowledgeSource
from tests.integration.semantic.managed_support import change, write
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
