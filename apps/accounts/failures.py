"""Failed sign-ins: counted by account and hour, logged without what was typed, and shown to the person."""

import logging
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.db.models import F, Max, Min, Sum
from django.http import HttpRequest

from apps.accounts.address import client_address
from apps.accounts.models import FailedSignIns
from apps.core.domain.clock import SYSTEM_CLOCK, utcnow

logger = logging.getLogger(__name__)

KEPT = timedelta(days=90)


@dataclass(frozen=True)
class Unnoticed:
    """Failed sign-ins that the person was not shown yet. since, until: of the first and the last one."""

    count: int
    since: datetime | None = None
    until: datetime | None = None


def account_named(username: str) -> User | None:
    """Return the account of a name as it was typed, which no one may have."""
    name = username.strip().replace("\0", "")[:150]
    return get_user_model().objects.filter(username__iexact=name).first() if name else None


def record_failure(request: HttpRequest, login: User | None, reason: str) -> None:
    """Count a failed sign-in, and log it. What was typed as name is not logged: it may be a password.

    reason: for the log, such as `wrong password`.
    """
    address, now = client_address(request), utcnow(SYSTEM_CLOCK)
    logger.warning("sign-in failed: %s, account %s, from %s", reason, login.pk if login else "unknown", address)
    hour = now.replace(minute=0, second=0, microsecond=0)
    row, is_new = FailedSignIns.objects.get_or_create(
        login=login, hour=hour, defaults={"first_at": now, "last_at": now, "last_address": address}
    )
    FailedSignIns.objects.filter(pk=row.pk).update(count=F("count") + 1, last_at=now, last_address=address)
    if is_new:
        FailedSignIns.objects.filter(hour__lt=now - KEPT).delete()


def take_unnoticed(login: User) -> Unnoticed:
    """Return the failed sign-ins that the person was not shown yet, and remember that they are shown now."""
    rows = FailedSignIns.objects.filter(login=login, count__gt=F("noticed"))
    found = rows.aggregate(count=Sum(F("count") - F("noticed")), since=Min("first_at"), until=Max("last_at"))
    rows.update(noticed=F("count"))
    return Unnoticed(found["count"] or 0, found["since"], found["until"])
