"""Looking at the pages of a person: the question for a reason, and the end. The pages are those of the person."""

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from apps.cockpit.pages import render_page
from apps.cockpit.people.pages import asked_person, person_link
from apps.core.domain.errors import MemoryHubError
from apps.people.selectors import MAX_REASON_CHARS, MOST, may_look
from apps.people.services import look_begin, look_end


def person_look(request: HttpRequest) -> HttpResponse:
    """Ask for a reason; with one, lead to the pages of the person, which show themselves for half an hour."""
    user_id, problem = asked_person(request, request.POST or request.GET), ""
    if not may_look(request, user_id):
        raise PermissionDenied
    if request.method == "POST":
        try:
            look_begin(request=request, user_id=user_id, reason=request.POST.get("reason", ""))
            return HttpResponseRedirect(reverse("webui:home"))
        except MemoryHubError as error:
            problem = error.detail
    return render_page(
        request,
        "cockpit/person_look.html",
        _("View %(person)s's pages") % {"person": user_id},
        user_id=user_id,
        problem=problem,
        minutes=int(MOST.total_seconds() // 60),
        max_chars=MAX_REASON_CHARS,
        back=person_link(user_id),
    )


@require_POST
def person_look_stop(request: HttpRequest) -> HttpResponse:
    """End the look, and lead back to the person in the admin."""
    user_id = look_end(request=request)
    messages.success(request, _("You're no longer viewing another person's pages."))
    return HttpResponseRedirect(person_link(user_id) if user_id else reverse("cockpit_people"))
