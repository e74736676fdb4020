"""Users for whom nothing is written while their data is being removed.

A writer holds a shared lock until its transaction ends, and then looks whether the user is locked. Who locks a user
takes the same lock alone first: whatever was begun before is committed by then, and whatever begins later sees the row.
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import TypeVar

from django.db import connection
from django.db.models import Model, QuerySet

from apps.core.db.statements import Statement
from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.errors import ConflictError
from apps.core.models import LastUnlock, LockedUser

# Users share a few locks, so that a large batch does not fill the lock table of the database.
USER_LOCKS, SHARED_BY = 0x6D68_7573, 64
# Two statements: the second one has a snapshot of its own, taken after the lock.
_HOLD = """
SELECT pg_advisory_xact_lock_shared(%s, number)
FROM (SELECT DISTINCT abs(hashtext(name) %% %s) AS number FROM unnest(%s::text[]) AS name ORDER BY 1) AS numbers;
SELECT 1 FROM core_lockeduser WHERE user_id = ANY (%s) LIMIT 1
"""

M = TypeVar("M", bound=Model)
Row = TypeVar("Row")


class UserLockedError(ConflictError):
    """The data of this user is being removed, so nothing can be written for them now."""

    code = "being_forgotten"

    def __init__(self) -> None:
        super().__init__("This user is being forgotten: nothing can be written for them until that is done.")


def hold_users(users: Iterable[str]) -> None:
    """Keep users from being locked until the caller's transaction ends. Raises UserLockedError when one is locked."""
    names = sorted(set(users))
    with connection.cursor() as cursor:
        cursor.execute(_HOLD, [USER_LOCKS, SHARED_BY, names, names])
        cursor.nextset()
        if cursor.fetchone() is not None:
            raise UserLockedError


def lock_user(user: str, now: datetime) -> bool:
    """Lock a user in the caller's transaction, after all that is being written for them. Return False if they were."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s, abs(hashtext(%s) %% %s))", [USER_LOCKS, user, SHARED_BY])
    _, is_new = LockedUser.objects.get_or_create(user_id=user, defaults={"since": now})
    return is_new


def unlock_user(user: str) -> None:
    """Let others write for a user again, in the caller's transaction."""
    LockedUser.objects.filter(user_id=user).delete()
    LastUnlock.objects.update_or_create(pk=1, defaults={"at": utcnow(SYSTEM_CLOCK)})


def hold_sql(user: str) -> Statement:
    """Return the statement that keeps a user from being locked until its transaction ends."""
    text = "SELECT pg_advisory_xact_lock_shared(%s, abs(hashtext(%s) %% %s))"
    return Statement(text, [USER_LOCKS, user, SHARED_BY])


def forgotten_since_sql(user: str, began_at: datetime) -> Statement:
    """Return the condition that something may have been forgotten since a moment that must not be written now.

    That is so while the user is locked, for the empty name while anyone is, and after an unlock since that moment.
    """
    text = """(EXISTS (SELECT 1 FROM core_lockeduser WHERE %s IN (user_id, ''))
               OR EXISTS (SELECT 1 FROM core_lastunlock WHERE at >= %s))"""
    return Statement(text, [user, began_at])


def locked_among(users: Iterable[str]) -> set[str]:
    """Return which of these users are locked now."""
    return set(LockedUser.objects.filter(user_id__in=set(users)).values_list("user_id", flat=True))


def of_unlocked(rows: QuerySet[M]) -> QuerySet[M]:
    """Return the rows, of a table with a `user_id`, whose users are not locked now."""
    return rows.exclude(user_id__in=LockedUser.objects.values("user_id"))


def work_for_unlocked(rows: Sequence[Row], user_of: Callable[[Row], str], work: Callable[[Sequence[Row]], int]) -> int:
    """Do work on the rows of users who are not locked, and return what it returned; 0 when none is left.

    work: a transaction of its own, which is done again without the users who were locked just before it.
    """
    while True:
        locked = locked_among(user_of(row) for row in rows)
        rows = [row for row in rows if user_of(row) not in locked]
        if not rows:
            return 0
        try:
            return work(rows)
        except UserLockedError:
            continue
