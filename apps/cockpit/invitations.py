"""Invitations of people to their own pages: made, listed and revoked by operators."""

from datetime import datetime
from typing import Any
from uuid import UUID

from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST

from apps.accounts.selectors import Invitation, invitation_list
from apps.accounts.services import invitation_create, invitation_path, invitation_revoke
from apps.cockpit.pages import render_page
from apps.core.admin.key_forms import IdentifierInput
from apps.core.admin.kit import moment, operator_access
from apps.core.db.memberships import display_names
from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.errors import MemoryHubError, NotFoundError
from apps.core.domain.scope import MAX_IDENTIFIER_CHARS
from apps.core.pages.addresses import hub_address

MAX_SHOWN = 100
MAX_NAME_CHARS = 150


class InvitationForm(forms.Form):
    """Who is invited, to whose memories."""

    user_id = forms.CharField(
        label=gettext_lazy("Whose memories?"),
        max_length=MAX_IDENTIFIER_CHARS,
        widget=IdentifierInput(),
        help_text=gettext_lazy("Their user id: an existing one or a new one."),
    )
    username = forms.CharField(
        label=gettext_lazy("Name to sign in with"),
        max_length=MAX_NAME_CHARS,
        widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}),
    )
    household_id = forms.CharField(
        label=gettext_lazy("Household"),
        required=False,
        max_length=MAX_IDENTIFIER_CHARS,
        widget=IdentifierInput(),
        help_text=gettext_lazy(
            "The households they belong to; their applications may save there. Leave empty for none."
        ),
    )
    language = forms.ChoiceField(
        label=gettext_lazy("Language"),
        required=False,
        choices=lambda: [("", gettext_lazy("Same as their browser")), *settings.LANGUAGES],
    )


def invitations(request: HttpRequest) -> HttpResponse:
    """Show the form and the invitations; a POST makes one, and shows its link in the answer itself."""
    asked = request.GET.get("user_id", "").replace("\0", "")[:MAX_IDENTIFIER_CHARS]
    form = InvitationForm(request.POST if request.method == "POST" else None, initial={"user_id": asked})
    made: dict[str, Any] = {}
    if form.is_bound and form.is_valid():
        data = form.cleaned_data
        try:
            invitation, token = invitation_create(
                username=data["username"],
                person_id=data["user_id"],
                household_id=data["household_id"],
                language=data["language"],
                invited_by=operator_access(request).actor,
            )
        except MemoryHubError as error:
            name = "user_id" if getattr(error, "attr", None) == "person_id" else "username"
            form.add_error(name, error.detail)
        else:
            made = {"made": invitation, "link": hub_address(request) + invitation_path(token)}
            form = InvitationForm()
    context = {"form": form, **made, **rows_context(request)}
    return render_page(request, "cockpit/invitations/page.html", _("Invitations"), **context)


def rows_context(request: HttpRequest) -> dict[str, Any]:
    """Return the newest invitations, each with its state."""
    now = utcnow(SYSTEM_CLOCK)
    found = list(invitation_list()[:MAX_SHOWN])
    called = display_names("household_id", {one.household_id for one in found})
    rows = [{**row_of(one, now), "household": called.get(one.household_id, "")} for one in found]
    may_change = request.user.has_perm("accounts.change_invitation")
    return {"rows": rows, "now": now, "may_change": may_change}


def row_of(invitation: Invitation, now: datetime) -> dict[str, Any]:
    """Return an invitation as a row shows it."""
    if invitation.accepted_at:
        state, words = "used", _("Used at %(moment)s") % {"moment": moment(invitation.accepted_at)}
    elif invitation.revoked_at:
        state, words = "revoked", _("Revoked at %(moment)s") % {"moment": moment(invitation.revoked_at)}
    elif invitation.expires_at <= now:
        state, words = "expired", _("Expired at %(moment)s") % {"moment": moment(invitation.expires_at)}
    else:
        state, words = "waiting", _("Works until %(moment)s") % {"moment": moment(invitation.expires_at)}
    return {"invitation": invitation, "state": state, "words": words, "made_at": moment(invitation.created_at)}


@require_POST
def revoke(request: HttpRequest, uuid: UUID) -> HttpResponse:
    """Have a link work no more."""
    try:
        invitation = invitation_revoke(uuid=uuid)
    except NotFoundError:
        raise Http404 from None
    messages.success(request, _("The link for %(name)s no longer works.") % {"name": invitation.username})
    return HttpResponseRedirect(reverse("cockpit_invitations"))
