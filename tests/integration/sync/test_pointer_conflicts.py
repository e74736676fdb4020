"""Conflicts between pointers and items: found, resolved by the settings of the source, or by a person (spec 003)."""

from typing import Any

import pytest

from apps.core.domain.errors import ConflictError, ForbiddenError, InvalidInputError, NotFoundError
from apps.core.domain.scope import Access, Permission, Scope
from apps.events.models import Event
from apps.semantic.models import Memory
from apps.sync import selectors, services
from apps.sync.domain.state import Resolution
from apps.sync.models import KnowledgeSource, PointerConflict, SyncConflictState, SyncRun
from tests.integration.sync.syncs import OPERATOR, OWNER, Hub, path_of, record

pytestmark = pytest.mark.django_db


def conflicts(hub: Hub) -> list[tuple[str, str, str, str]]:
    """Return the conflicts of a source, the first one first."""
    rows = PointerConflict.objects.filter(source=hub.source).order_by("pk")
    return [(row.type, row.item_id, row.state, row.resolution) for row in rows]


def change_memory(hub: Hub, key: str, **metadata: Any) -> None:
    """Change the metadata of a pointer behind the back of the sync."""
    memory = Memory.objects.get(uuid=hub.memories[key].uuid)
    memory.metadata = {**memory.metadata, **metadata}
    memory.save(update_fields=["metadata"])


def resolve(conflict: PointerConflict, resolution: Resolution, access: Access = OPERATOR) -> PointerConflict:
    """Decide a conflict."""
    return services.conflict_resolve(access=access, uuid=conflict.uuid, resolution=resolution)


def test_apply_update_memory_resolution(hub: Hub) -> None:
    hub.sync()
    before = hub.memories["ADR-0001"]
    hub.write({path_of(1): record(1, text="New.")})
    run = hub.sync()
    after = hub.memories["ADR-0001"]
    assert (run.conflicts, conflicts(hub)) == (1, [("hash_mismatch", "ADR-0001", "resolved", "update_memory")])
    assert after.uuid == before.uuid
    assert after.content != before.content
    assert after.metadata["hash"] == hub.items["ADR-0001"].hash != before.metadata["hash"]
    assert after.updated_at > before.updated_at


def test_apply_delete_memory_resolution(hub: Hub) -> None:
    hub.sync()
    hub.write({path_of(1): None})
    hub.sync()
    assert conflicts(hub) == [("orphaned_pointer", "ADR-0001", "resolved", "delete_memory")]
    assert hub.items.keys() == hub.memories.keys() == {"ADR-0002", "ADR-0003"}


def test_detect_duplicate_pointers(hub: Hub) -> None:
    hub.sync()
    before = {memory.uuid for memory in hub.memories.values()}
    change_memory(hub, "ADR-0001", item_id="ADR-0002")
    assert hub.sync().conflicts >= 1
    assert len(before & {memory.uuid for memory in hub.memories.values()}) == 2
    assert ("duplicate_pointer", "ADR-0002", "resolved", "delete_memory") in conflicts(hub)
    assert hub.memories.keys() == {"ADR-0001", "ADR-0002", "ADR-0003"}
    assert hub.items["ADR-0002"].pointer == hub.memories["ADR-0002"].uuid


def test_detect_status_change_and_layer_mismatch(hub: Hub) -> None:
    hub.sync()
    change_memory(hub, "ADR-0002", layer="company")
    hub.write({path_of(1): record(1, status="deprecated")})
    hub.sync()
    assert set(conflicts(hub)) == {
        ("hash_mismatch", "ADR-0001", "resolved", "update_memory"),
        ("status_change", "ADR-0001", "resolved", "update_memory"),
        ("layer_mismatch", "ADR-0002", "resolved", "update_memory"),
    }
    assert hub.memories["ADR-0001"].metadata["status"] == "deprecated"
    assert hub.memories["ADR-0002"].metadata["layer"] == "team"


def test_custom_resolution_strategy(hub: Hub) -> None:
    """What the source says holds for its types, and the defaults for the others."""
    hub.update(resolutions={"orphaned_pointer": "keep_memory"})
    hub.sync()
    hub.write({path_of(1): None, path_of(2): record(2, text="New.")})
    hub.sync()
    assert set(conflicts(hub)) == {
        ("orphaned_pointer", "ADR-0001", "resolved", "keep_memory"),
        ("hash_mismatch", "ADR-0002", "resolved", "update_memory"),
    }
    assert "ADR-0001" in hub.memories
    hub.sync()
    assert len(conflicts(hub)) == 2
    hub.update(resolutions={})
    assert hub.sync().deleted == 1
    assert "ADR-0001" not in hub.memories


def test_a_conflict_waits_for_a_person(hub: Hub) -> None:
    hub.update(resolutions={"hash_mismatch": "manual"})
    hub.sync()
    before = hub.memories["ADR-0001"]
    hub.write({path_of(1): record(1, text="New.")})
    for _ in range(2):
        run = hub.sync()
        assert (run.state, run.updated, run.conflicts) == ("complete", 0, 1)
    conflict = selectors.conflict_list(OPERATOR, hub.source.uuid).get()
    assert (conflict.state, conflict.resolution, hub.memories["ADR-0001"]) == ("open", "", before)
    assert Event.objects.filter(name="memory:sync:conflict").get().payload["conflict_id"] == str(conflict.uuid)
    resolved = resolve(conflict, Resolution.UPDATE_MEMORY)
    assert (resolved.state, resolved.resolution, resolved.resolved_by) == ("resolved", "update_memory", "olga")
    assert "New." in hub.memories["ADR-0001"].content
    run = SyncRun.objects.latest("pk")
    assert (run.kind, run.state, run.updated, run.item_id) == ("resolution", "complete", 1, "ADR-0001")
    assert hub.items["ADR-0001"].hash == hub.memories["ADR-0001"].metadata["hash"]
    assert (hub.sync().conflicts, len(conflicts(hub))) == (0, 1)


def test_a_memory_that_a_person_leaves_stays_until_its_item_changes(hub: Hub) -> None:
    hub.update(resolutions={"hash_mismatch": "manual"})
    hub.sync()
    hub.write({path_of(1): record(1, text="New.")})
    hub.sync()
    before = hub.memories["ADR-0001"]
    resolve(PointerConflict.objects.get(), Resolution.KEEP_MEMORY)
    hub.update(resolutions={})
    run = hub.sync()
    assert (run.updated, run.conflicts, hub.memories["ADR-0001"]) == (0, 0, before)
    hub.write({path_of(1): record(1, text="Newer.")})
    assert hub.sync().updated == 1
    assert "Newer." in hub.memories["ADR-0001"].content


def test_an_orphan_waits_and_is_deleted_by_a_person(hub: Hub) -> None:
    hub.update(resolutions={"orphaned_pointer": "manual"})
    hub.sync()
    hub.write({path_of(1): None})
    hub.sync()
    assert "ADR-0001" in hub.memories.keys() & hub.items.keys()
    resolve(PointerConflict.objects.get(), Resolution.DELETE_MEMORY)
    assert "ADR-0001" not in hub.memories.keys() | hub.items.keys()
    assert hub.sync().deleted == 0


def test_a_conflict_that_is_not_there_any_more_is_outdated(hub: Hub) -> None:
    hub.update(resolutions={"hash_mismatch": "manual"})
    hub.sync()
    hub.write({path_of(1): record(1, text="New.")})
    hub.sync()
    conflict = PointerConflict.objects.get()
    hub.write({path_of(1): record(1)})
    hub.sync()
    conflict.refresh_from_db()
    assert conflict.state == SyncConflictState.OUTDATED
    with pytest.raises(ConflictError):
        resolve(conflict, Resolution.UPDATE_MEMORY)


def test_what_cannot_be_decided_is_refused(hub: Hub) -> None:
    hub.update(resolutions={"hash_mismatch": "manual"})
    hub.sync()
    hub.write({path_of(1): record(1, text="New.")})
    hub.sync()
    conflict = PointerConflict.objects.get()
    for resolution in (Resolution.MANUAL, Resolution.DELETE_MEMORY):
        with pytest.raises(InvalidInputError):
            resolve(conflict, resolution)
    with pytest.raises(ForbiddenError):
        resolve(conflict, Resolution.KEEP_MEMORY, Access(Scope(OWNER), Permission.WRITE, "wim"))
    with pytest.raises(NotFoundError):
        resolve(conflict, Resolution.KEEP_MEMORY, Access(Scope("ana"), Permission.OPERATOR, "ana"))
    assert KnowledgeSource.objects.count() == 1
