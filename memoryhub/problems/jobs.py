"""Problems of background work: schedules, jobs, deliveries."""

from collections.abc import Iterator

from django.utils.translation import gettext, ngettext

from apps.core.processes import live_workers
from apps.events.selectors import failed_jobs, outbox_status, overdue_schedules
from apps.events.services import job_words
from apps.monitor.domain.problems import Problem, ProblemSeverity
from memoryhub.problems.links import link

MAX_FUNCTIONS = 10
MAX_NAMES = 3
OVERDUE_SECONDS = 120


def schedule_problems() -> Iterator[Problem]:
    """Yield that schedules are overdue by two periods."""
    overdue = overdue_schedules(live_workers())
    count = len(overdue.names)
    if not count:
        return
    names = ", ".join(overdue.names[:MAX_NAMES])
    if count > MAX_NAMES:
        names = gettext("%(names)s and %(count)s more") % {"names": names, "count": count - MAX_NAMES}
    said = ngettext(
        "%(n)s schedule is overdue by two periods or more: %(names)s.",
        "%(n)s schedules are overdue by two periods or more: %(names)s.",
        count,
    )
    yield Problem(
        code="schedules_overdue",
        severity=ProblemSeverity.WARNING,
        sentence=said % {"n": f"{count:,}", "names": names},
        advice=gettext("The worker has stopped, is stuck or is too busy: read logs/worker.log."),
        permission="django_q.view_schedule",
        since=overdue.since,
        remedy=link(gettext("See the schedules"), "cockpit_work", more="#work-schedules"),
    )


def failed_job_problems() -> Iterator[Problem]:
    """Yield the jobs that failed, one problem a function; those that failed last first, ten at most."""
    for failed in failed_jobs(MAX_FUNCTIONS):
        said = ngettext(
            "%(n)s job of “%(title)s” failed at %(time)s.",
            "%(n)s jobs of “%(title)s” failed, the last at %(time)s.",
            failed.count,
        )
        values = {
            "n": f"{failed.count:,}",
            "title": job_words(failed.func).title,
            "time": f"{failed.last:%Y-%m-%d %H:%M} UTC",
        }
        yield Problem(
            code="jobs_failed",
            severity=ProblemSeverity.WARNING,
            sentence=said % values,
            advice=gettext(
                "Read the error. Once its cause is fixed, run them again, or set aside what is no longer needed."
            ),
            permission="django_q.view_failure",
            subject=failed.func,
            since=failed.first,
            remedy=link(gettext("See the errors"), "cockpit_work", more="#work-failures"),
        )


def delivery_problems() -> Iterator[Problem]:
    """Yield that deliveries have failed for good, and that they are late."""
    status = outbox_status()
    if status.failed:
        said = ngettext(
            "%(n)s delivery has failed on every try.", "%(n)s deliveries have failed on every try.", status.failed
        )
        yield Problem(
            code="deliveries_failed",
            severity=ProblemSeverity.WARNING,
            sentence=said % {"n": f"{status.failed:,}"},
            advice=gettext("Read the errors, and deliver again once their cause is fixed."),
            permission="events.view_delivery",
            remedy=link(
                gettext("See the deliveries"), "admin:events_delivery_changelist", more="?status__exact=failed"
            ),
        )
    if status.overdue_seconds > OVERDUE_SECONDS:
        said = ngettext(
            "%(n)s delivery is waiting, overdue by up to %(minutes)s minutes: events do not become memories in time.",
            "%(n)s deliveries are waiting, overdue by up to %(minutes)s minutes: events do not become memories in "
            "time.",
            status.pending,
        )
        yield Problem(
            code="deliveries_overdue",
            severity=ProblemSeverity.WARNING,
            sentence=said % {"n": f"{status.pending:,}", "minutes": f"{status.overdue_seconds / 60:,.0f}"},
            advice=gettext("Check that the worker runs and is not busy with something else."),
            permission="events.view_delivery",
            remedy=link(
                gettext("See the deliveries"), "admin:events_delivery_changelist", more="?status__exact=pending"
            ),
        )
