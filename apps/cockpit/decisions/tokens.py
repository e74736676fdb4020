"""What undoes something, in the hands of the browser: signed for the account that did it, so that nothing is kept."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from django.core import signing
from django.http import HttpRequest

from apps.core.admin.kit import operator_access
from apps.semantic.domain.review_queue import Alike
from apps.semantic.selectors import Conflict
from apps.semantic.services import Review

SALT = "cockpit.decisions"
REVIEWS, SHOWN, RUN = "reviews", "shown", "run"


class Run(NamedTuple):
    """A run that accepts or undoes all that is alike. at: when it began; None before that."""

    alike: Alike
    at: datetime | None


def sign(request: HttpRequest, kind: str, value: Any) -> str:
    """Return a token of a kind that only this account can use."""
    return signing.dumps(value, salt=salt_of(request, kind), compress=True)


def unsign(request: HttpRequest, kind: str, token: str) -> Any | None:
    """Return what a token of a kind says, None for one of another account or a forged one."""
    try:
        return signing.loads(token, salt=salt_of(request, kind))
    except signing.BadSignature:
        return None


def salt_of(request: HttpRequest, kind: str) -> str:
    """Return what binds tokens to an account and a use."""
    return f"{SALT}.{kind}.{request.user.pk}"


def reviews_token(request: HttpRequest, reviews: Sequence[Review]) -> str:
    """Return the token that undoes some reviews, the last one first."""
    return sign(request, REVIEWS, [[str(one.receipt), one.at.isoformat()] for one in reviews])


def read_reviews(request: HttpRequest, token: str) -> list[Review] | None:
    """Return the reviews that a token undoes, None for another token."""
    found = unsign(request, REVIEWS, token)
    return None if found is None else [Review(UUID(uuid), datetime.fromisoformat(at)) for uuid, at in found]


def run_token(request: HttpRequest, alike: Alike, at: datetime | None) -> str:
    """Return the token of a run; before it began, that of what was shown to the person."""
    moment = None if at is None else at.isoformat()
    return sign(request, SHOWN if at is None else RUN, [alike.as_json(), moment])


def read_run(request: HttpRequest, token: str, *kinds: str) -> Run | None:
    """Return the run of a token of one of the kinds, None for another token."""
    for kind in kinds:
        found = unsign(request, kind, token)
        if found is not None:
            alike, at = found
            return Run(Alike.from_json(alike), None if at is None else datetime.fromisoformat(at))
    return None


def own_review(request: HttpRequest, receipt: Conflict) -> str:
    """Return the token that undoes what the viewer did about a decision; blank where that is nothing."""
    by_viewer = receipt.reviewed_by == operator_access(request).actor and receipt.reviewed_at is not None
    if not by_viewer or receipt.reviewed_at is None or receipt.state in {"open", "outdated"}:
        return ""
    if receipt.origin in {"override", "revert"}:  # reviewed with the decision that it is about
        return ""
    return reviews_token(request, [Review(receipt.uuid, receipt.reviewed_at)])
