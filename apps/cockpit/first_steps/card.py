"""The card of the first steps on the first page."""

from typing import Any

from django.http import HttpRequest, HttpResponse

from apps.cockpit.first_steps.progress import ROW, may_make_again, open_steps, progress_of
from apps.cockpit.models import FirstSteps
from apps.cockpit.pages import render_fragment
from apps.core.admin.snippets import QUESTION
from apps.core.domain.clock import SYSTEM_CLOCK, utcnow


def steps_part(request: HttpRequest) -> dict[str, Any]:
    """Return what the card shows on a whole page; empty without a card. Once all is over, the next page has none."""
    shown = shown_steps(request)
    if shown and shown["progress"].is_over and request.method == "GET":
        FirstSteps.objects.filter(pk=ROW).update(dismissed_at=utcnow(SYSTEM_CLOCK))
        return {}
    return shown


def shown_steps(request: HttpRequest) -> dict[str, Any]:
    """Return how far the hub is, whose memories the viewer begins with, and a question; empty once that is over."""
    row = open_steps(request)
    if row is None:
        return {}
    progress = progress_of(request, row)
    return {
        "progress": progress,
        "whose": progress.key.user_id if progress.key else own_id(request),
        "question": QUESTION,
        "may_make_again": may_make_again(request, progress.key),
    }


def own_id(request: HttpRequest) -> str:
    """Return whose memories the viewer begins with: the person of their account, or their name."""
    account = getattr(request.user, "account", None)
    person: str = account.person_id if account else ""
    return person or request.user.get_username()


def steps_progress(request: HttpRequest) -> HttpResponse:
    """Show again which steps are done."""
    now = utcnow(SYSTEM_CLOCK)
    return render_fragment(request, "cockpit/first_steps/progress.html", now=now, **shown_steps(request))
