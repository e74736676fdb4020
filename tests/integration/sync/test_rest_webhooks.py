"""Deliveries of forges: a right signature leads to one run that waits, anything else to the same 404."""

import hashlib
import hmac
import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.http import HttpResponse
from django.test import Client

from apps.core.domain.scope import Access, Permission, Scope
from apps.sync.models import KnowledgeSource, SyncRun
from apps.sync.services import source_create, source_update

pytestmark = pytest.mark.django_db

SECRET = "a long secret of the forge, known to both"
OPERATOR = Access(Scope(), Permission.OPERATOR, "olga")
PUSH = {"ref": "refs/heads/main", "repository": {"default_branch": "main"}, "commits": [{"id": "1" * 40}]}
FORGES = ("github", "gitlab", "gitea", "forgejo")


@pytest.fixture
def source(settings: Any) -> KnowledgeSource:
    """Return a source whose webhook has a secret in the environment."""
    keep_secrets(settings, FORGE=SECRET)
    values = {
        "name": "decisions",
        "user_id": "team:platform",
        "kind": "git",
        "location": "https://git.example.org/decisions.git",
        "webhook_secret": "forge",
    }
    return source_create(access=OPERATOR, values=values)


def keep_secrets(settings: Any, **secrets: str) -> None:
    """Have secrets in the environment of the hub."""
    settings.MEMORYHUB = replace(settings.MEMORYHUB, sync=replace(settings.MEMORYHUB.sync, secrets=secrets))


def headers_of(forge: str, body: bytes, secret: str = SECRET, event: str = "push") -> dict[str, str]:
    """Return the headers of a delivery of a forge."""
    digest = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    if forge == "gitlab":
        return {"X-Gitlab-Event": f"{event.capitalize()} Hook", "X-Gitlab-Token": secret}
    if forge == "github":
        return {"X-GitHub-Event": event, "X-Hub-Signature-256": f"sha256={digest}"}
    name = forge.capitalize()
    return {f"X-{name}-Event": event, f"X-{name}-Signature": digest}


def deliver(uuid: object, headers: dict[str, str], body: bytes, kind: str = "application/json") -> HttpResponse:
    """Deliver a body as a forge does, without a key."""
    path = f"/api/sync/webhooks/{uuid}"
    answer: HttpResponse = Client().post(path, data=body, content_type=kind, headers=headers)
    return answer


@pytest.mark.parametrize("forge", FORGES)
def test_a_push_with_the_right_signature_requests_a_sync(source: KnowledgeSource, forge: str) -> None:
    body = json.dumps(PUSH).encode()
    answer = deliver(source.uuid, headers_of(forge, body), body)
    run = SyncRun.objects.get()
    assert (answer.status_code, answer.json()["run"]) == (202, str(run.uuid))
    assert (run.kind, run.state, run.reason, run.source) == ("incremental", "waiting", "webhook", source)
    deliver(source.uuid, headers_of(forge, body), body)
    assert SyncRun.objects.count() == 1


@pytest.mark.parametrize("forge", FORGES)
def test_what_is_not_signed_by_the_secret_answers_like_what_does_not_exist(
    source: KnowledgeSource, forge: str, settings: Any
) -> None:
    body, other = json.dumps(PUSH).encode(), json.dumps({**PUSH, "more": 1}).encode()
    unknown = deliver(uuid4(), headers_of(forge, body), body)
    assert unknown.status_code == 404
    refused = [
        deliver(source.uuid, headers_of(forge, body, "another secret"), body),
        deliver(source.uuid, {}, body),
        deliver(source.uuid, {**headers_of(forge, body), "X-Gitlab-Token": ""}, body),
    ]
    if forge != "gitlab":  # which sends the secret as it is
        refused.append(deliver(source.uuid, headers_of(forge, other), body))
    keep_secrets(settings)
    refused.append(deliver(source.uuid, headers_of(forge, body, ""), body))
    source_update(access=OPERATOR, uuid=source.uuid, values={"webhook_secret": ""})
    refused.append(deliver(source.uuid, headers_of(forge, body, ""), body))
    for answer in refused:
        assert (answer.status_code, answer.content) == (404, unknown.content)
    assert not SyncRun.objects.exists()


def test_a_push_of_another_branch_and_another_event_start_nothing(source: KnowledgeSource) -> None:
    other = json.dumps({**PUSH, "ref": "refs/heads/topic"}).encode()
    answer = deliver(source.uuid, headers_of("github", other), other)
    assert (answer.status_code, answer.json()) == (200, {"accepted": False, "reason": "other_branch", "run": None})
    body = json.dumps(PUSH).encode()
    answer = deliver(source.uuid, headers_of("github", body, event="ping"), body)
    assert (answer.status_code, answer.json()["reason"]) == (200, "other_event")
    assert not SyncRun.objects.exists()


def test_a_delivery_as_a_form_is_read(source: KnowledgeSource) -> None:
    body = b"payload=%7B%22ref%22%3A+%22refs%2Fheads%2Fmain%22%7D"
    answer = deliver(source.uuid, headers_of("github", body), body, "application/x-www-form-urlencoded")
    assert answer.status_code == 202


def test_a_body_that_is_too_large_is_not_read(source: KnowledgeSource) -> None:
    body = b" " * (5 * 1024 * 1024 + 1)
    assert deliver(source.uuid, headers_of("gitea", body), body).status_code == 413
    assert not SyncRun.objects.exists()


def test_a_key_does_not_open_a_webhook(source: KnowledgeSource) -> None:
    body = json.dumps(PUSH).encode()
    assert deliver(source.uuid, {"Authorization": "Bearer mh_any"}, body).status_code == 404
    assert Client().get(f"/api/sync/webhooks/{source.uuid}").status_code == 405


def test_secrets_are_read_from_files_as_well(source: KnowledgeSource, settings: Any, tmp_path: Path) -> None:
    keep_secrets(settings)
    settings.SYNC_SECRETS_DIR = tmp_path
    (tmp_path / "forge").write_text(f"{SECRET}\n")
    body = json.dumps(PUSH).encode()
    assert deliver(source.uuid, headers_of("gitea", body), body).status_code == 202
