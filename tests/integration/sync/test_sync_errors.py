"""Errors of syncs: their codes, what is tried again, and that nothing is left half done (spec 003)."""

import logging
import shutil
from datetime import timedelta
from typing import Any

import pytest

from apps.core.db.user_locks import UserLockedError, lock_user
from apps.core.domain.clock import utcnow
from apps.core.domain.errors import UnavailableError
from apps.events.models import Event
from apps.semantic.models import Memory
from apps.sync import selectors
from apps.sync.domain.errors import KnowledgeUnavailableError
from apps.sync.models import KnowledgeFile, KnowledgeItem, SyncKind, SyncRun, SyncState
from apps.sync.runs.lock import LockLostError
from tests.integration.sync.syncs import OPERATOR, OWNER, Hub, path_of, record

pytestmark = pytest.mark.django_db
BAD = "---\nid: [\n---\n# Bad\n"


def test_knowledge_unavailable_error(hub: Hub) -> None:
    hub.sync()
    before = hub.stored()
    shutil.move(hub.origin.path, aside := hub.origin.path.with_name("aside"))
    waits = []
    for failures in (1, 2, 3):
        with pytest.raises(KnowledgeUnavailableError) as caught:
            hub.sync()
        run, state = SyncRun.objects.latest("pk"), hub.state
        assert (caught.value.is_retryable, run.state, run.code) == (True, "failed", "KNOWLEDGE_UNAVAILABLE")
        assert state.retries == failures
        assert state.next_try_at is not None
        waits.append(state.next_try_at - utcnow(hub.clock))
    assert waits == [timedelta(minutes=1), timedelta(minutes=2), timedelta(minutes=4)]
    assert selectors.should_sync_of(OPERATOR, hub.source.uuid, clock=hub.clock).reason == "backoff"
    assert hub.stored() == before
    payload = Event.objects.filter(name="memory:sync:failed").latest("id").payload
    assert (payload["code"], payload["is_retryable"]) == ("KNOWLEDGE_UNAVAILABLE", True)
    shutil.move(aside, hub.origin.path)
    assert hub.sync().state == "complete"
    assert (hub.state.retries, hub.state.next_try_at) == (0, None)


def damage(hub: Hub, part: str) -> None:
    """Change a part of what is stored, as no sync does."""
    item, file = KnowledgeItem.objects.filter(item_id="ADR-0001"), KnowledgeFile.objects.filter(path=path_of(1))
    state, other = SyncState.objects.filter(source=hub.source), hub.memories["ADR-0002"].uuid
    {
        "hash": lambda: item.update(hash="x"),
        "status": lambda: item.update(status="nonsense"),
        "pointer": lambda: item.update(pointer=other),
        "no item": item.delete,
        "no items": KnowledgeItem.objects.all().delete,
        "parsed": lambda: file.update(parsed={"title": "x"}),
        "blob": lambda: file.update(blob="x"),
        "no file": file.delete,
        "commit": lambda: state.update(last_commit="0" * 40),
        "files commit": lambda: state.update(files_commit="0" * 40),
        "no state": state.delete,
        "checksum": lambda: state.update(checksum=""),
    }[part]()


@pytest.mark.parametrize(
    "part",
    [
        "hash", "status", "pointer", "no item", "no items", "parsed", "blob", "no file", "commit", "files commit",
        "no state", "checksum",
    ],
)  # fmt: skip
def test_state_corrupted_error(hub: Hub, part: str, caplog: pytest.LogCaptureFixture) -> None:
    """The state is rebuilt from the pointers and the source, whatever of it was damaged."""
    hub.sync()
    memories, items = hub.memories, {key: (item.hash, item.pointer) for key, item in hub.items.items()}
    damage(hub, part)
    with caplog.at_level(logging.ERROR):
        run = hub.sync()
    assert (run.kind, run.code, run.fallback) == ("full", "STATE_CORRUPTED", "state_corrupted")
    assert "STATE_CORRUPTED: the state of source" in caplog.text
    assert "Decision 1" not in caplog.text
    assert (run.added, run.updated, run.deleted) == (0, 0, 0)
    assert {key: (item.hash, item.pointer) for key, item in hub.items.items()} == items
    assert hub.memories == memories
    run = hub.sync()
    assert (run.kind, run.code) == ("incremental", "")


def test_partial_failure_handling(hub: Hub) -> None:
    """Files that cannot be read are reported by each sync until they are mended, and hold up no other."""
    hub.sync()
    before = hub.memories["ADR-0001"]
    commit = hub.write({path_of(1): BAD, path_of(2): record(2, text="New."), "more.md": BAD})
    run = hub.sync()
    assert (run.state, run.code, run.failed, run.updated) == ("partial", "PARTIAL_FAILURE", 2, 1)
    assert [(one["path"], one["code"]) for one in run.failed_items] == [
        (path_of(1), "front_matter_invalid"), ("more.md", "front_matter_invalid"),
    ]  # fmt: skip
    assert (hub.state.is_complete, hub.state.last_commit) == (False, commit)
    # The item of a file that cannot be read stays as it was.
    assert hub.memories["ADR-0001"] == before
    assert [file.path for file in selectors.file_list(OPERATOR, hub.source.uuid).refused()] == [path_of(1), "more.md"]
    hub.write({path_of(3): record(3, text="New.")})
    run = hub.sync()
    assert (run.kind, run.state, run.failed, run.updated) == ("incremental", "partial", 2, 1)
    assert hub.sync(SyncKind.FULL).failed == 2
    hub.write({path_of(1): record(1, text="Mended."), "more.md": None})
    run = hub.sync()
    assert (run.state, run.updated, hub.state.is_complete) == ("complete", 1, True)
    assert "Mended." in hub.memories["ADR-0001"].content


@pytest.mark.parametrize("at", ["pointers", "items", "changes", "conflicts", "files", "state", "applied"])
def test_rollback_on_catastrophic_failure(hub: Hub, at: str, caplog: pytest.LogCaptureFixture) -> None:
    hub.sync()
    before = hub.stored()
    hub.write({path_of(1): record(1, text="New."), path_of(2): None, path_of(4): record(4)})

    text = hub.memories["ADR-0001"].content

    def fail(step: str) -> None:
        if step == at:
            raise RuntimeError(text)

    with pytest.raises(RuntimeError):
        hub.sync(step=fail)
    run = SyncRun.objects.latest("pk")
    assert (run.state, run.code) == ("failed", "error")
    assert hub.stored() == before
    assert "failed at apply with error (RuntimeError) and was rolled back" in caplog.text
    assert text not in caplog.text + run.detail
    run = hub.sync()
    assert (run.kind, run.added, run.updated, run.deleted) == ("incremental", 1, 1, 1)


def test_a_sync_without_an_embedder_changes_nothing(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    hub.sync()
    before = hub.stored()
    hub.write({path_of(4): record(4), path_of(1): None})

    def fail(texts: Any) -> Any:
        raise UnavailableError("The embedder does not answer.", code="embedder_unavailable")

    with monkeypatch.context() as patch:
        patch.setattr("apps.semantic.memories.managed.embed", fail)
        with pytest.raises(UnavailableError):
            hub.sync()
    assert (SyncRun.objects.latest("pk").code, hub.state.retries) == ("embedder_unavailable", 1)
    assert hub.stored() == before
    assert hub.sync().added == 1


def test_a_sync_whose_run_was_ended_by_another_process_writes_nothing(hub: Hub) -> None:
    def end(step: str) -> None:
        if step == "embedded":
            SyncRun.objects.filter(state="running").update(state="interrupted")

    with pytest.raises(LockLostError):
        hub.sync(step=end)
    assert not hub.items
    assert SyncRun.objects.get().state == "interrupted"


def test_nothing_is_written_for_an_owner_who_is_being_forgotten(hub: Hub) -> None:
    def lock(step: str) -> None:
        if step == "embedded":
            lock_user(OWNER, utcnow(hub.clock))

    with pytest.raises(UserLockedError):
        hub.sync(step=lock)
    assert not Memory.objects.exists()
    assert SyncRun.objects.get().code == "being_forgotten"
