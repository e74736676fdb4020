"""Checkpoints, and taking back what was synced since one (spec 003)."""

from uuid import uuid4

import pytest

from apps.core.domain.errors import ForbiddenError, NotFoundError
from apps.core.domain.scope import Access, Permission, Scope
from apps.semantic.models import Memory
from apps.sync import selectors, services
from apps.sync.domain.errors import StateCorruptedError
from apps.sync.models import KnowledgeSource, SyncCheckpoint, SyncKind, SyncRun
from apps.sync.runs import stored as checkpoints
from apps.sync.runs.stored import checkpoint_read
from apps.sync.triggers import due
from tests.integration.sync.syncs import OPERATOR, OWNER, Hub, path_of, record

pytestmark = pytest.mark.django_db


def checkpoint_of(run: SyncRun) -> SyncCheckpoint:
    """Return the checkpoint that was made before a run."""
    return SyncCheckpoint.objects.get(run=run)


def roll_back(hub: Hub, run: SyncRun) -> SyncRun:
    """Take back a run and what came after it."""
    hub.clock.advance(60_000)
    checkpoint = checkpoint_of(run).uuid
    return services.sync_rollback(access=OPERATOR, uuid=hub.source.uuid, checkpoint=checkpoint, clock=hub.clock)


def test_create_checkpoint_before_sync(hub: Hub) -> None:
    first = hub.sync()
    items, state = hub.items, hub.state
    hub.write({path_of(1): None})
    second = hub.sync()
    assert checkpoint_of(first).uuid != checkpoint_of(second).uuid
    assert checkpoint_read(checkpoint_of(first)).items == {}
    saved = checkpoint_read(checkpoint_of(second))
    assert {key: (item.hash, item.pointer) for key, item in saved.items.items()} == {
        key: (item.hash, item.pointer) for key, item in items.items()
    }
    assert (saved.fields["last_commit"], saved.fields["last_sync_at"]) == (state.last_commit, state.last_sync_at)
    assert [one.run for one in selectors.checkpoint_list(OPERATOR, hub.source.uuid)] == [second, first]


def test_a_rollback_restores_items_pointers_and_state(hub: Hub) -> None:
    hub.sync()
    before = hub.stored()
    hub.write({path_of(1): record(1, text="New."), path_of(2): None, "moved.md": record(3), path_of(3): None})
    run = hub.sync()
    hub.write({path_of(1): record(1, text="Newer."), path_of(4): record(4, more="supersedes: [ADR-0003]\n")})
    later = hub.sync()
    back = roll_back(hub, run)
    assert (back.kind, back.state, back.added, back.updated, back.deleted) == ("rollback", "complete", 1, 2, 1)
    assert hub.stored() == before
    assert {one.rolled_back_by for one in SyncRun.objects.filter(pk__in=[run.pk, later.pk])} == {back}
    assert back.to_commit == before["state"][0]


def test_a_rolled_back_source_waits_for_a_person(hub: Hub) -> None:
    hub.update(staleness_seconds=60)
    first = hub.sync()
    roll_back(hub, first)
    hub.clock.advance(3_600_000)
    assert (hub.items, hub.memories) == ({}, {})
    assert KnowledgeSource.objects.get().paused.startswith("Rolled back to the state before 2026-11-23")
    assert services.sync_due(clock=hub.clock) == []
    services.source_resume(access=OPERATOR, uuid=hub.source.uuid, clock=hub.clock)
    [requested] = services.sync_due(clock=hub.clock)
    run = services.run_waiting(requested.uuid, clock=hub.clock)
    assert run is not None
    assert (run.state, run.added) == ("complete", 3)
    assert hub.memories.keys() == {"ADR-0001", "ADR-0002", "ADR-0003"}


def test_a_rollback_can_be_taken_back(hub: Hub) -> None:
    hub.sync()
    hub.write({path_of(1): record(1, text="New."), path_of(2): None, path_of(4): record(4)})
    run = hub.sync()
    after = hub.stored()
    back = roll_back(hub, run)
    assert hub.stored() != after
    roll_back(hub, back)
    assert hub.stored() == after


def test_a_sync_after_a_rollback_does_it_again(hub: Hub) -> None:
    hub.sync()
    hub.write({path_of(1): record(1, text="New."), path_of(2): None})
    run = hub.sync()
    after = hub.memories
    roll_back(hub, run)
    run = hub.sync()
    assert (run.kind, run.updated, run.deleted) == ("incremental", 1, 1)
    assert {key: one.content for key, one in hub.memories.items()} == {key: one.content for key, one in after.items()}


def test_a_pointer_that_was_destroyed_is_restored_as_another_memory(hub: Hub) -> None:
    hub.sync()
    lost = hub.memories["ADR-0001"]
    hub.write({path_of(1): None})
    run = hub.sync()
    Memory.objects.filter(uuid=lost.uuid).delete()
    roll_back(hub, run)
    assert hub.memories["ADR-0001"].content == lost.content
    assert hub.items["ADR-0001"].pointer == hub.memories["ADR-0001"].uuid


def test_only_operators_roll_back_and_only_to_what_there_is(hub: Hub) -> None:
    run = hub.sync()
    writer = Access(Scope(OWNER), Permission.WRITE, "wim")
    with pytest.raises(ForbiddenError):
        services.sync_rollback(access=writer, uuid=hub.source.uuid, checkpoint=checkpoint_of(run).uuid)
    with pytest.raises(NotFoundError):
        services.sync_rollback(access=OPERATOR, uuid=hub.source.uuid, checkpoint=uuid4())
    SyncCheckpoint.objects.update(content=b"damaged")
    with pytest.raises(StateCorruptedError):
        roll_back(hub, run)
    assert hub.memories


def test_checkpoints_of_runs_that_changed_something_are_kept(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoints, "KEPT", 2)
    for number in range(4, 7):
        hub.write({path_of(number): record(number)})
        hub.sync()
    idle = hub.sync(), hub.sync()
    kept = [one.run for one in SyncCheckpoint.objects.order_by("pk")]
    assert kept == [*SyncRun.objects.order_by("pk")[1:3], idle[1]]


def test_old_runs_are_deleted(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(due, "KEPT_RUNS", 2)
    first = hub.sync()
    for _ in range(4):
        hub.sync()
    hub.sync(SyncKind.FULL)
    assert services.runs_trim() == 3
    # The first one has changed something, so that its checkpoint is kept.
    assert list(SyncRun.objects.order_by("pk")) == [first, *SyncRun.objects.order_by("-pk")[:2][::-1]]
