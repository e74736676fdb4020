"""Warnings of the timeline: begun, repeated and ended, each with one event (spec 000, Warning escalation).

At most one warning of a kind and segment is active at a time. Recording continues while warnings are active; what
pauses is the bridge, which makes memories from events (from severity `warning` on), and sealing while the disk is
nearly full.
"""

from datetime import timedelta

from django.db import connection, transaction
from django.db.models import Count, QuerySet

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.episodic.domain.alarms import HINTS, Severity, WarningKind
from apps.episodic.events import TimelineHealthy, TimelineWarned
from apps.episodic.metrics import ACTIVE_WARNINGS
from apps.episodic.models import Segment, TimelineWarning
from apps.events.services import emit

# A condition that is noticed a hundred times a second changes the row no more often than this.
REPEAT_AFTER = timedelta(seconds=5)
MAX_DETAIL_CHARS = 500
RANK = {severity: rank for rank, severity in enumerate(Severity)}
SUSPENDING = (Severity.WARNING, Severity.CRITICAL)
# An advisory lock with a key of its own (one 64-bit number): changes of warnings wait for each other.
WARNINGS_LOCK = 0x6D68_7477


def active_warnings() -> QuerySet[TimelineWarning]:
    """Return the warnings that have not ended, the oldest first."""
    return TimelineWarning.objects.filter(ended_at=None).select_related("segment").order_by("began_at", "id")


def suspending_warnings() -> QuerySet[TimelineWarning]:
    """Return the active warnings that suspend the bridge."""
    return active_warnings().filter(severity__in=SUSPENDING)


@transaction.atomic
def warning_report(
    *, kind: WarningKind, severity: Severity, detail: str, segment: Segment | None = None, clock: Clock = SYSTEM_CLOCK
) -> bool:
    """Report a condition, as often as it is noticed. Return True, and emit an event, when it is new or got worse.

    A warning that is already active only has its `last_seen_at` moved, at most every few seconds, and keeps its worst
    severity. detail: a sentence with figures, never content of events.
    """
    now = utcnow(clock)

    def has_news(warning: TimelineWarning | None) -> bool:
        return warning is None or RANK[severity] > RANK[Severity(warning.severity)]

    warning = find_active(kind, segment)
    if warning and not has_news(warning) and now - warning.last_seen_at < REPEAT_AFTER:
        return False
    lock_warnings()
    warning = find_active(kind, segment)
    is_news = has_news(warning)
    if warning is None:
        warning = TimelineWarning(kind=kind, segment=segment, began_at=now, last_seen_at=now)
    if is_news:
        warning.severity = severity
    warning.detail, warning.last_seen_at = detail[:MAX_DETAIL_CHARS], max(warning.last_seen_at, now)
    warning.save()
    if is_news:
        warned = TimelineWarned(
            kind=kind,
            severity=Severity(warning.severity),
            detail=warning.detail,
            hint=HINTS[kind],
            segment_id=segment.uuid if segment else None,
            at=warning.last_seen_at,
        )
        emit(warned, clock=clock)
        observe_active(kind)
    return is_news


@transaction.atomic
def warning_end(*, kind: WarningKind, segment: Segment | None = None, clock: Clock = SYSTEM_CLOCK) -> bool:
    """End the active warning of a kind and segment. Return True, and emit an event, when there was one."""
    if find_active(kind, segment) is None:
        return False
    lock_warnings()
    warning = find_active(kind, segment)
    if warning is None:
        return False
    warning.ended_at = utcnow(clock)
    warning.save(update_fields=["ended_at"])
    healthy = TimelineHealthy(
        kind=kind,
        segment_id=segment.uuid if segment else None,
        warned_at=warning.began_at,
        is_healthy=not suspending_warnings().exists(),
        at=warning.ended_at,
    )
    emit(healthy, clock=clock)
    observe_active(kind)
    return True


def refresh_warning_metrics() -> None:
    """Set the metrics from the database: a process that has just started knows no warning that others reported."""
    counted = TimelineWarning.objects.filter(ended_at=None).values_list("kind").annotate(count=Count("id"))
    active = dict(counted.order_by())
    for kind in WarningKind:
        ACTIVE_WARNINGS.labels(kind=kind.value).set(active.get(kind, 0))


def find_active(kind: WarningKind, segment: Segment | None) -> TimelineWarning | None:
    """Return the active warning of a kind and segment."""
    return TimelineWarning.objects.filter(kind=kind, segment=segment, ended_at=None).first()


def lock_warnings() -> None:
    """Make the transactions that begin, raise or end a warning wait for each other."""
    if not transaction.get_connection().in_atomic_block:
        raise RuntimeError("Change warnings inside transaction.atomic.")
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [WARNINGS_LOCK])


def observe_active(kind: WarningKind) -> None:
    """Set the metric of a kind after the commit. Changes wait for each other, so the count is right."""
    active = TimelineWarning.objects.filter(kind=kind, ended_at=None).count()
    transaction.on_commit(lambda: ACTIVE_WARNINGS.labels(kind=kind.value).set(active))
