"""Checks of what is not noticed while writing; maintenance makes them every minute."""

from django.conf import settings

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.episodic.domain.alarms import assess_capacity, assess_space, is_quiet
from apps.episodic.domain.warnings import WarningKind
from apps.episodic.selectors import timeline_figures
from apps.episodic.store.disk_space import free_mb
from apps.episodic.warnings import active_warnings, refresh_warning_metrics, warning_end, warning_report


def health_check(*, clock: Clock = SYSTEM_CLOCK) -> None:
    """Report a disk that is nearly full and a table that is too long, and end the warnings that are over."""
    # Slow writes are reported by the processes that write; when none does so any more the warning is over.
    slow = active_warnings().filter(kind=WarningKind.WRITE_LATENCY).first()
    if slow and is_quiet(slow.last_seen_at, utcnow(clock)):
        warning_end(kind=WarningKind.WRITE_LATENCY, clock=clock)
    limits = settings.MEMORYHUB.timeline
    free, rows = free_mb(), timeline_figures().hot
    space = f"{free:.0f} MiB are free where the data directory lies; there should be {limits.min_free_mb} MiB."
    capacity = f"{rows} events wait to be archived; there should be at most {limits.max_rows}."
    for kind, assessment, detail in (
        (WarningKind.DISK_NEARLY_FULL, assess_space(free, limits.min_free_mb), space),
        (WarningKind.CAPACITY, assess_capacity(rows, limits.max_rows), capacity),
    ):
        if assessment.severity is not None:
            warning_report(kind=kind, severity=assessment.severity, detail=detail, clock=clock)
        elif assessment.is_relieved:
            warning_end(kind=kind, clock=clock)
    refresh_warning_metrics()
