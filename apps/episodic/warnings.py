"""What is wrong with the timeline: reported, told of once, and ended (spec 000, Warning escalation).

A warning is active until it is ended, one of its kind and segment at a time. Recording goes on meanwhile; what pauses
is the making of memories from events (from severity `warning` on) and, while the disk is nearly full, sealing.
"""

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Count, QuerySet

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.episodic.domain.warnings import HINTS, Severity, WarningKind
from apps.episodic.events import TimelineHealthy, TimelineWarned
from apps.episodic.metrics import ACTIVE_WARNINGS
from apps.episodic.models import Segment, TimelineWarning
from apps.episodic.store.locks import lock_warnings
from apps.events.services import emit

# Whoever notices something a hundred times a second changes the row no more often than this.
REPEAT_AFTER = timedelta(seconds=5)
MAX_DETAIL_CHARS = 500
_RANK = {severity: rank for rank, severity in enumerate(Severity)}
_SUSPENDING = (Severity.WARNING, Severity.CRITICAL)


def active_warnings() -> QuerySet[TimelineWarning]:
    """The warnings that are not over, the oldest first."""
    return TimelineWarning.objects.filter(ended_at=None).select_related("segment").order_by("began_at", "id")


def suspending_warnings() -> QuerySet[TimelineWarning]:
    """Those for which no memories are made from events."""
    return active_warnings().filter(severity__in=_SUSPENDING)


@transaction.atomic
def warning_report(
    *, kind: WarningKind, severity: Severity, detail: str, segment: Segment | None = None, clock: Clock = SYSTEM_CLOCK
) -> bool:
    """Say that something is wrong, as often as it is noticed; True when the warning begins or gets worse.

    Then an event tells of it. A warning that is there already is only seen again, at most every few seconds, and keeps
    the worst severity that it had. detail: a sentence with figures, never what somebody wrote.
    """
    now = utcnow(clock)
    warning = _active(kind, segment)
    if warning and not _is_worse(severity, warning) and now - warning.last_seen_at < REPEAT_AFTER:
        return False
    lock_warnings()
    warning = _active(kind, segment)
    is_news = warning is None or _is_worse(severity, warning)
    if warning is None:
        warning = TimelineWarning(kind=kind, segment=segment, began_at=now, last_seen_at=now)
    if is_news:
        warning.severity = severity
    warning.detail, warning.last_seen_at = detail[:MAX_DETAIL_CHARS], max(warning.last_seen_at, now)
    warning.save()
    if is_news:
        emit(_warned(warning), clock=clock)
        _show(kind)
    return is_news


@transaction.atomic
def warning_end(*, kind: WarningKind, segment: Segment | None = None, clock: Clock = SYSTEM_CLOCK) -> bool:
    """Say that it is well again; True, and an event, when there was a warning."""
    if _active(kind, segment) is None:
        return False
    lock_warnings()
    warning = _active(kind, segment)
    if warning is None:
        return False
    warning.ended_at = utcnow(clock)
    warning.save(update_fields=["ended_at"])
    emit(_healthy(warning, warning.ended_at), clock=clock)
    _show(kind)
    return True


def refresh_warning_metrics() -> None:
    """Bring the metrics up to date: a process that starts knows nothing of what others reported."""
    counted = TimelineWarning.objects.filter(ended_at=None).values_list("kind").annotate(count=Count("id"))
    active = dict(counted.order_by())
    for kind in WarningKind:
        ACTIVE_WARNINGS.labels(kind=kind.value).set(active.get(kind, 0))


def _active(kind: WarningKind, segment: Segment | None) -> TimelineWarning | None:
    return TimelineWarning.objects.filter(kind=kind, segment=segment, ended_at=None).first()


def _is_worse(severity: Severity, warning: TimelineWarning) -> bool:
    return _RANK[severity] > _RANK[Severity(warning.severity)]


def _warned(warning: TimelineWarning) -> TimelineWarned:
    kind = WarningKind(warning.kind)
    return TimelineWarned(
        kind=kind,
        severity=Severity(warning.severity),
        detail=warning.detail,
        hint=HINTS[kind],
        segment_id=warning.segment.uuid if warning.segment else None,
        at=warning.last_seen_at,
    )


def _healthy(warning: TimelineWarning, now: datetime) -> TimelineHealthy:
    return TimelineHealthy(
        kind=WarningKind(warning.kind),
        segment_id=warning.segment.uuid if warning.segment else None,
        warned_at=warning.began_at,
        is_healthy=not suspending_warnings().exists(),
        at=now,
    )


def _show(kind: WarningKind) -> None:
    """Show, after the commit, how many warnings of a kind are active. Changes wait in line, so the count is right."""
    active = TimelineWarning.objects.filter(kind=kind, ended_at=None).count()
    transaction.on_commit(lambda: ACTIVE_WARNINGS.labels(kind=kind.value).set(active))
