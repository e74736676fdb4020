"""Failed sign-ins: counted by account and hour, logged without what was typed, shown to the person, and limited."""

import ipaddress
import logging
from datetime import timedelta
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.db.models import F, Max, Min, Sum
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.accounts.models import FailedSignIns
from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.pages.errors import Problem, Way, problem_page

UNKNOWN = "0.0.0.0"  # noqa: S104  (no address to listen on, but one that says that it is not known)
logger = logging.getLogger(__name__)
KEPT = timedelta(days=90)
RETRY_SECONDS = 300
# Views at which an attempt that a limit refuses is a failed sign-in.
SIGN_IN, SIGN_IN_AGAIN = "account_login", "account_reauthenticate"


def client_address(request: HttpRequest) -> str:
    """Return the address of the client; UNKNOWN where the server names none.

    Behind a proxy the web server has put the address of the client there, if MEMORYHUB_PUBLIC_URL is https and the
    proxy is one that FORWARDED_ALLOW_IPS names. No header counts otherwise. A client by IPv4 has its own address also
    where the server listens by IPv6, which writes it as `::ffff:192.0.2.7`: limits count the first half of those.
    """
    try:
        address = ipaddress.ip_address(request.META.get("REMOTE_ADDR") or UNKNOWN)
    except ValueError:
        return UNKNOWN
    return str(getattr(address, "ipv4_mapped", None) or address)


def account_named(username: str) -> User | None:
    """Return the account of a name as it was typed, which no one may have."""
    name = username.strip().replace("\0", "")[:150]
    return get_user_model().objects.filter(username__iexact=name).first() if name else None


def record_failure(request: HttpRequest, login: User | None, reason: str) -> None:
    """Count a failed sign-in, and log it. What was typed as name is not logged: it may be a password.

    reason: for the log, such as `wrong password`.
    """
    address, now = client_address(request), utcnow(SYSTEM_CLOCK)
    logger.warning("sign-in failed: %s, account %s, from %s", reason, login.pk if login else "unknown", address)
    hour = now.replace(minute=0, second=0, microsecond=0)
    row, is_new = FailedSignIns.objects.get_or_create(
        login=login, hour=hour, defaults={"first_at": now, "last_at": now, "last_address": address}
    )
    FailedSignIns.objects.filter(pk=row.pk).update(count=F("count") + 1, last_at=now, last_address=address)
    if is_new:
        FailedSignIns.objects.filter(hour__lt=now - KEPT).delete()


def take_unnoticed(login: User) -> dict[str, Any]:
    """Return the failed sign-ins that the person was not shown yet, and remember that they are shown now.

    count: of them, None for none. since, until: of the first and the last one.
    """
    rows = FailedSignIns.objects.filter(login=login, count__gt=F("noticed"))
    found = rows.aggregate(count=Sum(F("count") - F("noticed")), since=Min("first_at"), until=Max("last_at"))
    rows.update(noticed=F("count"))
    return found


def too_many_requests(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Return 429 with a page that says when to try again, and count the attempt where it was one to sign in."""
    view = request.resolver_match.url_name if request.resolver_match else None
    if request.method == "POST" and view in {SIGN_IN, SIGN_IN_AGAIN}:
        user = request.user if request.user.is_authenticated else account_named(request.POST.get("username", ""))
        record_failure(request, user, "refused by a limit")
    wait = ngettext(
        "Wait %(count)s minute, then try again. A passkey, if one is set up, works right away, and an owner of "
        "this hub can make a link to choose a new password.",
        "Wait %(count)s minutes, then try again. A passkey, if one is set up, works right away, and an owner of "
        "this hub can make a link to choose a new password.",
        RETRY_SECONDS // 60,
    )
    problem = Problem(
        429,
        _("Too many attempts"),
        _("The attempts were recorded and are shown to the account’s user."),
        wait % {"count": RETRY_SECONDS // 60},
        (
            Way(_("Go to sign-in"), reverse("account_login")),
            Way(_("How to get back in"), reverse("account_reset_password")),
        ),
    )
    response = problem_page(request, problem)
    response["Retry-After"] = str(RETRY_SECONDS)
    return response
