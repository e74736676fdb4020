"""Calls of GitHub, GitLab, Gitea, Forgejo and Bitbucket that say that a repository has changed."""

import hashlib
import hmac
import json
import logging
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import parse_qs
from uuid import UUID

from apps.core.domain.clock import SYSTEM_CLOCK, Clock
from apps.core.domain.errors import InvalidInputError, NotFoundError
from apps.sync.domain.errors import KnowledgeUnavailableError
from apps.sync.models import KnowledgeSource, SyncKind
from apps.sync.repository.secrets import read_secret
from apps.sync.runs.answers import WebhookAnswer
from apps.sync.triggers.request import run_request

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


def webhook_receive(
    *, uuid: UUID, headers: Mapping[str, str], body: bytes, clock: Clock = SYSTEM_CLOCK
) -> WebhookAnswer:
    """Request an incremental sync because a server says that the branch of a source has changed.

    Raises NotFoundError for an unknown source, one without a secret, and a wrong signature alike; InvalidInputError for
    a body that is no JSON object.
    """
    source = KnowledgeSource.objects.filter(uuid=uuid).first()
    lowered = {name.lower(): value for name, value in headers.items()}
    if source is None or not is_signed(lowered, body, secret_of(source)):
        raise NotFoundError("There is no such webhook, or the signature is not that of its secret.")
    reason = reason_to_ignore(source, lowered, body)
    if reason:
        return WebhookAnswer(accepted=False, reason=reason)
    run = run_request(source, SyncKind.INCREMENTAL, reason=REASON, actor=ACTOR, clock=clock)
    return WebhookAnswer(accepted=True, reason="requested", run=run.uuid)


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
    if TOKEN in headers:
        return hmac.compare_digest(headers[TOKEN].encode(), secret.encode())
    expected = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    found = [(headers[name], prefix) for name, prefix in SIGNATURES.items() if name in headers]
    # Servers send old and new forms at once, of which the first one here is the strongest.
    return bool(found) and hmac.compare_digest(found[0][0].encode(), f"{found[0][1]}{expected}".encode())


def reason_to_ignore(source: KnowledgeSource, headers: Mapping[str, str], body: bytes) -> str:
    """Return in one word why a call starts no sync; empty where it does. Raises InvalidInputError."""
    event = next((headers[name] for name in EVENTS if name in headers), "push")
    if event not in PUSHES:
        return "other_event"
    if not source.enabled:
        return "disabled"
    if source.paused:
        return "paused"
    data = read_body(headers, body)
    branches = set(branches_of(data))
    wanted = source.branch or default_branch(data)
    return "other_branch" if wanted and branches and wanted not in branches else ""


def read_body(headers: Mapping[str, str], body: bytes) -> dict[str, Any]:
    """Return the JSON object of a call. Raises InvalidInputError."""
    try:
        if headers.get("content-type", "").startswith("application/x-www-form-urlencoded"):
            body = parse_qs(body.decode()).get("payload", ["{}"])[0].encode()
        data = json.loads(body or b"{}")
    except (ValueError, RecursionError) as error:
        raise InvalidInputError("The body is not JSON: choose application/json for the webhook.") from error
    if not isinstance(data, dict):
        raise InvalidInputError("The body is not a JSON object.")
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
