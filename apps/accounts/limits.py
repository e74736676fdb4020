"""The answer to those who try too often."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from apps.accounts.failures import account_named, record_failure

RETRY_SECONDS = 300
# Views at which an attempt that a limit refuses is a failed sign-in.
SIGN_IN, SIGN_IN_AGAIN = "account_login", "account_reauthenticate"


def too_many_requests(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Return 429 with a page that says when to try again, and count the attempt where it was one to sign in."""
    view = request.resolver_match.url_name if request.resolver_match else None
    if request.method == "POST" and view in {SIGN_IN, SIGN_IN_AGAIN}:
        user = request.user if request.user.is_authenticated else account_named(request.POST.get("username", ""))
        record_failure(request, user, "refused by a limit")
    response = render(request, "429.html", {"minutes": RETRY_SECONDS // 60}, status=429)
    response["Retry-After"] = str(RETRY_SECONDS)
    return response
