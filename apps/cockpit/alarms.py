"""*Alarms*: to whom the hub sends what is wrong with it."""

from typing import Any
from urllib.parse import urlsplit

from django import forms
from django.conf import settings
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import get_language, gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from apps.audit.services import note_change
from apps.cockpit.pages import render_page
from apps.core.bounds import is_bound
from apps.monitor.services import ALARM_LEVELS, alarm_settings, alarm_settings_save, alarm_test, check_url

CHANNELS = {"mail": _("Mail"), "webhook": _("Webhook")}


class AlarmsForm(forms.Form):
    """To whom alarms are sent, and which. The address of the webhook is not shown again: it is a secret itself."""

    mail = forms.EmailField(
        label=_("Mail to"), required=False, max_length=254, widget=forms.EmailInput(attrs={"autocomplete": "email"})
    )
    url = forms.CharField(
        label=_("Address of a webhook"),
        required=False,
        max_length=2_000,
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false", "inputmode": "url"}),
    )
    remove_url = forms.BooleanField(label=_("Remove the webhook"), required=False)
    least = forms.TypedChoiceField(label=_("Send"), coerce=int, choices=ALARM_LEVELS)

    def clean_url(self) -> str:
        """Refuse an address to which nothing can be sent."""
        url: str = self.cleaned_data["url"].strip()
        if url and (problem := check_url(url)):
            raise forms.ValidationError(problem)
        return url

    def clean_mail(self) -> str:
        """Refuse an address where there is no mail server."""
        mail: str = self.cleaned_data["mail"]
        if mail and settings.MEMORYHUB.mail is None:
            raise forms.ValidationError(gettext("Mail needs a mail server: set MEMORYHUB_SMTP_URL and start again."))
        return mail


def alarms(request: HttpRequest) -> HttpResponse:
    """Show to whom alarms are sent; a POST changes it."""
    refuse_bound(request)
    row = alarm_settings()
    form = AlarmsForm(
        request.POST if request.method == "POST" else None,
        initial={"mail": row.mail, "least": row.least},
    )
    if form.is_bound and form.is_valid():
        data, before = form.cleaned_data, shown(row)
        url = data["url"] or ("" if data["remove_url"] else None)
        row = alarm_settings_save(mail=data["mail"], url=url, least=data["least"], language=get_language() or "en")
        note_change(before, shown(row), object_type="monitor.alarmsettings", object_id=row.pk, name=str(row))
        messages.success(request, gettext("Saved. Send a test to see that it arrives."))
        return HttpResponseRedirect(reverse("cockpit_alarms"))
    context = {
        "form": form,
        "host": urlsplit(row.url).hostname or "",
        "is_unreadable": bool(row.sealed_url) and not row.url,
        "has_mail_server": settings.MEMORYHUB.mail is not None,
        "may_test": bool((row.mail and settings.MEMORYHUB.mail) or row.url),
        "sent_at": row.sent_at,
        "failures": [(CHANNELS[name], said) for name, said in row.failures.items() if name in CHANNELS],
    }
    return render_page(request, "cockpit/alarms/page.html", gettext("Alarms"), tab="alarms", **context)


@require_POST
def send_test(request: HttpRequest) -> HttpResponse:
    """Send a test by each channel, and say what became of it."""
    refuse_bound(request)
    for name, problem in alarm_test().items():
        if problem:
            said = gettext("%(channel)s: the test did not arrive, because %(problem)s.")
            messages.error(request, said % {"channel": CHANNELS[name], "problem": problem})
        else:
            messages.success(request, gettext("%(channel)s: the test was sent.") % {"channel": CHANNELS[name]})
    return HttpResponseRedirect(reverse("cockpit_alarms"))


def refuse_bound(request: HttpRequest) -> None:
    """Raise PermissionDenied for an account with a bound: alarms are about the whole hub."""
    if is_bound(request.user):
        raise PermissionDenied


def shown(row: Any) -> dict[str, Any]:
    """Return of the settings what the audit keeps: of the webhook its host alone."""
    return {"mail": row.mail, "webhook": urlsplit(row.url).hostname or "", "least": row.least}
