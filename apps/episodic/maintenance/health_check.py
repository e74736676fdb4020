"""What nobody notices while writing: asked for by maintenance every minute."""

from django.conf import settings

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.episodic.domain.alarms import Assessment, assess_capacity, assess_space, is_quiet
from apps.episodic.domain.warnings import WarningKind
from apps.episodic.selectors import timeline_figures
from apps.episodic.store.disk_space import free_mb
from apps.episodic.warnings import active_warnings, refresh_warning_metrics, warning_end, warning_report


def health_check(*, clock: Clock = SYSTEM_CLOCK) -> None:
    """Report a disk that is nearly full and a table that is too long, and end what is over."""
    _end_quiet_latency(clock)
    _check_space(clock)
    _check_capacity(clock)
    refresh_warning_metrics()


def _end_quiet_latency(clock: Clock) -> None:
    """Slow writes are reported by the processes that write; when nobody does so any more it is over."""
    warning = active_warnings().filter(kind=WarningKind.WRITE_LATENCY).first()
    if warning and is_quiet(warning.last_seen_at, utcnow(clock)):
        warning_end(kind=WarningKind.WRITE_LATENCY, clock=clock)


def _check_space(clock: Clock) -> None:
    free, wanted = free_mb(), settings.MEMORYHUB.timeline.min_free_mb
    detail = f"{free:.0f} MiB are free where the data directory lies; there should be {wanted} MiB."
    _apply(WarningKind.DISK_NEARLY_FULL, assess_space(free, wanted), detail, clock)


def _check_capacity(clock: Clock) -> None:
    rows, limit = timeline_figures().hot, settings.MEMORYHUB.timeline.max_rows
    detail = f"{rows} events wait to be archived; there should be at most {limit}."
    _apply(WarningKind.CAPACITY, assess_capacity(rows, limit), detail, clock)


def _apply(kind: WarningKind, judgement: Assessment, detail: str, clock: Clock) -> None:
    if judgement.severity is not None:
        warning_report(kind=kind, severity=judgement.severity, detail=detail, clock=clock)
    elif judgement.is_relieved:
        warning_end(kind=kind, clock=clock)
