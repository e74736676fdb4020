"""A delivery that someone has recorded starts no sync again, and one that reports nothing starts none at all."""

import hashlib
import hmac
import json
from base64 import b64encode
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.http import HttpResponse

from apps.core.domain.clock import SYSTEM_CLOCK, DeterministicClock, utcnow
from apps.sync.models import KnowledgeSource, SyncRun, SyncRunState, WebhookDelivery
from apps.sync.services import runs_trim, source_pause, source_resume, webhook_receive
from apps.sync.triggers.webhook import MAX_AGE
from tests.integration.sync.test_rest_webhooks import FORGES, OPERATOR, PUSH, SECRET, deliver, headers_of, keep_secrets
from tests.integration.sync.test_rest_webhooks import source as source
from tests.threads import at_once

pytestmark = pytest.mark.django_db

BODY = json.dumps(PUSH).encode()
IDS = {
    "github": "X-GitHub-Delivery",
    "gitlab": "X-Gitlab-Event-UUID",
    "gitea": "X-Gitea-Delivery",
    "forgejo": "X-Forgejo-Delivery",
}
DAY = 86_400_000


def finish_runs() -> None:
    """End the runs that wait, as the worker does: nothing else keeps a delivery from starting one."""
    SyncRun.objects.update(state=SyncRunState.COMPLETE)


def said(answer: HttpResponse) -> tuple[int, str]:
    """Return the status of an answer, and its reason."""
    return answer.status_code, answer.json()["reason"]


def standard(body: bytes, moment: float, name: str = "msg_1", secret: str = SECRET) -> dict[str, str]:
    """Return the headers of a delivery of GitLab that has a signing token."""
    signed = f"{name}.{int(moment)}.".encode() + body
    signature = b64encode(hmac.new(secret.encode(), signed, hashlib.sha256).digest()).decode()
    return {
        "X-Gitlab-Event": "Push Hook",
        "webhook-id": name,
        "webhook-timestamp": str(int(moment)),
        "webhook-signature": f"v1,{signature}",
    }


@pytest.mark.parametrize("forge", FORGES)
def test_replayed_delivery_starts_no_second_sync(source: KnowledgeSource, forge: str) -> None:
    headers = {**headers_of(forge, BODY), IDS[forge]: "72d3162e-cc78-11e3-81ab-4c9367dc0958"}
    assert said(deliver(source.uuid, headers, BODY)) == (202, "requested")
    finish_runs()
    assert said(deliver(source.uuid, headers, BODY)) == (200, "already_seen")
    assert SyncRun.objects.count() == 1


@pytest.mark.parametrize("forge", [forge for forge in FORGES if forge != "gitlab"])
def test_another_id_makes_no_other_delivery(source: KnowledgeSource, forge: str) -> None:
    deliver(source.uuid, {**headers_of(forge, BODY), IDS[forge]: "one"}, BODY)
    finish_runs()
    assert said(deliver(source.uuid, {**headers_of(forge, BODY), IDS[forge]: "two"}, BODY)) == (200, "already_seen")


def test_pushes_of_gitlab_that_are_alike_are_two(source: KnowledgeSource) -> None:
    for name in ("one", "two"):
        headers = {**headers_of("gitlab", BODY), "Idempotency-Key": name}
        assert said(deliver(source.uuid, headers, BODY)) == (202, "requested")
        finish_runs()


def test_replay_at_another_source_is_its_own(source: KnowledgeSource) -> None:
    deliver(source.uuid, headers_of("github", BODY), BODY)
    other = KnowledgeSource.objects.get()
    other.pk, other.uuid, other.name = None, uuid4(), "other"
    other.save()
    assert said(deliver(other.uuid, headers_of("github", BODY), BODY)) == (202, "requested")


def test_delivery_while_paused_may_come_again(source: KnowledgeSource) -> None:
    source_pause(access=OPERATOR, uuid=source.uuid)
    assert said(deliver(source.uuid, headers_of("gitea", BODY), BODY)) == (200, "paused")
    source_resume(access=OPERATOR, uuid=source.uuid)
    assert said(deliver(source.uuid, headers_of("gitea", BODY), BODY)) == (202, "requested")


@pytest.mark.django_db(transaction=True)
def test_delivery_sent_at_once_starts_one_sync(source: KnowledgeSource) -> None:
    call = lambda: said(deliver(source.uuid, headers_of("github", BODY), BODY))  # noqa: E731
    answers = at_once(*[call] * 6)
    assert sorted(answers) == [(200, "already_seen")] * 5 + [(202, "requested")]
    assert WebhookDelivery.objects.count() == SyncRun.objects.count() == 1


@pytest.mark.parametrize("body", [b"", b"{}", b"[]", b"null", b" ", b"payload=", b"payload=%7B%7D", b"other=1"])
@pytest.mark.parametrize("forge", FORGES)
def test_empty_body_is_refused(source: KnowledgeSource, forge: str, body: bytes) -> None:
    kind = "application/x-www-form-urlencoded" if b"=" in body else "application/json"
    assert deliver(source.uuid, headers_of(forge, body), body, kind).status_code == 400
    assert not SyncRun.objects.exists()


def test_old_delivery_starts_nothing_once_it_is_forgotten(source: KnowledgeSource) -> None:
    clock = DeterministicClock(SYSTEM_CLOCK.now())
    pushed_at = int(utcnow(clock).timestamp())
    body = json.dumps({**PUSH, "repository": {"default_branch": "main", "pushed_at": pushed_at}}).encode()

    def receive(headers: dict[str, str], sent: bytes = body) -> str:
        finish_runs()
        return webhook_receive(uuid=source.uuid, headers=headers, body=sent, clock=clock).reason

    signed = standard(BODY, pushed_at)
    assert [receive(headers_of("github", body)), receive(signed, BODY)] == ["requested", "requested"]
    for _ in range(MAX_AGE // timedelta(days=1) + 2):
        clock.advance(DAY)
        runs_trim(clock=clock)
        assert receive(headers_of("github", body)) in {"already_seen", "too_old"}
        assert receive(signed, BODY) in {"already_seen", "too_old"}
    assert not WebhookDelivery.objects.exists()
    assert [receive(headers_of("github", body)), receive(signed, BODY)] == ["too_old", "too_old"]


@pytest.mark.parametrize("header", ["webhook-id", "webhook-timestamp"])
def test_signed_id_and_time_cannot_be_changed(source: KnowledgeSource, header: str) -> None:
    headers = standard(BODY, utcnow(SYSTEM_CLOCK).timestamp())
    assert deliver(source.uuid, {**headers, header: "1"}, BODY).status_code == 404
    assert said(deliver(source.uuid, headers, BODY)) == (202, "requested")


def test_signing_token_in_base64_is_read(source: KnowledgeSource, settings: Any) -> None:
    keep_secrets(settings, FORGE=f"whsec_{b64encode(SECRET.encode()).decode()}")
    assert said(deliver(source.uuid, standard(BODY, utcnow(SYSTEM_CLOCK).timestamp()), BODY)) == (202, "requested")
    keep_secrets(settings, FORGE="whsec_")
    forged = standard(BODY, utcnow(SYSTEM_CLOCK).timestamp(), secret="")
    assert deliver(source.uuid, forged, BODY).status_code == 404
