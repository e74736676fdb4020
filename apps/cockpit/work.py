"""The page of background work, its fragments with the last runs as bars, its buttons, and one kind of failure."""

import math
from collections.abc import Callable, Sequence
from datetime import timedelta
from statistics import median
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.timezone import now
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from apps.cockpit.pages import render_page
from apps.core.admin.bars import Bar, Bars
from apps.core.admin.kit import moment, operator_access
from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.errors import MemoryHubError
from apps.core.pages.lists import all_of
from apps.core.pages.sayings import say
from apps.core.pages.times import ago, in_figures, in_words
from apps.core.processes import live_workers
from apps.core.restart import request_restart
from apps.events import services
from apps.events.selectors import JobRun

SHOWN, STEP, HEIGHT, LEAST = 30, 6, 28, 4
TONES = {
    JobRun.Outcome.SUCCEEDED: "good",
    JobRun.Outcome.FAILED: "bad",
    JobRun.Outcome.LOST: "bad",
    JobRun.Outcome.RUNNING: "quiet",
}
OUTCOMES = {
    JobRun.Outcome.SUCCEEDED: _("succeeded"),
    JobRun.Outcome.FAILED: _("failed"),
    JobRun.Outcome.LOST: _("lost with its process"),
    JobRun.Outcome.RUNNING: _("is running"),
}
MAX_REPORT_CHARS = 20_000
# In a few seconds a schedule runs; beyond that it says when.
SOON = timedelta(seconds=5)


def milliseconds(run: JobRun) -> float:
    """Return how long a run took; 0 while it runs."""
    return 0.0 if run.ended_at is None else (run.ended_at - run.started_at) / timedelta(milliseconds=1)


def run_bars(runs: Sequence[JobRun]) -> Bars:
    """Return the bars of the last runs, the newest at the right. The scale is logarithmic: a second beside an hour."""
    shown = runs[-SHOWN:]
    longest = max((math.log1p(milliseconds(run)) for run in shown), default=0.0) or 1.0
    start = SHOWN - len(shown)
    bars = []
    for place, run in enumerate(shown):
        height = max(LEAST, round(HEIGHT * math.log1p(milliseconds(run)) / longest))
        title = f"{moment(run.started_at)}: {outcome_in_words(run)}"
        bars.append(Bar((start + place) * STEP, HEIGHT - height, height, TONES[JobRun.Outcome(run.outcome)], title))
    return Bars(tuple(bars), SHOWN * STEP, HEIGHT, summary_of(shown))


def outcome_in_words(run: JobRun) -> str:
    """Return how a run ended, and after what time."""
    words = OUTCOMES[JobRun.Outcome(run.outcome)]
    if run.ended_at is None:
        return str(words)
    return gettext("%(outcome)s after %(time)s") % {"outcome": words, "time": in_figures(milliseconds(run))}


def summary_of(runs: Sequence[JobRun]) -> str:
    """Return the last runs in a sentence."""
    ended = [run for run in runs if run.outcome != JobRun.Outcome.RUNNING]
    if not ended:
        return gettext("No runs recorded yet")
    bad = sum(TONES[JobRun.Outcome(run.outcome)] == "bad" for run in ended)
    usual = in_figures(median(milliseconds(run) for run in ended))
    good = len(ended) - bad
    return gettext(
        "Last %(total)s runs: %(good)s succeeded, %(bad)s failed or were lost; half took at most %(time)s"
    ) % {"total": len(ended), "good": good, "bad": bad, "time": usual}


def work(request: HttpRequest) -> HttpResponse:
    """Show schedules, the queue and failed tasks."""
    context = {**queue_context(request), **failures_context(request), **schedules_context(request), "tab": "work"}
    return render_page(request, "cockpit/work/page.html", gettext("Work"), **context)


def deliveries(request: HttpRequest) -> HttpResponse:
    """Show which events go to whom, and what waits or failed of them."""
    context = {**routes_context(request), "tab": "deliveries"}
    return render_page(request, "cockpit/work/deliveries.html", gettext("Work"), **context)


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


def change_schedule(request: HttpRequest, change: Callable[..., Any], pk: int, done: str) -> HttpResponse:
    """Apply a service to a schedule, and say what was done or why not. done: names the `title` of the schedule."""
    try:
        schedule = change(pk=pk)
        messages.success(request, done % {"title": services.job_words(schedule.func).title})
    except MemoryHubError as error:
        messages.error(request, say(str(error.detail)))
    return HttpResponseRedirect(reverse("cockpit_work"))


@require_POST
def run_now(request: HttpRequest, pk: int) -> HttpResponse:
    """Run a schedule now."""
    done = gettext("%(title)s: requested. It runs as soon as a worker is free.")
    return change_schedule(request, services.schedule_run_now, pk, done)


@require_POST
def pause(request: HttpRequest, pk: int) -> HttpResponse:
    """Pause a schedule."""
    return change_schedule(request, services.schedule_pause, pk, gettext("%(title)s: paused until you resume it."))


@require_POST
def resume(request: HttpRequest, pk: int) -> HttpResponse:
    """Resume a schedule."""
    return change_schedule(request, services.schedule_resume, pk, gettext("%(title)s: resumed."))


@require_POST
def rerun(request: HttpRequest, key: str) -> HttpResponse:
    """Run all failed tasks of a kind again."""
    group, _ = find_group(key)
    count = services.failures_rerun(task_ids=group.task_ids)
    said = ngettext("%(count)s task is queued again.", "%(count)s tasks are queued again.", count)
    messages.success(request, said % {"count": count})
    return HttpResponseRedirect(reverse("cockpit_work"))


@require_POST
def set_aside(request: HttpRequest, key: str) -> HttpResponse:
    """Set all failed tasks of a kind aside."""
    group, _ = find_group(key)
    count = services.failures_set_aside(task_ids=group.task_ids, actor=operator_access(request).actor)
    said = ngettext("%(count)s failed task is set aside.", "%(count)s failed tasks are set aside.", count)
    messages.success(request, said % {"count": count})
    return HttpResponseRedirect(reverse("cockpit_work"))


@require_POST
def restart_worker(request: HttpRequest) -> HttpResponse:
    """Have the supervisor of `manage.py up` restart the worker, also one that hangs; any other must be asked itself."""
    if not settings.MEMORYHUB.is_supervised:
        messages.error(request, gettext("The worker was not started by this hub, so it cannot be restarted from here."))
        return HttpResponseRedirect(reverse("admin:index"))
    try:
        request_restart(settings.MEMORYHUB.data_dir)
    except OSError as error:
        messages.error(request, gettext("The worker could not be restarted: %(error)s.") % {"error": error.strerror})
    else:
        messages.success(request, gettext("The worker is being restarted. That takes up to half a minute."))
    return HttpResponseRedirect(reverse("admin:index"))


@require_POST
def redeliver(request: HttpRequest) -> HttpResponse:
    """Deliver the failed deliveries of a route again."""
    ids = services.failed_deliveries(request.POST.get("event", ""), request.POST.get("subscriber", ""))
    count = services.redeliver(delivery_ids=ids)
    said = ngettext("%(count)s delivery is queued again.", "%(count)s deliveries are queued again.", count)
    messages.success(request, said % {"count": count})
    return HttpResponseRedirect(reverse("cockpit_work_deliveries"))
