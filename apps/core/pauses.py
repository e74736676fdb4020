"""People who asked that nothing more be remembered of them, until a moment or until they say so.

What their applications send is refused while it lasts. What is kept stays readable, and what they write themselves on
their own pages is saved: to correct something is no reason to listen again.
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import TypeVar

from django.db.models import Q, QuerySet

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.errors import ConflictError, InvalidInputError, MemoryHubError
from apps.core.domain.scope import Access
from apps.core.models import IMPORT_ACTOR, PERSON_ACTOR, Pause

PERSON = PERSON_ACTOR
Item = TypeVar("Item")


class PausedError(ConflictError):
    """This person has paused what is remembered of them."""

    code = "saving_paused"

    def __init__(self) -> None:
        super().__init__("This user has paused saving: nothing is remembered of them until they go on.")


def pause_of(user_id: str, *, clock: Clock = SYSTEM_CLOCK) -> Pause | None:
    """Return the pause of a person that lasts now."""
    return lasting(utcnow(clock)).filter(user_id=user_id).first()


def paused_among(access: Access, users: Iterable[str | None], *, clock: Clock = SYSTEM_CLOCK) -> set[str]:
    """Return for which of these users the caller may save nothing now. A person's own pages may always save.

    So may an import, whose beginning asks whether whoever brings it may.
    """
    names = {user for user in users if user}
    if not names or access.actor.startswith((PERSON, IMPORT_ACTOR)):
        return set()
    return set(lasting(utcnow(clock)).filter(user_id__in=names).values_list("user_id", flat=True))


def require_saving(access: Access, user_id: str | None, *, clock: Clock = SYSTEM_CLOCK) -> None:
    """Raise PausedError where the caller may save nothing for a user now."""
    if paused_among(access, [user_id], clock=clock):
        raise PausedError


def refuse_paused(
    access: Access,
    items: Sequence[Item | MemoryHubError],
    user_of: Callable[[Item], str],
    *,
    clock: Clock = SYSTEM_CLOCK,
) -> list[Item | MemoryHubError]:
    """Return what is to be saved, with an error in the place of each item whose user has paused saving."""
    users = (user_of(item) for item in items if not isinstance(item, MemoryHubError))
    paused = paused_among(access, users, clock=clock)
    if not paused:
        return list(items)
    return [
        item if isinstance(item, MemoryHubError) or user_of(item) not in paused else PausedError() for item in items
    ]


def pause_begin(*, user_id: str, until: datetime | None, actor: str, clock: Clock = SYSTEM_CLOCK) -> Pause:
    """Pause saving for a user until a moment, or until it is ended when that is None; replaces a pause that lasts.

    Raises InvalidInputError for a moment that is over.
    """
    now = utcnow(clock)
    if until is not None and until <= now:
        raise InvalidInputError("The end of a pause must be in the future.", attr="until")
    begun, _ = Pause.objects.update_or_create(user_id=user_id, defaults={"since": now, "until": until, "by": actor})
    return begun


def pause_end(*, user_id: str) -> None:
    """Let applications save for a user again; safe to repeat."""
    Pause.objects.filter(user_id=user_id).delete()


def lasting(now: datetime) -> QuerySet[Pause]:
    """Return the pauses that last at a moment."""
    return Pause.objects.filter(Q(until=None) | Q(until__gt=now))
