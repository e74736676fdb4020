"""The page *Settings*."""

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.accounts.domain.time_zones import time_zones
from apps.accounts.selectors import Account
from apps.accounts.services import account_show_in
from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.webui.pages import render_page
from apps.webui.person import Person


def zones() -> Iterator[tuple[str, Any]]:
    """Yield the time zones to choose from: none, UTC, then places by region."""
    yield "", gettext_lazy("Not chosen (UTC)")
    for region, names in groupby(time_zones(), key=lambda name: name.partition("/")[0]):
        found = [(name, name.replace("_", " ")) for name in names]
        yield from found if len(found) == 1 else [(region, found)]


class ShownForm(forms.Form):
    """Under which name, and in which language and time zone pages are shown."""

    name = forms.CharField(
        label=gettext_lazy("Your name"),
        required=False,
        max_length=150,
        help_text=gettext_lazy("Shown on these pages, and to people of your household. You sign in as before."),
        widget=forms.TextInput({"autocomplete": "name"}),
    )

    # Names of languages and places are not translated, by browsers neither.
    language = forms.ChoiceField(
        label=gettext_lazy("Language"),
        choices=lambda: [("", gettext_lazy("Same as the browser")), *settings.LANGUAGES],
        required=False,
        widget=forms.Select({"translate": "no"}),
    )
    time_zone = forms.ChoiceField(
        label=gettext_lazy("Time zone"), choices=zones, required=False, widget=forms.Select({"translate": "no"})
    )


def settings_page(request: HttpRequest, person: Person) -> HttpResponse:
    """Show the settings, or keep what was chosen."""
    account = Account.objects.select_related("login").get(login=request.user.pk)
    chosen = {
        "name": account.login.get_full_name(),
        "language": account.language,
        "time_zone": account.time_zone,
    }
    form = ShownForm(request.POST if request.method == "POST" else None, initial=chosen)
    if not account.time_zone:
        form.fields["time_zone"].widget.attrs["data-propose-zone"] = "zone-proposed"
    if form.is_bound and form.is_valid():
        account_show_in(login=account.login, **form.cleaned_data)
        # The next page is in the language that was chosen.
        with translation.override(form.cleaned_data["language"] or translation.get_language_from_request(request)):
            messages.success(request, _("Saved."))
        return HttpResponseRedirect(reverse("webui:settings"))
    now = timezone.localtime(utcnow(SYSTEM_CLOCK))
    context = {"form": form, "now": now}
    return render_page(request, person, "webui/settings/page.html", _("Settings"), **context)
