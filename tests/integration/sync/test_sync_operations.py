"""Full, incremental and single syncs, and the state that they leave (spec 003)."""

from pathlib import Path

import pytest
from prometheus_client import REGISTRY

from apps.core.domain.errors import InvalidInputError, NotFoundError
from apps.events.models import Event
from apps.semantic.models import Memory
from apps.sync import selectors, services
from apps.sync.models import KnowledgeFile, SyncChange, SyncCheckpoint, SyncKind, SyncRun, SyncState
from apps.sync.repository.source import SourceSettings
from apps.sync.runs import work
from apps.sync.sources.removal import copies_sweep
from tests.integration.sync.syncs import OPERATOR, OWNER, SYSTEM, Hub, make_hub, path_of, record

pytestmark = pytest.mark.django_db


def test_save_sync_state_after_operation(hub: Hub) -> None:
    run = hub.sync(SyncKind.FULL)
    state = hub.state
    assert (state.last_sync_at, state.last_commit) == (run.ended_at, run.to_commit)
    assert (state.last_full_sync_at, state.is_complete, state.sessions_since_sync) == (run.ended_at, True, 0)
    hashes = {key: item.hash for key, item in hub.items.items()}
    assert hashes == {key: memory.metadata["hash"] for key, memory in hub.memories.items()}
    assert {key: item.pointer for key, item in hub.items.items()} == {
        key: memory.uuid for key, memory in hub.memories.items()
    }


def test_load_sync_state_on_startup(hub: Hub) -> None:
    """A state that is missing is an empty one, and what is there is loaded and continued."""
    SyncState.objects.all().delete()
    assert hub.sync().fallback == "no_state"
    commit = hub.write({path_of(4): record(4)})
    run = hub.sync()
    assert (run.kind, run.from_commit != commit, run.to_commit, run.commits) == ("incremental", True, commit, 1)
    assert (run.added, run.unchanged) == (1, 3)


def test_full_sync_all_knowledge(hub: Hub) -> None:
    steps: list[str] = []
    run = hub.sync(SyncKind.FULL, step=steps.append)
    assert tuple(steps) == services.SYNC_STEPS
    assert (run.state, run.added, run.updated, run.deleted) == ("complete", 3, 0, 0)
    assert SyncCheckpoint.objects.get(run=run).uuid
    hub.write({path_of(1): record(1, text="Otherwise."), path_of(2): None, path_of(4): record(4)})
    run = hub.sync(SyncKind.FULL)
    assert (run.added, run.updated, run.deleted, run.unchanged) == (1, 1, 1, 1)
    assert hub.memories.keys() == hub.items.keys() == {"ADR-0001", "ADR-0003", "ADR-0004"}
    assert "Otherwise." in hub.memories["ADR-0001"].content
    memory = Memory.objects.get(uuid=hub.memories["ADR-0001"].uuid)
    assert (memory.user_id, memory.source, memory.type, memory.managed_by) == (
        OWNER, "knowledge", "adr", hub.source.manager,
    )  # fmt: skip
    event = Event.objects.filter(name="memory:sync:finished").latest("id")
    assert (event.payload["run_id"], event.payload["added"]) == (str(run.uuid), 1)


def test_incremental_sync_since_last_commit(hub: Hub) -> None:
    """Only what the commits since have touched is read."""
    hub.sync()
    hub.write({path_of(1): record(1, text="Once.")})
    hub.write({path_of(2): None, path_of(5): record(5)})
    totals: list[int] = []
    run = hub.sync(on_progress=lambda run: totals.append(run.total) if run.step == "read" else None)
    assert (run.commits, run.added, run.updated, run.deleted, run.unchanged) == (2, 1, 1, 1, 1)
    assert max(totals) == 2
    assert hub.sync().commits == 0
    assert SyncChange.objects.count() == 3 + 3


def test_a_limit_leaves_items_for_the_next_run(hub: Hub) -> None:
    hub.update(max_items=2)
    commit = hub.state.last_commit
    run = hub.sync()
    assert (run.state, run.added, run.remaining) == ("limited", 2, 1)
    assert (hub.state.last_commit, hub.state.is_complete) == (commit, False)
    assert selectors.should_sync_of(OPERATOR, hub.source.uuid, clock=hub.clock).reason == "remaining"
    # What changed and was taken back while the rest waited is seen as it is now.
    hub.write({path_of(3): record(3, text="Otherwise.")})
    run = hub.sync()
    assert (run.kind, run.state, run.added, run.remaining) == ("incremental", "complete", 1, 0)
    hub.write({path_of(1): record(1, text="x"), path_of(2): record(2, text="x"), path_of(3): record(3, text="x")})
    assert hub.sync().remaining == 1
    hub.write({path_of(3): record(3, text="Otherwise.")})
    run = hub.sync()
    assert (run.state, run.updated) == ("complete", 0)
    assert "Otherwise." in hub.memories["ADR-0003"].content


def test_a_worker_leaves_what_takes_too_long_to_the_next_task(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "EMBEDDED_AT_ONCE", 1)
    monkeypatch.setattr("apps.sync.runs.sync.PART_SECONDS", 0.0)
    waiting = services.sync_request(access=OPERATOR, uuid=hub.source.uuid, kind=SyncKind.FULL)
    run = services.run_waiting(waiting.uuid, clock=hub.clock)
    assert run is not None
    assert (run.state, run.added, run.remaining) == ("limited", 1, 2)
    assert services.run_waiting(waiting.uuid, clock=hub.clock) is None
    assert hub.sync().added == 2


def test_an_incremental_sync_becomes_a_full_one_for_a_reason(hub: Hub) -> None:
    first = hub.origin.commit({path_of(1): record(1)})
    hub.sync()
    hub.write({path_of(4): record(4)})
    hub.sync()
    hub.origin.reset(first)
    hub.write({path_of(5): record(5)})
    del hub.origin.files[path_of(4)]
    hub.write({})
    run = hub.sync()
    assert (run.kind, run.fallback, run.added, run.deleted) == ("full", "commit_gone", 1, 1)
    hub.update(layer="company")
    run = hub.sync()
    assert (run.fallback, run.updated, run.conflicts) == ("settings_changed", 4, 4)
    assert {memory.metadata["layer"] for memory in hub.memories.values()} == {"company"}


def test_another_name_of_the_source_is_written_into_its_pointers(hub: Hub) -> None:
    hub.sync()
    before = {memory.uuid for memory in hub.memories.values()}
    hub.update(name="rulings", project="tea")
    run = hub.sync()
    assert (run.kind, run.updated) == ("incremental", 3)
    assert {memory.uuid for memory in hub.memories.values()} == before
    assert {memory.project for memory in hub.memories.values()} == {"tea"}
    assert all(f"Ref: rulings/{key}" in memory.content for key, memory in hub.memories.items())


def test_a_moved_file_keeps_its_pointer(hub: Hub) -> None:
    hub.sync()
    before = hub.memories["ADR-0002"]
    hub.write({path_of(2): None, "adr/old/two.md": record(2)})
    run = hub.sync()
    assert (run.added, run.updated, run.deleted) == (0, 0, 0)
    assert (hub.items["ADR-0002"].path, hub.memories["ADR-0002"]) == ("adr/old/two.md", before)


def test_an_item_that_supersedes_another_changes_both(hub: Hub) -> None:
    hub.sync()
    hub.write({path_of(4): record(4, more="supersedes: [ADR-0001]\n")})
    run = hub.sync()
    assert (run.added, run.updated) == (1, 1)
    assert "superseded by ADR-0004" in hub.memories["ADR-0001"].content
    hub.write({path_of(4): None})
    assert hub.sync().updated == 1
    assert hub.items["ADR-0001"].status == "accepted"


def test_incremental_syncs_come_to_the_same_as_a_full_one(hub: Hub, tmp_path: Path) -> None:
    hub.sync()
    for files in (
        {path_of(4): record(4, more="supersedes: [ADR-0001, ADR-0002]\n")},
        {path_of(2): None, path_of(1): record(1, status="proposed")},
        {path_of(4): record(4, status="draft"), "z.md": record(3, title="Taken")},
        {path_of(3): None},
    ):
        hub.write(files)
        hub.sync()
    fresh = services.source_create(
        access=SYSTEM,
        values={"name": "other", "user_id": OWNER, "kind": "git", "location": str(hub.origin.path)},
    )
    hub.update(name="same")
    hub.sync()
    services.source_update(access=OPERATOR, uuid=hub.source.uuid, values={"name": "left"})
    services.source_update(access=OPERATOR, uuid=fresh.uuid, values={"name": "same"})
    other = Hub(hub.origin, fresh)
    other.sync(SyncKind.FULL)
    assert {key: (item.hash, item.path, item.status) for key, item in other.items.items()} == {
        key: (item.hash, item.path, item.status) for key, item in hub.items.items()
    }
    assert {key: memory.content for key, memory in other.memories.items()} == {
        key: memory.content for key, memory in hub.memories.items()
    }


def test_single_item_sync_updates_the_pointer_of_an_item(hub: Hub) -> None:
    hub.sync()
    hub.write({path_of(1): record(1, text="New."), path_of(2): record(2, text="New.")})
    before, state = hub.memories, hub.state
    run = hub.sync(SyncKind.SINGLE, item_id="ADR-0001")
    assert (run.kind, run.updated, run.added) == ("single", 1, 0)
    assert "New." in hub.memories["ADR-0001"].content
    assert hub.memories["ADR-0001"].uuid == before["ADR-0001"].uuid
    assert hub.memories["ADR-0002"] == before["ADR-0002"]
    assert (hub.state.last_commit, hub.state.files_commit) == (state.last_commit, state.files_commit)
    run = hub.sync()
    assert (run.kind, run.updated, run.unchanged) == ("incremental", 1, 2)


def test_single_item_sync_creates_a_pointer(hub: Hub) -> None:
    hub.sync()
    hub.write({path_of(4): record(4), path_of(5): record(5)})
    assert hub.sync(SyncKind.SINGLE, item_id="ADR-0004").added == 1
    assert hub.memories.keys() == {"ADR-0001", "ADR-0002", "ADR-0003", "ADR-0004"}
    with pytest.raises(NotFoundError):
        hub.sync(SyncKind.SINGLE, item_id="ADR-0099")
    assert SyncRun.objects.latest("pk").code == "not_found"
    assert hub.sync().added == 1


def test_single_item_sync_deletes_the_pointer_of_an_item_that_is_gone(hub: Hub) -> None:
    hub.sync()
    hub.write({path_of(2): None})
    run = hub.sync(SyncKind.SINGLE, item_id="ADR-0002")
    assert (run.deleted, run.conflicts) == (1, 1)
    conflict = selectors.conflict_list(OPERATOR, hub.source.uuid).get()
    assert (conflict.type, conflict.state, conflict.resolution) == ("orphaned_pointer", "resolved", "delete_memory")
    assert "ADR-0002" not in hub.memories
    assert "ADR-0002" not in hub.items
    assert hub.sync().deleted == 0


def test_an_item_that_comes_back_gets_its_memory_back(hub: Hub) -> None:
    hub.sync()
    before = hub.memories["ADR-0001"].uuid
    hub.write({path_of(1): None})
    hub.sync()
    hub.write({path_of(1): record(1, text="Again.")})
    run = hub.sync()
    assert (run.added, hub.memories["ADR-0001"].uuid, hub.items["ADR-0001"].pointer) == (1, before, before)
    checkpoint = SyncCheckpoint.objects.get(run=run).uuid
    services.sync_rollback(access=OPERATOR, uuid=hub.source.uuid, checkpoint=checkpoint, clock=hub.clock)
    assert hub.memories.keys() == {"ADR-0002", "ADR-0003"}


def test_a_pointer_that_was_lost_comes_back(hub: Hub) -> None:
    hub.sync()
    lost = hub.memories["ADR-0001"].uuid
    Memory.objects.filter(uuid=lost).update(status="deleted")
    run = hub.sync()
    assert (run.added, hub.memories["ADR-0001"].uuid) == (1, lost)
    Memory.objects.filter(uuid=lost).delete()
    assert hub.sync().added == 1
    assert hub.items["ADR-0001"].pointer == hub.memories["ADR-0001"].uuid != lost


def test_a_folder_is_synced_without_history(tmp_path: Path) -> None:
    folder = tmp_path / "rules"
    folder.mkdir()
    (folder / "1.md").write_text(record(1))
    (folder / "2.md").write_text(record(2))
    hub = make_hub(tmp_path, kind="folder", location=str(folder))
    assert hub.sync().added == 2
    (folder / "1.md").write_text(record(1, text="Otherwise."))
    (folder / "2.md").unlink()
    run = hub.sync()
    assert (run.kind, run.updated, run.deleted) == ("incremental", 1, 1)
    assert KnowledgeFile.objects.get(source=hub.source).path == "1.md"


def test_a_preview_writes_nothing(hub: Hub) -> None:
    hub.write({"bad.md": "---\nid: [\n---\n# Bad\n"})
    preview = services.sync_preview(access=OPERATOR, uuid=hub.source.uuid)
    assert [file.path for file in preview.files if file.item] == [path_of(number) for number in (1, 2, 3)]
    assert [file.refused.code for file in preview.files if file.refused] == ["front_matter_invalid"]
    assert (len(preview.delta.added), len(preview.changes)) == (3, 3)
    assert not SyncRun.objects.exists()
    assert not hub.items
    assert not hub.memories


def test_a_source_that_is_switched_off_is_not_synced(hub: Hub) -> None:
    hub.update(enabled=False)
    with pytest.raises(Exception, match="switched off"):
        hub.sync()
    with pytest.raises(InvalidInputError):
        hub.sync(SyncKind.ROLLBACK)


def test_deleting_a_source_deletes_its_pointers_and_copies(hub: Hub, sync_dir: Path) -> None:
    hub.sync()
    assert list(sync_dir.glob(f"{hub.source.uuid}*"))
    services.source_delete(access=OPERATOR, uuid=hub.source.uuid)
    assert not hub.memories
    assert set(Memory.objects.values_list("status", flat=True)) == {"deleted"}
    assert not SyncRun.objects.exists()
    assert not list(sync_dir.glob(f"{hub.source.uuid}*"))


def test_a_copy_that_several_sources_read_goes_with_the_last_of_them(sync_dir: Path) -> None:
    shared = {"kind": "git", "location": "https://forge.example.org/team/knowledge.git", "user_id": OWNER}
    first, second = (
        services.source_create(access=SYSTEM, values={**shared, "name": folder, "folder": folder})
        for folder in ("adr", "specs")
    )
    (copy,) = {SourceSettings.of(one).copy for one in (first, second)}
    (sync_dir / f"{copy}.git").mkdir(parents=True)
    services.source_delete(access=OPERATOR, uuid=first.uuid)
    assert copies_sweep() == 0
    assert [path.name for path in sync_dir.iterdir()] == [f"{copy}.git"]
    services.source_delete(access=OPERATOR, uuid=second.uuid)
    assert list(sync_dir.iterdir()) == []
    (sync_dir / f"{copy}.git").mkdir()
    assert copies_sweep() == 1


def counted(name: str, **labels: str) -> float:
    """Return the value of a metric."""
    return REGISTRY.get_sample_value(name, labels) or 0.0


def test_emit_sync_metrics(hub: Hub) -> None:
    """Operations by type and state, their time, items, conflicts by type, and failures by code."""
    names = (
        ("memoryhub_sync_operations_total", {"type": "full", "state": "complete"}, 1),
        ("memoryhub_sync_operations_total", {"type": "incremental", "state": "partial"}, 1),
        ("memoryhub_sync_operations_total", {"type": "single", "state": "failed"}, 1),
        ("memoryhub_sync_operations_duration_seconds_count", {"type": "incremental"}, 1),
        ("memoryhub_sync_items_added_total", {}, 4),
        ("memoryhub_sync_items_updated_total", {}, 1),
        ("memoryhub_sync_items_deleted_total", {}, 1),
        ("memoryhub_sync_conflicts_total", {"type": "hash_mismatch"}, 1),
        ("memoryhub_sync_conflicts_total", {"type": "orphaned_pointer"}, 1),
        ("memoryhub_sync_failures_total", {"code": "PARTIAL_FAILURE"}, 1),
        ("memoryhub_sync_failures_total", {"code": "not_found"}, 1),
    )
    before = [counted(name, **labels) for name, labels, _ in names]
    hub.sync(SyncKind.FULL)
    hub.write(
        {path_of(1): record(1, text="New."), path_of(2): None, path_of(4): record(4), "bad.md": "---\nid: [\n---\n"}
    )
    hub.sync()
    with pytest.raises(NotFoundError):
        hub.sync(SyncKind.SINGLE, item_id="ADR-0099")
    after = [counted(name, **labels) for name, labels, _ in names]
    assert [(name, now - then) for (name, _, _), now, then in zip(names, after, before, strict=True)] == [
        (name, expected) for name, _, expected in names
    ]
