"""Asking for an erasure, what it would remove, and what a certificate keeps of an id."""

import hashlib
import hmac
from collections.abc import Mapping
from uuid import UUID, uuid4

from django.conf import settings
from django.db import transaction
from django_q.tasks import async_task

from apps.core.db.user_locks import lock_user
from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.errors import ConflictError, NotFoundError
from apps.core.personal.registry import personal_stores
from apps.people.models import OPEN_STATES, Erasure

TASK = "apps.people.tasks.erase"


def user_digest(user_id: str) -> str:
    """Return HMAC-SHA256 of an id in hexadecimal digits, with a key derived from the hub's secret key."""
    key = hashlib.sha256(b"memoryhub erasure\0" + settings.SECRET_KEY.encode()).digest()
    return hmac.new(key, user_id.encode(), hashlib.sha256).hexdigest()


def erasure_preview(user_id: str) -> Mapping[str, int]:
    """Return how much an erasure would remove from each store, and change nothing."""
    return {store.name: store.count(user_id) for store in personal_stores()}


def obstacles(user_id: str, *, full: bool) -> list[str]:
    """Return what is in the way of forgetting a user. full: read whole files to find out."""
    return [problem for store in personal_stores() for problem in store.obstacles(user_id, full=full)]


def erasure_request(
    *,
    user_id: str,
    actor: str,
    clock: Clock = SYSTEM_CLOCK,
    enqueue: bool = True,
    uuid: UUID | None = None,
    keeps_account: bool = False,
) -> Erasure:
    """Begin to forget a user: from now on nothing is written for them. Return the erasure, also one that is open.

    enqueue: have a worker do it. uuid: of the erasure, a new one without it. keeps_account: accounts that have pages of
    the user keep them, with nothing on them. Raises NotFoundError when there is nothing of the user, ConflictError
    while something is in the way; it says what.
    """
    running = Erasure.objects.filter(user_id=user_id, state__in=OPEN_STATES).first()
    if running is not None:
        return running
    if not any(erasure_preview(user_id).values()) and not any(store_finds(user_id)):
        raise NotFoundError("There is nothing of this user.")
    if problems := obstacles(user_id, full=False):
        shown = "; ".join(problems[:10])
        more = f"; and {len(problems) - 10} more" if len(problems) > 10 else ""
        said = f"Forgetting cannot begin, because something could stay hidden: {shown}{more}."
        raise ConflictError(said, code="erasure_blocked")
    with transaction.atomic():
        now = utcnow(clock)
        lock_user(user_id, now)
        erasure, is_new = Erasure.objects.get_or_create(
            user_id=user_id,
            state__in=OPEN_STATES,
            defaults={
                "state": OPEN_STATES[0],
                "digest": user_digest(user_id),
                "requested_by": actor,
                "requested_at": now,
                "uuid": uuid or uuid4(),
                "keeps_account": keeps_account,
            },
        )
    if is_new and enqueue:
        async_task(TASK, task_name="people: erase", save=False)
    return erasure


def store_finds(user_id: str) -> list[str]:
    """Return where something of a user is."""
    return [place for store in personal_stores() for place in store.find(user_id)]
