"""The page of background work, its fragments, and the page of one kind of failure."""

from datetime import timedelta
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.utils.timezone import now
from django.utils.translation import gettext, ngettext

from apps.cockpit.pages import render_fragment, render_page
from apps.cockpit.work.bars import outcome_in_words, run_bars
from apps.core.admin.kit import moment
from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.pages.lists import all_of
from apps.core.pages.times import ago, in_words
from apps.core.processes import live_workers
from apps.events import services

MAX_REPORT_CHARS = 20_000
# In a few seconds a schedule runs; beyond that it says when.
SOON = timedelta(seconds=5)


def work(request: HttpRequest) -> HttpResponse:
    """Show schedules, the queue and failed tasks."""
    context = {**queue_context(request), **failures_context(request), **schedules_context(request), "tab": "work"}
    return render_page(request, "cockpit/work/page.html", gettext("Work"), **context)


def queue_fragment(request: HttpRequest) -> HttpResponse:
    """Show what waits and runs."""
    return render_fragment(request, "cockpit/work/queue.html", **queue_context(request))


def failures_fragment(request: HttpRequest) -> HttpResponse:
    """Show the failed tasks by kind."""
    return render_fragment(request, "cockpit/work/failures.html", **failures_context(request))


def schedules_fragment(request: HttpRequest) -> HttpResponse:
    """Show the schedules."""
    return render_fragment(request, "cockpit/work/schedules.html", **schedules_context(request))


def deliveries(request: HttpRequest) -> HttpResponse:
    """Show which events go to whom, and what waits or failed of them."""
    context = {**routes_context(request), "tab": "deliveries"}
    return render_page(request, "cockpit/work/deliveries.html", gettext("Work"), **context)


def routes_fragment(request: HttpRequest) -> HttpResponse:
    """Show the routes of events."""
    return render_fragment(request, "cockpit/work/routes.html", **routes_context(request))


def failure(request: HttpRequest, key: str) -> HttpResponse:
    """Show one kind of failure: how often, since when, and the report of the newest."""
    group, is_aside = find_group(key)
    context = {
        "group": shown_group(group),
        "is_aside": is_aside,
        "report": group.report[-MAX_REPORT_CHARS:] or gettext("Nothing was recorded."),
        "may_change": request.user.has_perm("django_q.change_failure"),
        "newest": group.task_ids[0],
    }
    title = gettext("Failed: %(title)s") % {"title": group.words.title}
    return render_page(request, "cockpit/work/failure.html", title, **context)


def find_group(key: str) -> tuple[services.FailureGroup, bool]:
    """Return a kind of failure, and whether it was set aside. Raises Http404."""
    for is_aside in (False, True):
        for group in services.failure_groups(are_set_aside=is_aside):
            if group.key == key:
                return group, is_aside
    raise Http404


def queue_context(request: HttpRequest) -> dict[str, Any]:
    """Return what the queue shows; only how much there is to those who may not view it."""
    queue = services.queue_state()
    may_view = request.user.has_perm("django_q.view_ormq")
    return {
        "waiting": queue.waiting,
        "oldest": in_words(queue.oldest) if queue.oldest is not None else "",
        "running_count": len(queue.running),
        "running": [(one.words, in_words(one.age)) for one in queue.running] if may_view else [],
        "listed": [(one.words, in_words(one.age)) for one in queue.listed] if may_view else [],
        "failed_count": services.failure_count(),
        "workers": len(live_workers()),
        "as_of": now(),
    }


def failures_context(request: HttpRequest) -> dict[str, Any]:
    """Return the kinds of failures, for those who may view them."""
    if not request.user.has_perm("django_q.view_failure"):
        return {"may_view_failures": False}
    return {
        "may_view_failures": True,
        "may_change_failures": request.user.has_perm("django_q.change_failure"),
        "groups": [shown_group(group) for group in services.failure_groups()],
        "aside": [shown_group(group) for group in services.failure_groups(are_set_aside=True)],
        "as_of": now(),
    }


def shown_group(group: services.FailureGroup) -> dict[str, Any]:
    """Return a kind of failure as a row shows it."""
    since = utcnow(SYSTEM_CLOCK)
    return {
        "key": group.key,
        "words": group.words,
        "function": group.function,
        "error": str(group.failure),
        "message": group.failure.words,
        "count": group.count,
        "first": moment(group.first),
        "last": moment(group.last),
        "ago": ago(group.last, since),
    }


def schedules_context(request: HttpRequest) -> dict[str, Any]:
    """Return the schedules with their last runs, and a sentence about them."""
    states = services.schedule_states()
    rows = [schedule_row(state) for state in states]
    return {
        "rows": rows,
        "sentence": sentence_of(states),
        "needs_attention": any(services.needs_attention(state) for state in states),
        "may_change": request.user.has_perm("django_q.change_schedule"),
        "as_of": now(),
    }


def schedule_row(state: services.ScheduleState) -> dict[str, Any]:
    """Return a schedule as a row shows it."""
    moment_now, last = utcnow(SYSTEM_CLOCK), state.last
    return {
        "state": state,
        "bars": run_bars(state.runs),
        "last_at": moment(last.started_at) if last else "",
        "last_ago": ago(last.started_at, moment_now) if last else "",
        "last_outcome": outcome_in_words(last) if last else "",
        "last_is_bad": last is not None and last.outcome in ("failed", "lost"),
        "last_error": last.error if last else "",
        "late": in_words(state.late) if state.late is not None else "",
        "next_at": moment(state.next_run),
        "next_in": next_in_words(state, moment_now),
    }


def next_in_words(state: services.ScheduleState, moment_now: Any) -> str:
    """Return when a schedule that is on time runs next."""
    if state.next_run is None:
        return gettext("no next run")
    if state.next_run - moment_now <= SOON:
        return gettext("due now")
    return gettext("next in %(time)s") % {"time": in_words(state.next_run - moment_now)}


def sentence_of(states: list[services.ScheduleState]) -> str:
    """Return how the schedules do, in a sentence."""
    late = sum(state.late is not None for state in states)
    bad = sum(services.needs_attention(state) and state.late is None for state in states)
    paused = sum(state.is_paused for state in states)
    said = [sentence_of_trouble(len(states), late, bad)]
    if paused:
        said.append(ngettext("%(count)s is paused.", "%(count)s are paused.", paused) % {"count": paused})
    return " ".join(said)


def sentence_of_trouble(total: int, late: int, bad: int) -> str:
    """Return how many of all schedules are late, and how many failed, in a sentence."""
    parts = []
    if late:
        parts.append(ngettext("%(count)s is late", "%(count)s are late", late) % {"count": late})
    if bad:
        failed = ngettext("%(count)s failed in its last run", "%(count)s failed in their last run", bad)
        parts.append(failed % {"count": bad})
    if not parts:
        return gettext("All %(total)s schedules are on time.") % {"total": total}
    return gettext("Of %(total)s schedules, %(parts)s.") % {"total": total, "parts": all_of(parts)}


def routes_context(request: HttpRequest) -> dict[str, Any]:
    """Return the routes of events."""
    routes = services.delivery_routes()
    return {
        "routes": [(route, in_words(route.oldest) if route.oldest is not None else "") for route in routes],
        "failed": sum(route.failed for route in routes),
        "waiting": sum(route.waiting for route in routes),
        "may_redeliver": request.user.has_perm("events.redeliver_delivery"),
        "as_of": now(),
    }
