"""In which language and time zone pages are shown: as the account chose, or the browser."""

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

# Addresses of programs: these are answered in English, in UTC.
MACHINES = ("/api/", "/static/", "/healthz", "/readyz", "/metrics")
# Pages that show times as logs and metrics do, in UTC.
OPERATORS = ("/admin/",)


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
            if account is not None and not request.path.startswith(OPERATORS) and account.time_zone in time_zones():
                stack.enter_context(timezone.override(ZoneInfo(account.time_zone)))
            response = self.get_response(request)
            response.headers.setdefault("Content-Language", translation.get_language() or settings.LANGUAGE_CODE)
        patch_vary_headers(response, ["Accept-Language", "Cookie"])
        return response


def account_of(request: HttpRequest) -> Account | None:
    """Return what the account of a request chose; None for visitors, and for accounts that chose nothing."""
    if settings.SESSION_COOKIE_NAME not in request.COOKIES or not request.user.is_authenticated:
        return None
    return getattr(request.user, "account", None)
