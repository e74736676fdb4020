"""Retention: entries older than the setting are deleted."""

from datetime import timedelta

from django.conf import settings

from apps.audit.append_only import allow_changes
from apps.audit.models import AuditEntry
from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow

ROWS_AT_ONCE = 5_000


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
