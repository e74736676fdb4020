"""What starts a sync: triggers, requests in the worker, and calls of webhooks (spec 003)."""

import hashlib
import hmac
import json
from datetime import time
from typing import Any
from urllib.parse import urlencode

import pytest
from django_q.models import OrmQ

from apps.core.domain.errors import InvalidInputError, NotFoundError
from apps.sync import selectors, services, tasks
from apps.sync.models import SyncKind, SyncRun, SyncRunState
from tests.integration.sync.syncs import OPERATOR, Hub

pytestmark = pytest.mark.django_db
HOUR = 3_600_000
SECRET = "a secret of the webhook"


def reason(hub: Hub) -> tuple[bool, str]:
    """Return whether the source is due, and why."""
    answer = selectors.should_sync_of(OPERATOR, hub.source.uuid, clock=hub.clock)
    return answer.should, answer.reason


def due(hub: Hub) -> list[SyncRun]:
    """Return the runs that the schedule requests."""
    return services.sync_due(clock=hub.clock)


def test_evaluate_staleness_threshold(hub: Hub) -> None:
    hub.update(staleness_seconds=6 * 3600)
    assert reason(hub) == (True, "threshold")
    hub.sync()
    hub.clock.advance(6 * HOUR)
    assert (reason(hub), due(hub)) == ((False, "manual"), [])
    hub.clock.advance(1000)
    assert reason(hub) == (True, "threshold")
    [run] = due(hub)
    assert (run.kind, run.state, run.reason) == ("incremental", "waiting", "threshold")
    assert due(hub) == []


def test_evaluate_session_threshold(hub: Hub) -> None:
    hub.update(session_threshold=10)
    hub.sync()
    for _ in range(9):
        services.session_note(access=OPERATOR, uuid=hub.source.uuid)
    assert reason(hub) == (False, "manual")
    services.session_note(access=OPERATOR, uuid=hub.source.uuid)
    assert reason(hub) == (True, "threshold")
    hub.sync()
    assert reason(hub) == (False, "manual")


def test_no_trigger_met(hub: Hub) -> None:
    assert (reason(hub), due(hub)) == ((False, "manual"), [])


def test_a_source_is_synced_every_day(hub: Hub) -> None:
    hub.update(daily_at=time(9, 0))
    hub.sync()
    assert due(hub) == []
    hub.clock.advance(HOUR)
    assert [run.reason for run in due(hub)] == ["scheduled"]


def test_the_worker_runs_what_was_requested(hub: Hub) -> None:
    run = services.sync_request(access=OPERATOR, uuid=hub.source.uuid, kind=SyncKind.FULL)
    [queued] = OrmQ.objects.all()
    task = queued.task
    assert (task["func"], task["args"]) == ("apps.sync.tasks.run", (str(run.uuid),))
    # Longer than for other tasks: a sync is neither ended by the worker nor begun twice.
    assert task["timeout"] > 600
    for _ in range(2):
        tasks.run(str(run.uuid))
    run.refresh_from_db()
    assert (run.state, run.added, SyncRun.objects.count()) == ("complete", 3, 1)


def test_a_failed_sync_is_tried_again_by_the_schedule(hub: Hub) -> None:
    hub.sync()
    hub.source.location = str(hub.origin.path.with_name("missing"))
    hub.source.save()
    run = services.sync_request(access=OPERATOR, uuid=hub.source.uuid, kind=SyncKind.INCREMENTAL, clock=hub.clock)
    services.run_waiting(run.uuid, clock=hub.clock)
    run.refresh_from_db()
    assert (run.state, run.code) == ("failed", "KNOWLEDGE_UNAVAILABLE")
    assert due(hub) == []
    hub.clock.advance(60_000)
    assert [one.reason for one in due(hub)] == ["retry"]


def test_an_interrupted_run_is_ended_and_requested_again(hub: Hub) -> None:
    hub.sync()
    lost = SyncRun.objects.latest("pk")
    for number in range(3):
        SyncRun.objects.filter(pk=lost.pk).update(state=SyncRunState.RUNNING, ended_at=None)
        requested = due(hub)
        lost.refresh_from_db()
        assert (lost.state, lost.code) == ("interrupted", "interrupted")
        if number == 2:
            # After so many in a row a person or a trigger has to begin it.
            assert requested == []
            break
        [lost] = requested
        assert (lost.kind, lost.reason) == ("full", "interrupted")


def test_a_lost_task_is_enqueued_again(hub: Hub) -> None:
    services.sync_request(access=OPERATOR, uuid=hub.source.uuid, kind=SyncKind.FULL, clock=hub.clock)
    OrmQ.objects.all().delete()
    due(hub)
    assert not OrmQ.objects.exists()
    hub.clock.advance(HOUR)
    for _ in range(2):
        due(hub)
        assert OrmQ.objects.count() == 1


@pytest.fixture
def signed(hub: Hub, settings: Any, tmp_path: Any) -> Hub:
    """Return a source with a webhook."""
    settings.SYNC_SECRETS_DIR = tmp_path / "secrets"
    settings.SYNC_SECRETS_DIR.mkdir()
    (settings.SYNC_SECRETS_DIR / "hook").write_text(f"{SECRET}\n")
    hub.update(webhook_secret="hook", branch="main")
    return hub


def signature(body: bytes, secret: str = SECRET) -> str:
    """Return the HMAC of a body."""
    return hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def push(branch: str = "main") -> bytes:
    """Return the body of a push as GitHub, GitLab, Gitea and Forgejo send it."""
    return json.dumps({"ref": f"refs/heads/{branch}", "after": "0" * 40}).encode()


def bitbucket(branch: str) -> bytes:
    """Return the body of a push as Bitbucket sends it."""
    change = {"new": {"type": "branch", "name": branch}, "old": None}
    return json.dumps({"push": {"changes": [change]}}).encode()


def receive(hub: Hub, body: bytes, **headers: str) -> services.WebhookAnswer:
    """Call the webhook."""
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    return services.webhook_receive(uuid=hub.source.uuid, headers=names, body=body, clock=hub.clock)


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        (push(), {"X_GitHub_Event": "push", "X_Hub_Signature_256": f"sha256={signature(push())}"}),
        (push(), {"X_Gitlab_Event": "Push Hook", "X_Gitlab_Token": SECRET}),
        (push(), {"X_Gitea_Event": "push", "X_Gitea_Signature": signature(push())}),
        (push(), {"X_Forgejo_Event": "push", "X_Forgejo_Signature": signature(push())}),
        (
            bitbucket("main"),
            {"X_Event_Key": "repo:push", "X_Hub_Signature": f"sha256={signature(bitbucket('main'))}"},
        ),
    ],
    ids=["github", "gitlab", "gitea", "forgejo", "bitbucket"],
)
def test_a_push_requests_an_incremental_sync(signed: Hub, body: bytes, headers: dict[str, str]) -> None:
    answer = receive(signed, body, **headers)
    run = SyncRun.objects.get()
    assert (answer.accepted, answer.run, run.kind, run.reason) == (True, run.uuid, "incremental", "webhook")
    assert receive(signed, body, **headers).reason == "already_seen"
    for name in [name for name in headers if "Event" not in name]:
        for wrong in ("", "x", "é", headers[name][:-1], headers[name].upper()):
            with pytest.raises(NotFoundError):
                receive(signed, body, **{**headers, name: wrong})
    with pytest.raises(NotFoundError):
        receive(signed, body)


def test_other_branches_and_events_are_ignored(signed: Hub) -> None:
    for body, event, expected in (
        (push("other"), "push", "other_branch"),
        (bitbucket("other"), "push", "other_branch"),
        (b"{}", "ping", "other_event"),
    ):
        headers = {"X_GitHub_Event": event, "X_Hub_Signature_256": f"sha256={signature(body)}"}
        answer = receive(signed, body, **headers)
        assert (answer.accepted, answer.reason) == (False, expected)
    services.source_pause(access=OPERATOR, uuid=signed.source.uuid)
    assert receive(signed, push(), X_Gitlab_Token=SECRET).reason == "paused"
    assert not SyncRun.objects.exists()


def test_bodies_of_forms_are_read_and_others_refused(signed: Hub) -> None:
    form = urlencode({"payload": push("other").decode()}).encode()
    kind = "application/x-www-form-urlencoded"
    assert receive(signed, form, X_Gitlab_Token=SECRET, Content_Type=kind).reason == "other_branch"
    for body in (b"{", b"[1]", b'{"ref": ' * 50_000, b"\xff", b"", b"{}"):
        with pytest.raises(InvalidInputError):
            receive(signed, body, X_Gitlab_Token=SECRET)
    for body in (b'{"push": 1}', b'{"changes": [1, {"new": []}], "repository": 3}'):
        assert receive(signed, body, X_Gitlab_Token=SECRET).accepted


def test_a_source_without_a_secret_has_no_webhook(hub: Hub, signed: Hub) -> None:
    hub.update(webhook_secret="missing")
    with pytest.raises(NotFoundError):
        receive(hub, push(), X_Gitlab_Token="")
    hub.update(webhook_secret="")
    with pytest.raises(NotFoundError):
        receive(hub, push(), X_Gitlab_Token="")
