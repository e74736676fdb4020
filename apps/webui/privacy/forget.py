"""Forgetting everything: the counts, the name to type, what becomes of the account, and taking it back."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST

from apps.audit.services import note_object
from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.errors import MemoryHubError
from apps.core.domain.unseen import is_named
from apps.people.selectors import GRACE, erasure_obstacles
from apps.people.services import erasure_plan, erasure_preview, plan_take_back
from apps.webui.pages import render_page
from apps.webui.person import Person
from apps.webui.privacy.words import store_counts

STAYS, GOES = "stays", "goes"


class ForgetForm(forms.Form):
    """The wish to be forgotten. typed: the name as which the person signs in."""

    account = forms.ChoiceField(
        label=gettext_lazy("What happens to your account?"),
        choices=(
            (STAYS, gettext_lazy("Keep it: I can still sign in, and start from scratch.")),
            (GOES, gettext_lazy("It is removed with everything else.")),
        ),
        widget=forms.RadioSelect,
        initial=STAYS,
    )
    typed = forms.CharField(
        label=gettext_lazy("Type the name you sign in with to confirm"),
        max_length=200,
        widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "off", "spellcheck": "false"}),
    )

    def __init__(self, person: Person, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.person = person

    def clean_typed(self) -> str:
        """Return what was typed. Raises ValidationError when it is not the name."""
        typed: str = self.cleaned_data["typed"]
        if not is_named(typed, self.person.name):
            raise forms.ValidationError(_("This is not your name. Nothing was changed."))
        return typed


def forget_page(request: HttpRequest, person: Person) -> HttpResponse:
    """Show how much there is of the person; once their name was typed, plan to forget it."""
    form = ForgetForm(person, request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        try:
            erasure_plan(
                user_id=person.user_id,
                keeps_account=form.cleaned_data["account"] == STAYS,
                actor=person.access.actor,
            )
        except MemoryHubError as error:
            form.add_error(None, error.detail)
        else:
            note_object("person", "", scope=person.scope)
            messages.success(request, _("Noted. Until then, you can take it back from any page."))
            return HttpResponseRedirect(reverse("webui:privacy") + "#forget")
    found = erasure_preview(person.user_id)
    return render_page(
        request,
        person,
        "webui/privacy/forget.html",
        _("Forget everything about me"),
        form=form,
        stores=store_counts(found),
        total=sum(found.values()),
        obstacles=erasure_obstacles(person.user_id),
        days=GRACE.days,
        due_at=utcnow(SYSTEM_CLOCK) + GRACE,
    )


@require_POST
def take_back(request: HttpRequest, person: Person) -> HttpResponse:
    """Forget nothing after all."""
    try:
        plan_take_back(user_id=person.user_id)
    except MemoryHubError:
        messages.warning(request, _("This can no longer be taken back."))
    else:
        note_object("person", "", scope=person.scope)
        messages.success(request, _("Taken back. Nothing was forgotten."))
    return HttpResponseRedirect(reverse("webui:privacy"))
