"""The pages behind a link of an invitation: choose a password, or a passkey."""

from allauth.account.forms import SetPasswordForm
from allauth.account.utils import perform_login
from allauth.core.internal import ratelimit
from django.contrib.auth import logout
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import translation
from django.views.decorators.cache import never_cache

from apps.accounts.context import passkeys_work
from apps.accounts.failures import record_failure, too_many_requests
from apps.accounts.invitations import digest_of
from apps.accounts.models import Invitation
from apps.accounts.services import invitation_accept, invitation_find
from apps.core.db.memberships import display_names
from apps.core.domain.errors import MemoryHubError, NotFoundError

# In a session: the digest of the link, which is no link.
KEPT = "account_invitation"


@never_cache
def invitation_link(request: HttpRequest, token: str) -> HttpResponse:
    """Take a link, and lead on to an address without its secret; how often that may be tried is limited."""
    if not ratelimit.consume(request, app="allauth.account", action="invitation", limit_get=True):
        return too_many_requests(request)
    try:
        found = invitation_find(digest_of(token))
    except NotFoundError:
        record_failure(request, None, "a link of no invitation")
        return gone(request)
    request.session[KEPT] = found.digest
    return HttpResponseRedirect(reverse("account_invitation"))


@never_cache
def invitation(request: HttpRequest) -> HttpResponse:
    """Show the choice between a password and a passkey, and make the account."""
    try:
        found = invitation_find(request.session.get(KEPT, ""))
    except NotFoundError:
        return gone(request)
    with translation.override(found.language or translation.get_language()):
        return chosen(request, found)


def chosen(request: HttpRequest, found: Invitation) -> HttpResponse:
    """Return the form, or sign in with what was chosen. A passkey is added by the pages of one's account."""
    is_passkey = request.method == "POST" and "passkey" in request.POST and passkeys_work(request)
    form = SetPasswordForm(user=User(username=found.username), data=None if is_passkey else request.POST or None)
    problem = ""
    if is_passkey or form.is_valid():
        password = None if is_passkey else form.cleaned_data["password1"]
        try:
            login = invitation_accept(digest=found.digest, password=password)
        except MemoryHubError as error:
            problem = error.detail
        else:
            logout(request)
            next_page = reverse("mfa_add_webauthn") if is_passkey else "/"
            answer: HttpResponse = perform_login(request, login, redirect_url=next_page)
            return answer
    household = display_names("household_id", [found.household_id]).get(found.household_id, "")
    context = {"form": form, "invitation": found, "household": household, "problem": problem}
    return TemplateResponse(request, "account/invitation.html", context).render()


def gone(request: HttpRequest) -> HttpResponse:
    """Say that a link does not work, and not why."""
    return TemplateResponse(request, "account/invitation.html", {"is_gone": True})
