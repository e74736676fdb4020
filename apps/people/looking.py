"""A look: who may begin one, how long it lasts, and what the audit keeps of it.

It is one row, of which the session of the operator holds the id. Whether it still lasts is asked with every page, and
so are the role and the bound of the account: what is taken from an operator ends their looks at once.
"""

from collections.abc import MutableMapping
from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.http import HttpRequest

from apps.audit.selectors import ActorKind
from apps.audit.services import record
from apps.core.db.user_locks import hold_users
from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.errors import ForbiddenError, InvalidInputError
from apps.core.domain.scope import Scope
from apps.people.models import MAX_REASON_CHARS, Look

SESSION_KEY = "looks_at_pages"
MOST = timedelta(minutes=30)
# Of the role: to look, and to see everything that the pages of a person show.
NEEDED = (
    "people.add_look",
    "semantic.view_memory",
    "semantic.view_conflict",
    "episodic.view_timelineevent",
    "notes.view_noteversion",
    "core.view_apikey",
    "audit.view_auditentry",
)
BEGUN, SHOWN, ENDED = "person_look.begin", "person_look.open", "person_look.end"


def may_look(request: HttpRequest, user_id: str) -> bool:
    """Return whether an account may look at the pages of a person: by its role, and with all of them in its bound."""
    user = request.user
    if not (user.is_authenticated and user.is_active and user.is_staff and user.has_perms(NEEDED)):
        return False
    account = getattr(user, "account", None)
    bound: Scope = account.scope if account is not None else Scope()
    return bound.contains(Scope(user_id))


@transaction.atomic
def look_begin(*, request: HttpRequest, user_id: str, reason: str, clock: Clock = SYSTEM_CLOCK) -> Look:
    """Let an operator see the pages of a person for half an hour, and note who, when and why.

    Raises ForbiddenError, InvalidInputError without a reason, and UserLockedError for who is being forgotten.
    """
    reason = " ".join(reason.replace("\0", "").split())
    if not may_look(request, user_id):
        raise ForbiddenError("This account may not look at the pages of this person.")
    if not reason or len(reason) > MAX_REASON_CHARS:
        raise InvalidInputError(f"Say why, in 1 to {MAX_REASON_CHARS} characters.", attr="reason")
    hold_users([user_id])
    now, login = utcnow(clock), request.user
    assert isinstance(login, User)
    look = Look.objects.create(user_id=user_id, login=login, reason=reason, began_at=now, until=now + MOST)
    note(request, look, BEGUN, {"reason": reason})
    request.session[SESSION_KEY] = {"look": str(look.uuid), "seen": []}
    return look


def look_of(request: HttpRequest, *, clock: Clock = SYSTEM_CLOCK) -> Look | None:
    """Return the look that lasts in a session; None when there is none, it is over, or may not be any more."""
    session: MutableMapping[str, Any] | None = getattr(request, "session", None)
    held = session.get(SESSION_KEY) if session is not None else None
    if held is None or not request.user.is_authenticated:
        return None
    look = Look.objects.filter(uuid=held["look"], login=request.user.pk, until__gt=utcnow(clock)).first()
    return look if look is not None and may_look(request, look.user_id) else None


def look_note(request: HttpRequest, look: Look, page: str) -> None:
    """Note that a page is shown, before it is: without the entry there is no page. page: its address.

    One that is shown again in the same look, as live parts are, is noted once.
    """
    held = request.session[SESSION_KEY]
    if page not in held["seen"]:
        note(request, look, SHOWN, {}, page)
        request.session[SESSION_KEY] = {**held, "seen": [*held["seen"], page]}


def look_end(*, request: HttpRequest, clock: Clock = SYSTEM_CLOCK) -> str | None:
    """End the look of a session; return whose pages it showed, None without one. Safe to repeat."""
    held = request.session.pop(SESSION_KEY, None)
    look = Look.objects.filter(uuid=held["look"], login=request.user.pk).first() if held else None
    if look is None:
        return None
    now = utcnow(clock)
    if look.until > now:
        Look.objects.filter(pk=look.pk).update(until=now)
        note(request, look, ENDED, {})
    return look.user_id


def note(request: HttpRequest, look: Look, action: str, detail: dict[str, str], page: str = "") -> None:
    """Write an entry about a look at once."""
    record(
        actor_kind=ActorKind.PERSON,
        actor=request.user.get_username(),
        action=action,
        object_type="page",
        object_id=page,
        scope=Scope(look.user_id),
        address=request.META.get("REMOTE_ADDR"),
        detail={**detail, "look": str(look.uuid)},
    )
