"""In which language and time zone pages are shown: as the account chose, or the browser says."""

from collections.abc import Callable
from contextlib import ExitStack
from zoneinfo import ZoneInfo

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils import timezone, translation
from django.utils.cache import patch_vary_headers

from apps.accounts.domain.time_zones import time_zones
from apps.accounts.models import Account
from apps.core.pages.times import written_as_logs

# Addresses of programs: these are answered in English, in UTC.
MACHINES = ("/api/", "/static/", "/healthz", "/readyz", "/metrics")
# Pages that write times as logs do, to the second and with their zone.
OPERATORS = ("/admin/",)
# Set by a script of every page (`zone.js`), from the first one on.
ZONE_COOKIE = "time_zone"


class LanguageMiddleware:
    """Shows a page in the language of its reader, and says in which one it is.

    The choice of an account counts first, then a cookie, then what the browser asks for. The language ends with the
    request: the next one of the same thread begins in English.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if request.path.startswith(MACHINES):
            return self.get_response(request)
        with ExitStack() as stack:
            # First what needs no database: if that fails, its error is already in a language of the reader.
            stack.enter_context(translation.override(translation.get_language_from_request(request)))
            account = account_of(request)
            if account is not None and account.language in dict(settings.LANGUAGES):
                stack.enter_context(translation.override(account.language))
            if (zone := zone_of(request, account)) is not None:
                stack.enter_context(timezone.override(ZoneInfo(zone)))
            if request.path.startswith(OPERATORS):
                stack.enter_context(written_as_logs())
            response = self.get_response(request)
            response.headers.setdefault("Content-Language", translation.get_language() or settings.LANGUAGE_CODE)
        patch_vary_headers(response, ["Accept-Language", "Cookie"])
        return response


def zone_of(request: HttpRequest, account: Account | None) -> str | None:
    """Return the time zone that the account chose, else that of the browser; None where neither is known."""
    chosen = account.time_zone if account is not None else ""
    names = (chosen, request.COOKIES.get(ZONE_COOKIE, ""))
    return next((name for name in names if name in time_zones()), None)


def account_of(request: HttpRequest) -> Account | None:
    """Return what the account of a request chose; None for visitors, and for accounts that chose nothing."""
    if settings.SESSION_COOKIE_NAME not in request.COOKIES or not request.user.is_authenticated:
        return None
    return getattr(request.user, "account", None)
