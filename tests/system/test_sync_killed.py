"""Syncs, rollbacks and decisions are killed at every step: state and pointers are those before or after."""

from pathlib import Path
from typing import Any

import pytest

from apps.semantic.models import Memory
from apps.sync import services
from apps.sync.domain.state import Resolution
from apps.sync.models import (
    KnowledgeFile,
    KnowledgeSource,
    PointerConflict,
    SyncChange,
    SyncCheckpoint,
    SyncRun,
)
from benchmarks.sync.walk import Oracle, differences, pointers_of
from tests.integration.sync.conftest import hub as hub
from tests.integration.sync.conftest import sync_dir as sync_dir
from tests.integration.sync.syncs import OPERATOR, Hub, path_of, record
from tests.system.sync_process import (
    PATIENCE,
    begin,
    kill,
    resolve_and_die,
    roll_back_and_die,
    sync_and_die,
    sync_in_a_crowd,
)

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("killed")]
CROWD = 8
RESOLUTION_STEPS = ("started", "embedded", "pointers", "items", "changes", "applied", "committed")


def everything(hub: Hub) -> dict[str, Any]:
    """Return all that a run writes in its transaction."""
    files = KnowledgeFile.objects.filter(source=hub.source).order_by("path")
    conflicts = PointerConflict.objects.filter(source=hub.source).order_by("pk")
    return {
        **hub.stored(),
        "files": list(files.values_list("path", "blob", "code")),
        "files_commit": hub.state.files_commit,
        "conflicts": list(conflicts.values_list("type", "item_id", "state", "resolution")),
        "changes": SyncChange.objects.count(),
        "paused": KnowledgeSource.objects.get(pk=hub.source.pk).paused,
        "all_memories": Memory.objects.count(),
    }


def change(hub: Hub, round_: int) -> None:
    """Commit a new item, one that is gone, one that has changed, and one that has moved."""
    hub.write({
        path_of(100 + round_): record(100 + round_, more="supersedes: [ADR-0001]\n"),
        **({path_of(99 + round_): None} if round_ else {}),
        path_of(2): record(2, text=f"Round {round_}."),
        f"moved/{round_}.md": record(3),
        **{path: None for path in hub.origin.files if path == path_of(3) or path.startswith("moved/")},
    })  # fmt: skip


def assert_before_or_after(hub: Hub, before: dict[str, Any], step: str, kind: str) -> None:
    """Check that a killed run left nothing, or all of it. The next start says that it was interrupted."""
    run = SyncRun.objects.filter(source=hub.source).latest("pk")
    assert run.kind == kind
    if step == "committed":
        assert run.state == "complete"
        assert everything(hub) != before
    else:
        assert run.state == "running"
        assert everything(hub) == before, step


def assert_synced(hub: Hub) -> None:
    """Sync, and check that the pointers are those of all files; no run is left without an end."""
    run = hub.sync()
    assert (run.state, run.fallback) == ("complete", "")
    assert not differences(pointers_of(hub.source), Oracle().pointers(hub.source, run.to_commit))
    assert hub.items.keys() == hub.memories.keys()
    assert not SyncRun.objects.filter(source=hub.source, state="running").exists()


@pytest.mark.parametrize("kind", ["full", "incremental"])
def test_a_sync_that_was_killed_is_done_or_not(hub: Hub, kind: str) -> None:
    hub.sync()
    for round_, step in enumerate(services.SYNC_STEPS):
        change(hub, round_)
        before = everything(hub)
        kill(hub.source.pk, sync_and_die, str(hub.source.uuid), kind, step)
        assert_before_or_after(hub, before, step, kind)
        assert_synced(hub)
    interrupted = SyncRun.objects.filter(state="interrupted", code="interrupted")
    assert interrupted.count() == len(services.SYNC_STEPS) - 1


def test_a_first_sync_that_was_killed_is_done_or_not(hub: Hub) -> None:
    before = everything(hub)
    for step in services.SYNC_STEPS:
        kill(hub.source.pk, sync_and_die, str(hub.source.uuid), "incremental", step)
        if step == "committed":
            break
        # After ten such runs in a row triggers do not begin any more.
        assert {**everything(hub), "paused": ""} == before, step
    assert hub.memories.keys() == {"ADR-0001", "ADR-0002", "ADR-0003"}
    assert_synced(hub)


def test_a_rollback_that_was_killed_is_done_or_not(hub: Hub) -> None:
    hub.sync()
    for round_, step in enumerate(services.ROLLBACK_STEPS):
        restored = hub.stored()
        change(hub, round_)
        checkpoint = SyncCheckpoint.objects.get(run=hub.sync()).uuid
        before = everything(hub)
        kill(hub.source.pk, roll_back_and_die, str(hub.source.uuid), str(checkpoint), step)
        assert_before_or_after(hub, before, step, "rollback")
        if step != "committed":
            services.sync_rollback(access=OPERATOR, uuid=hub.source.uuid, checkpoint=checkpoint, clock=hub.clock)
        assert hub.stored() == restored
        services.source_resume(access=OPERATOR, uuid=hub.source.uuid)
        assert_synced(hub)


def test_a_decision_that_was_killed_is_made_or_not(hub: Hub) -> None:
    hub.update(resolutions={"hash_mismatch": "manual"})
    hub.sync()
    for round_, step in enumerate(RESOLUTION_STEPS):
        hub.write({path_of(2): record(2, text=f"Round {round_}.")})
        hub.sync()
        conflict = PointerConflict.objects.get(source=hub.source, state="open")
        before = everything(hub)
        kill(hub.source.pk, resolve_and_die, str(conflict.uuid), "update_memory", step)
        assert_before_or_after(hub, before, step, "resolution")
        if step != "committed":
            services.conflict_resolve(access=OPERATOR, uuid=conflict.uuid, resolution=Resolution.UPDATE_MEMORY)
        assert_synced(hub)


def test_of_many_processes_one_syncs(hub: Hub, tmp_path: Path) -> None:
    (told := tmp_path / "told").mkdir()
    crowd = [begin(sync_in_a_crowd, str(hub.source.uuid), str(told), number, CROWD) for number in range(CROWD)]
    for process in crowd:
        process.join(PATIENCE)
        assert process.exitcode == 0
    answers = sorted(file.read_text() for file in told.iterdir())
    assert answers == ["complete", *["sync_running"] * (CROWD - 1)]
    assert Memory.objects.count() == 3
    assert SyncRun.objects.get().state == "complete"
    assert_synced(hub)
