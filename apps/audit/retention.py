"""Changes of entries that the trigger of the table allows (migration 0002): those that are too old are deleted."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Literal

from django.conf import settings
from django.db import connection, transaction

from apps.audit.models import AuditEntry
from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow

ROWS_AT_ONCE = 5_000


@contextmanager
def allow_changes(reason: Literal["forgetting", "retention"]) -> Iterator[None]:
    """Open a transaction in which entries may be emptied or deleted, inside a caller's until that block ends."""
    with transaction.atomic():
        set_reason(reason)
        yield
        set_reason("")


def set_reason(reason: str) -> None:
    """Say to the trigger why entries change, until the transaction ends."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('memoryhub.audit', %s, true)", [reason])


def audit_trim(*, clock: Clock = SYSTEM_CLOCK) -> int:
    """Delete entries older than MEMORYHUB_AUDIT_DAYS in parts; return how many."""
    before = utcnow(clock) - timedelta(days=settings.MEMORYHUB.audit_days)
    deleted = 0
    while True:
        with allow_changes("retention"):
            keys = list(
                AuditEntry.objects.filter(at__lt=before).order_by("at").values_list("pk", flat=True)[:ROWS_AT_ONCE]
            )
            part = AuditEntry.objects.filter(pk__in=keys)
            # Of no keys at all Django returns None.
            deleted += part._raw_delete(part.db) or 0
        if len(keys) < ROWS_AT_ONCE:
            return deleted
