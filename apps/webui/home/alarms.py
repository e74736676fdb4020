"""What of the hub does not work just now, as far as a person notices it, on each of their pages."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy as _

from apps.monitor.services import recent_problems
from apps.webui.pages import render_fragment
from apps.webui.person import Person

# Codes of problems, and what a person notices of each. Others are for those who run the hub.
NOTICED = {
    "worker_stopped": _("What your apps report is kept, but it becomes memories only later."),
    "embedding_not_ready": _("Nothing new can be remembered, and questions find only what has the same words."),
    "disk_full": _("The hub has no room left, so new things may not be remembered."),
    "migrations_missing": _("The hub is between two versions, so some things may fail."),
    "index_degraded": _("Saving and searching are slow."),
}


def alarms_part(request: HttpRequest) -> dict[str, Any]:
    """Return what a person notices of the problems of the hub, and whether they can do something about it."""
    noticed = [NOTICED[one.code] for one in recent_problems()[0] if one.code in NOTICED]
    return {"noticed": noticed, "runs_hub": request.user.is_staff and request.user.has_perm("core.view_hubprocess")}


def alarms(request: HttpRequest, person: Person) -> HttpResponse:
    """Show the banner again."""
    return render_fragment(request, person, "webui/home/alarms.html", **alarms_part(request))
