"""The switch with which a person has nothing more remembered of them."""

from datetime import timedelta

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST

from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.pauses import pause_begin, pause_end
from apps.people.selectors import plan_of
from apps.webui.person import Person

LENGTHS = {"hour": timedelta(hours=1), "day": timedelta(days=1), "week": timedelta(days=7), "open": None}


class PauseForm(forms.Form):
    """For how long nothing is remembered."""

    length = forms.ChoiceField(
        label=gettext_lazy("For how long?"),
        choices=(
            ("hour", gettext_lazy("for an hour")),
            ("day", gettext_lazy("for a day")),
            ("week", gettext_lazy("for a week")),
            ("open", gettext_lazy("until I resume")),
        ),
    )


@require_POST
def pause(request: HttpRequest, person: Person) -> HttpResponse:
    """Have nothing remembered of the person for a while; it is so already while everything is about to be forgotten."""
    if plan_of(person.user_id) is not None:
        messages.warning(request, _("Remembering is already off."))
        return HttpResponseRedirect(reverse("webui:privacy"))
    form = PauseForm(request.POST)
    if form.is_valid():
        length = LENGTHS[form.cleaned_data["length"]]
        until = utcnow(SYSTEM_CLOCK) + length if length else None
        pause_begin(user_id=person.user_id, until=until, actor=person.access.actor)
        messages.success(request, _("Paused. Your assistants can read what they know, and save nothing."))
    else:
        messages.warning(request, _("Choose for how long."))
    return HttpResponseRedirect(reverse("webui:home"))


@require_POST
def go_on(request: HttpRequest, person: Person) -> HttpResponse:
    """Have things remembered again; not while everything is about to be forgotten."""
    if plan_of(person.user_id) is not None:
        messages.warning(request, _("Take back the forgetting first."))
        return HttpResponseRedirect(reverse("webui:privacy"))
    pause_end(user_id=person.user_id)
    messages.success(request, _("Your assistants can remember again."))
    return HttpResponseRedirect(reverse("webui:home"))
