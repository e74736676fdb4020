"""Syncs whose database, repository or copy breaks in the middle: nothing half is left, and the next one finishes."""

import fcntl
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.db import Error, connection, connections

from apps.core.domain.errors import MemoryHubError
from apps.sync import services
from apps.sync.domain.errors import KnowledgeUnavailableError
from apps.sync.models import SyncKind, SyncRun
from benchmarks.sync.walk import Oracle, differences, pointers_of
from tests.integration.sync.conftest import hub as hub
from tests.integration.sync.conftest import sync_dir as sync_dir
from tests.integration.sync.repository.repositories import Origin
from tests.integration.sync.syncs import Hub, path_of, record

in_transactions = pytest.mark.django_db(transaction=True)


def break_connection() -> None:
    """Let the server end the session of this thread, as it does when it is restarted."""
    other = connections.create_connection("default")
    with other.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s, 10000)", [connection.connection.info.backend_pid])
    other.close()


def break_at(step: str) -> Any:
    """Return a function of steps that breaks the connection at one of them."""
    return lambda name: break_connection() if name == step else None


def assert_as_all_files(hub: Hub) -> None:
    """Check that the pointers are those of all files at the last commit."""
    assert not differences(pointers_of(hub.source), Oracle().pointers(hub.source, hub.state.last_commit))


@in_transactions
def test_a_connection_that_breaks_leaves_what_was_before_or_comes_after(
    hub: Hub, caplog: pytest.LogCaptureFixture
) -> None:
    """Before the transaction begins, the sync may go on by another connection; in it, nothing is kept."""
    hub.sync()
    inside = services.SYNC_STEPS[services.SYNC_STEPS.index("pointers") : services.SYNC_STEPS.index("committed")]
    for number, step in enumerate(services.SYNC_STEPS, 10):
        hub.write({path_of(number): record(number), path_of(1): record(1, text=f"Round {number}.")})
        before = hub.stored()
        caplog.clear()
        try:
            hub.sync(step=break_at(step))
        except (Error, MemoryHubError):
            assert hub.stored() == before, step
            assert SyncRun.objects.latest("pk").state in ("failed", "running")
            assert "rolled back" in caplog.text
        else:
            assert step not in inside
            assert SyncRun.objects.latest("pk").state == "complete"
            assert_as_all_files(hub)
        assert hub.sync().state == "complete"
        assert_as_all_files(hub)
    assert not SyncRun.objects.filter(state="running").exists()


@pytest.mark.django_db
def test_a_repository_that_vanishes_and_comes_back(hub: Hub) -> None:
    hub.sync()
    before = hub.stored()
    hub.write({path_of(4): record(4)})
    aside = hub.origin.path.rename(hub.origin.path.with_name("aside"))
    for kind in (SyncKind.INCREMENTAL, SyncKind.FULL):
        with pytest.raises(KnowledgeUnavailableError):
            hub.sync(kind)
    assert hub.stored() == before
    aside.rename(hub.origin.path)
    assert (hub.sync().added, hub.state.retries) == (1, 0)


@pytest.mark.django_db
def test_locks_of_git_do_not_hold_up_a_sync(hub: Hub) -> None:
    """A commit that is being made, or one whose process was killed, has left locks in the repository."""
    hub.sync()
    hub.write({path_of(4): record(4)})
    for name in ("index.lock", "HEAD.lock", "packed-refs.lock", "config.lock", "refs/heads/main.lock"):
        (hub.origin.path / name).write_text("")
    assert hub.sync().added == 1


@pytest.mark.django_db
def test_a_copy_that_another_process_writes_is_waited_for(hub: Hub, sync_dir: Path, settings: Any) -> None:
    hub.sync()
    before = hub.stored()
    hub.write({path_of(4): record(4)})
    sync = replace(settings.MEMORYHUB.sync, fetch_seconds=0.2)
    settings.MEMORYHUB = replace(settings.MEMORYHUB, sync=sync)
    with (sync_dir / f"{hub.source.uuid}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(KnowledgeUnavailableError, match="being fetched"):
            hub.sync()
    assert hub.stored() == before
    settings.MEMORYHUB = replace(settings.MEMORYHUB, sync=replace(sync, fetch_seconds=300.0))
    assert hub.sync().added == 1


def object_file(origin: Origin, path: str) -> Path:
    """Return the loose object of a file."""
    oid = str(origin.files[path][0])
    return origin.path / "objects" / oid[:2] / oid[2:]


@pytest.mark.django_db
@pytest.mark.parametrize("damage", ["deleted", "truncated", "scrambled"])
def test_a_bad_object_holds_up_its_file_alone(hub: Hub, damage: str) -> None:
    hub.sync()
    old = hub.memories["ADR-0001"]
    hub.write({path_of(1): record(1, text="New."), path_of(4): record(4)})
    file = object_file(hub.origin, path_of(1))
    data = file.read_bytes()
    file.chmod(0o600)
    if damage == "deleted":
        file.unlink()
    else:
        file.write_bytes(data[: len(data) // 2] if damage == "truncated" else data[:20] + bytes(len(data) - 20))
    run = hub.sync()
    assert (run.state, run.added, run.updated, run.deleted) == ("partial", 1, 0, 0)
    assert [(one["path"], one["code"]) for one in run.failed_items] == [(path_of(1), "object_damaged")]
    assert hub.memories["ADR-0001"] == old
    assert hub.sync().state == "partial"
    file.write_bytes(data)
    assert (hub.sync().state, hub.memories["ADR-0001"] != old) == ("complete", True)
    assert_as_all_files(hub)
