"""What the buttons of the page of background work do. Each answers with a page that says what was done."""

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext, ngettext
from django.views.decorators.http import require_POST

from apps.cockpit.work.views import find_group
from apps.core.admin.kit import operator_access
from apps.core.domain.errors import MemoryHubError
from apps.core.pages.sayings import say
from apps.core.restart import request_restart
from apps.events import services


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
