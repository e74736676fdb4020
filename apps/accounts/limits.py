"""The answer to those who try too often."""

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.accounts.failures import account_named, record_failure
from apps.core.pages.errors import Problem, Way, problem_page

RETRY_SECONDS = 300
# Views at which an attempt that a limit refuses is a failed sign-in.
SIGN_IN, SIGN_IN_AGAIN = "account_login", "account_reauthenticate"


def too_many_requests(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Return 429 with a page that says when to try again, and count the attempt where it was one to sign in."""
    view = request.resolver_match.url_name if request.resolver_match else None
    if request.method == "POST" and view in {SIGN_IN, SIGN_IN_AGAIN}:
        user = request.user if request.user.is_authenticated else account_named(request.POST.get("username", ""))
        record_failure(request, user, "refused by a limit")
    response = problem_page(request, too_many_attempts())
    response["Retry-After"] = str(RETRY_SECONDS)
    return response


def too_many_attempts() -> Problem:
    """Return what is said to those who try too often, with the ways that are still open."""
    return Problem(
        429,
        _("Too many attempts"),
        _("The attempts were recorded and are shown to the account’s user."),
        ngettext(
            "Wait %(count)s minute, then try again. A passkey, if one is set up, works right away, and an owner of "
            "this hub can make a link to choose a new password.",
            "Wait %(count)s minutes, then try again. A passkey, if one is set up, works right away, and an owner of "
            "this hub can make a link to choose a new password.",
            RETRY_SECONDS // 60,
        )
        % {"count": RETRY_SECONDS // 60},
        (
            Way(_("Go to sign-in"), reverse("account_login")),
            Way(_("How to get back in"), reverse("account_reset_password")),
        ),
    )
