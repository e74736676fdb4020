"""Runs that wait while their source is paused, switched off or deleted, and sources that fail again and again."""

import logging
from typing import Any

import pytest
from django.db import Error

from apps.core.domain.errors import NotFoundError
from apps.sync import services
from apps.sync.models import KnowledgeSource, SyncCheckpoint, SyncKind, SyncRun, SyncRunState
from apps.sync.runs import sync as runs
from apps.sync.triggers.request import run_request
from tests.integration.sync.syncs import OPERATOR, Hub, path_of

pytestmark = pytest.mark.django_db
HOUR = 3_600_000


def request(hub: Hub, reason: str = "manual") -> SyncRun:
    """Request a run."""
    return services.sync_request(
        access=OPERATOR, uuid=hub.source.uuid, kind=SyncKind.INCREMENTAL, clock=hub.clock, reason=reason
    )


def work(hub: Hub, run: SyncRun) -> tuple[str, str]:
    """Work on a run; return what became of it, and its code."""
    services.run_waiting(run.uuid, clock=hub.clock)
    run.refresh_from_db()
    return run.state, run.code


def test_a_rollback_ends_what_waits(hub: Hub) -> None:
    hub.sync()
    hub.write({path_of(1): None})
    second = hub.sync()
    waiting = request(hub)
    checkpoint = SyncCheckpoint.objects.get(run=second).uuid
    services.sync_rollback(access=OPERATOR, uuid=hub.source.uuid, checkpoint=checkpoint, clock=hub.clock)
    assert work(hub, waiting) == ("failed", "source_paused")
    assert "ADR-0001" in hub.memories
    assert work(hub, request(hub)) == ("complete", "")


def test_a_run_does_not_begin_after_its_source_was_paused_or_switched_off(hub: Hub) -> None:
    by_hand = request(hub)
    services.source_pause(access=OPERATOR, uuid=hub.source.uuid, clock=hub.clock)
    assert work(hub, by_hand) == ("failed", "source_paused")
    assert work(hub, request(hub, "webhook")) == ("failed", "source_paused")
    waiting = request(hub)
    hub.update(enabled=False)
    assert work(hub, waiting) == ("failed", "source_disabled")
    assert not hub.items


def test_a_source_that_was_deleted_since_is_not_found(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    stale = hub.source
    monkeypatch.setattr(runs, "source_to_change", lambda *_: stale)
    services.source_delete(access=OPERATOR, uuid=stale.uuid)
    stale.pk = stale.pk or 1
    with pytest.raises(NotFoundError):
        hub.sync()
    with pytest.raises(NotFoundError):
        run_request(stale, SyncKind.FULL, reason="threshold", actor="system", clock=hub.clock)


def fail_due(hub: Hub) -> list[str]:
    """Work on what is due now; return the codes."""
    hub.clock.advance(HOUR)
    return [work(hub, run)[1] for run in services.sync_due(clock=hub.clock)]


def test_a_source_that_cannot_work_is_tried_later_and_later_and_then_paused(hub: Hub) -> None:
    hub.update(staleness_seconds=60)
    KnowledgeSource.objects.update(location="ftp://example.org/x")
    [code] = fail_due(hub)
    assert hub.state.retries == 1
    assert services.sync_due(clock=hub.clock) == []
    for _ in range(9):
        assert fail_due(hub) == [code]
    assert KnowledgeSource.objects.get().paused.startswith(f"Its last 10 syncs failed ({code})")
    assert fail_due(hub) == []


def test_a_source_that_cannot_be_reached_is_not_paused(hub: Hub) -> None:
    hub.update(staleness_seconds=60)
    hub.origin.path.rename(hub.origin.path.with_name("aside"))
    for _ in range(11):
        assert fail_due(hub) == ["KNOWLEDGE_UNAVAILABLE"]
    assert KnowledgeSource.objects.get().paused == ""


def test_a_source_whose_syncs_are_interrupted_waits(hub: Hub) -> None:
    hub.update(staleness_seconds=60)
    begun = []
    for _ in range(6):
        hub.clock.advance(1_000)
        for run in services.sync_due(clock=hub.clock):
            begun.append(run.reason)
            SyncRun.objects.filter(pk=run.pk).update(state=SyncRunState.RUNNING, started_at=run.requested_at)
    assert begun == ["threshold", "interrupted", "interrupted"]
    assert (hub.state.retries, hub.state.next_try_at is None) == (3, False)


def test_what_follows_the_commit_does_not_fail_a_run(
    hub: Hub, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(source: Any) -> int:
        raise Error("The database went away.")

    monkeypatch.setattr(runs, "checkpoints_trim", fail)
    with caplog.at_level(logging.WARNING):
        assert hub.sync().state == "complete"
    assert "were not trimmed" in caplog.text
    assert "rolled back" not in caplog.text
