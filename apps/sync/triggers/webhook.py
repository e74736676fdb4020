"""Calls of GitHub, GitLab, Gitea, Forgejo and Bitbucket that say that a repository has changed."""

import binascii
import hashlib
import hmac
import json
import logging
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs
from uuid import UUID

from django.db import transaction

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.errors import InvalidInputError, NotFoundError
from apps.sync.domain.errors import KnowledgeUnavailableError
from apps.sync.models import KnowledgeSource, SyncKind, WebhookDelivery
from apps.sync.repository.source import read_secret
from apps.sync.triggers.request import run_request


@dataclass(frozen=True)
class WebhookAnswer:
    """What became of the call of a webhook. accepted: a sync was requested. reason: one word why, or why not."""

    accepted: bool
    reason: str
    run: UUID | None = None


logger = logging.getLogger(__name__)
ACTOR = REASON = "webhook"
# Header -> what its value begins with before the HMAC-SHA256 of the body in hex.
SIGNATURES = {
    "x-hub-signature-256": "sha256=",
    "x-forgejo-signature": "",
    "x-gitea-signature": "",
    "x-hub-signature": "sha256=",
}
TOKEN = "x-gitlab-token"  # noqa: S105 - the name of a header
EVENTS = ("x-github-event", "x-forgejo-event", "x-gitea-event", "x-gitlab-event", "x-event-key")
PUSHES = frozenset({"push", "Push Hook", "repo:push", "repo:refs_changed"})
HEADS = "refs/heads/"
# The forms of Standard Webhooks, which GitLab sends for a signing token: the id and the time are signed as well.
STANDARD_ID, STANDARD_TIME, STANDARD_SIGNATURE = "webhook-id", "webhook-timestamp", "webhook-signature"
STANDARD_PREFIX = "whsec_"
# How GitLab names a delivery that has a token and no signature.
DELIVERY_IDS = ("idempotency-key", "x-gitlab-event-uuid")
# A delivery that says when it was made starts nothing later: until then it is remembered.
MAX_AGE = timedelta(days=30)


def webhook_receive(
    *, uuid: UUID, headers: Mapping[str, str], body: bytes, clock: Clock = SYSTEM_CLOCK
) -> WebhookAnswer:
    """Request an incremental sync because a server says that the branch of a source has changed: once a delivery.

    Raises NotFoundError for an unknown source, one without a secret, and a wrong signature alike; InvalidInputError for
    a body that is no JSON object, or has nothing in it.
    """
    source = KnowledgeSource.objects.filter(uuid=uuid).first()
    lowered = {name.lower(): value for name, value in headers.items()}
    secret = "" if source is None else secret_of(source)
    if source is None or not is_signed(lowered, body, secret):
        raise NotFoundError("There is no such webhook, or the signature does not match its secret.")
    if next((lowered[name] for name in EVENTS if name in lowered), "push") not in PUSHES:
        return WebhookAnswer(accepted=False, reason="other_event")
    data = read_body(lowered, body)
    is_standard = is_signed_by_standard(lowered, body, secret)
    reason = reason_to_ignore(source, data)
    if not reason and is_old(lowered, data, clock, is_standard=is_standard):
        reason = "too_old"
    if reason:
        return WebhookAnswer(accepted=False, reason=reason)
    digest = digest_of(lowered, body, is_standard=is_standard)
    # If the sync cannot be requested, nothing is remembered: the server sends the delivery again.
    with transaction.atomic():
        _, is_new = WebhookDelivery.objects.get_or_create(
            source=source, digest=digest, defaults={"received_at": utcnow(clock)}
        )
        if not is_new:
            return WebhookAnswer(accepted=False, reason="already_seen")
        run = run_request(source, SyncKind.INCREMENTAL, reason=REASON, actor=ACTOR, clock=clock)
    return WebhookAnswer(accepted=True, reason="requested", run=run.uuid)


def digest_of(headers: Mapping[str, str], body: bytes, *, is_standard: bool) -> str:
    """Return what a delivery is remembered by: the body, and the id where changing it makes no other delivery.

    GitHub, Gitea, Forgejo and Bitbucket sign the body alone. Their ids are left out: whoever has recorded a delivery
    could write another one. A token of GitLab signs nothing, and its bodies may be alike: two pushes of one branch back
    and forth.
    """
    names = (STANDARD_ID,) if is_standard else DELIVERY_IDS if TOKEN in headers else ()
    name = next((headers[name] for name in names if name in headers), "")
    return hashlib.sha256(f"{name}\n".encode() + body).hexdigest()


def is_old(headers: Mapping[str, str], data: Mapping[str, Any], clock: Clock, *, is_standard: bool) -> bool:
    """Return whether a delivery was made before those that are remembered, as far as what is signed says when.

    Standard Webhooks sign their time, and GitHub that of the push, both in seconds.
    """
    repository = data.get("repository")
    made_at = repository.get("pushed_at") if isinstance(repository, dict) else None
    if is_standard:
        text = headers.get(STANDARD_TIME, "")
        made_at = int(text) if text.isascii() and text.isdigit() else 0
    return isinstance(made_at, int) and made_at < (utcnow(clock) - MAX_AGE).timestamp()


def secret_of(source: KnowledgeSource) -> str:
    """Return the secret of the webhook of a source; empty where there is none."""
    try:
        return read_secret(source.webhook_secret) if source.webhook_secret else ""
    except KnowledgeUnavailableError:
        logger.warning("the secret of the webhook of source %s is missing", source.uuid)
        return ""


def is_signed(headers: Mapping[str, str], body: bytes, secret: str) -> bool:
    """Return whether a call was made by one that knows the secret; compared in constant time. Never without one."""
    if not secret:
        return False
    if is_signed_by_standard(headers, body, secret):
        return True
    if TOKEN in headers:
        return hmac.compare_digest(headers[TOKEN].encode(), secret.encode())
    expected = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    found = [(headers[name], prefix) for name, prefix in SIGNATURES.items() if name in headers]
    # Servers send old and new forms at once, of which the first one here is the strongest.
    return bool(found) and hmac.compare_digest(found[0][0].encode(), f"{found[0][1]}{expected}".encode())


def is_signed_by_standard(headers: Mapping[str, str], body: bytes, secret: str) -> bool:
    """Return whether id, time and body are signed as Standard Webhooks does; of several signatures one is enough.

    secret: as it is, or of the form `whsec_` with the key in base64.
    """
    if not {STANDARD_ID, STANDARD_TIME, STANDARD_SIGNATURE} <= headers.keys():
        return False
    keys = [secret.encode()]
    if secret.startswith(STANDARD_PREFIX):
        try:
            keys.append(b64decode(secret.removeprefix(STANDARD_PREFIX)))
        except binascii.Error:
            logger.warning("the secret of a webhook begins with %s, and what follows is no base64", STANDARD_PREFIX)
    signed = f"{headers[STANDARD_ID]}.{headers[STANDARD_TIME]}.".encode() + body
    expected = [b"v1," + b64encode(hmac.new(key, signed, hashlib.sha256).digest()) for key in keys if key]
    found = headers[STANDARD_SIGNATURE].split(" ")
    return any(hmac.compare_digest(one.encode(), right) for one in found for right in expected)


def reason_to_ignore(source: KnowledgeSource, data: Mapping[str, Any]) -> str:
    """Return in one word why a push starts no sync; empty where it does."""
    if not source.enabled:
        return "disabled"
    if source.paused:
        return "paused"
    branches = set(branches_of(data))
    wanted = source.branch or default_branch(data)
    return "other_branch" if wanted and branches and wanted not in branches else ""


def read_body(headers: Mapping[str, str], body: bytes) -> dict[str, Any]:
    """Return the JSON object of a call. Raises InvalidInputError for none, and for an empty one: it reports no push."""
    try:
        if headers.get("content-type", "").startswith("application/x-www-form-urlencoded"):
            body = parse_qs(body.decode()).get("payload", [""])[0].encode()
        data = json.loads(body or b"null")
    except (ValueError, RecursionError) as error:
        raise InvalidInputError("The body is not JSON: choose application/json for the webhook.") from error
    if not isinstance(data, dict) or not data:
        raise InvalidInputError("The body is not a JSON object, or is empty.")
    return data


def branches_of(data: Mapping[str, Any]) -> Iterator[str]:
    """Yield the branches that a push is about, as far as they are named."""
    if isinstance(ref := data.get("ref"), str):
        yield ref.removeprefix(HEADS)
    push = data.get("push")
    changes = push.get("changes") if isinstance(push, dict) else data.get("changes")
    for change in changes if isinstance(changes, list) else []:
        for place in (change.get("new"), change.get("old"), change.get("ref")) if isinstance(change, dict) else ():
            name = (place.get("name") or place.get("displayId")) if isinstance(place, dict) else None
            if isinstance(name, str):
                yield name


def default_branch(data: Mapping[str, Any]) -> str:
    """Return the branch that a repository has checked out; empty where the call does not say it."""
    for name in ("repository", "project"):
        place = data.get(name)
        branch = place.get("default_branch") if isinstance(place, dict) else None
        if isinstance(branch, str):
            return branch
    return ""
