"""Removing memories for good: the explicit purge of DESIGN D3."""

from collections.abc import Callable
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from apps.core.domain.errors import ForbiddenError
from apps.core.domain.scope import Access, Scope
from apps.events.models import Event
from apps.retrieval.domain.query import SearchQuery
from apps.semantic.models import Memory, MemoryEmbedding, MemoryRevision
from apps.semantic.search.search import memory_search
from apps.semantic.services import memories_purge

pytestmark = pytest.mark.django_db


def test_purging_leaves_nothing_of_scope_and_all_of_others(access: Access, remember: Callable[..., Memory]) -> None:
    old, new = remember("old"), remember("new")
    Memory.objects.filter(pk=old.pk).update(status="superseded", superseded_by=new)
    kept = remember("kept", scope=Scope("ana", "home"))
    remember("other", scope=Scope("ben"))
    assert memories_purge(access=access, scope=Scope("ana", "home")) == 1
    assert not Memory.objects.filter(pk=kept.pk).exists()
    assert memories_purge(access=access, scope=Scope("ana")) == 2
    assert list(Memory.objects.values_list("content", flat=True)) == ["other"]
    assert MemoryEmbedding.objects.count() == MemoryRevision.objects.count() == 1
    assert [event.payload["count"] for event in Event.objects.filter(name="memory:semantic:purged").order_by("id")] == [
        1,
        2,
    ]


def test_a_search_forgets_what_was_purged(access: Access, remember: Callable[..., Memory]) -> None:
    remember("tea")
    query = SearchQuery(scope=Scope("ana"), query="tea")
    assert memory_search(access, query).ranking.matched == 1
    memories_purge(access=access, scope=Scope("ana"))
    assert memory_search(access, query).ranking.matched == 0
    remember("milk")
    assert [found.memory.content for found in memory_search(access, query).found] == ["milk"]


def test_nobody_purges_outside_their_bound(ana: Access) -> None:
    with pytest.raises(ForbiddenError):
        memories_purge(access=ana, scope=Scope("ben"))


def test_the_command_asks_before_it_removes(remember: Callable[..., Memory]) -> None:
    remember("tea")
    with pytest.raises(CommandError, match="1 memories"):
        call_command("purge_memories", "ana")
    assert Memory.objects.count() == 1
    out = StringIO()
    call_command("purge_memories", "ana", "--yes", stdout=out)
    assert out.getvalue() == "1 memories removed.\n"
    assert Memory.objects.count() == 0


def test_command_says_when_there_is_nothing_to_remove() -> None:
    with pytest.raises(CommandError, match="no such memory"):
        call_command("purge_memories", "nobody", "--yes")
