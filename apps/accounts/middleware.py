"""When a session was last used, what an account without permissions is shown, and the language and zone of pages."""

import time
from collections.abc import Callable
from contextlib import ExitStack
from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo

from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.template.response import TemplateResponse
from django.utils import timezone, translation
from django.utils.cache import patch_vary_headers
from django.utils.translation import gettext as _

from apps.accounts.domain.time_zones import time_zones
from apps.accounts.models import Account
from apps.accounts.roles import all_roles
from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.pages.times import written_as_logs

SEEN_EVERY = timedelta(minutes=5)
MAX_REMEMBERED = 10_000
# Addresses of programs: these never touch a session, and are answered in English, in UTC.
MACHINES = ("/api/", "/oauth/", "/.well-known/", "/static/", "/healthz", "/readyz", "/metrics")
# Pages of the admin that need no permission.
ALWAYS = frozenset({"login", "logout", "password_change", "password_change_done", "jsi18n"})
# Pages that write times as logs do, to the second and with their zone.
OPERATORS = ("/admin/",)
# Set by a script of every page (`zone.js`), from the first one on.
ZONE_COOKIE = "time_zone"


def no_access(request: HttpRequest) -> HttpResponse:
    """Answer 403 with a page that says why, and what to ask for."""
    context = {**admin.site.each_context(request), "title": _("No access yet"), "roles": all_roles()}
    return TemplateResponse(request, "accounts/no_access.html", context, status=403)


class AccountPagesMiddleware:
    """Works for pages of people only: the API, and checks of health, never touch a session."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response
        self._seen: dict[str, float] = {}

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if not request.path.startswith(MACHINES) and (key := request.session.session_key):
            self._note(key)
        return self.get_response(request)

    def process_view(self, request: HttpRequest, view: Any, args: Any, kwargs: Any) -> HttpResponse | None:
        """Return the page that says why, where an account may enter the admin but has no permission there."""
        if not request.path.startswith("/admin/") or not request.user.is_authenticated or not request.user.is_staff:
            return None
        name = request.resolver_match.url_name if request.resolver_match else None
        return (
            None
            if name in ALWAYS or bool(request.user.is_superuser or request.user.get_all_permissions())
            else no_access(request)
        )

    def _note(self, key: str) -> None:
        """Remember that a session is in use; written at most every five minutes by each process."""
        now = time.monotonic()
        if now - self._seen.get(key, -SEEN_EVERY.total_seconds()) < SEEN_EVERY.total_seconds():
            return
        if len(self._seen) >= MAX_REMEMBERED:
            self._seen.clear()
        self._seen[key] = now
        moment = utcnow(SYSTEM_CLOCK)
        UserSession.objects.filter(session_key=key, last_seen_at__lt=moment - SEEN_EVERY).update(last_seen_at=moment)


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
            chosen = account.time_zone if account is not None else ""
            names = (chosen, request.COOKIES.get(ZONE_COOKIE, ""))
            if (zone := next((name for name in names if name in time_zones()), None)) is not None:
                stack.enter_context(timezone.override(ZoneInfo(zone)))
            if request.path.startswith(OPERATORS):
                stack.enter_context(written_as_logs())
            response = self.get_response(request)
            response.headers.setdefault("Content-Language", translation.get_language() or settings.LANGUAGE_CODE)
        patch_vary_headers(response, ["Accept-Language", "Cookie"])
        return response


def account_of(request: HttpRequest) -> Account | None:
    """Return what the account of a request chose; None for visitors, and for accounts that chose nothing."""
    if settings.SESSION_COOKIE_NAME not in request.COOKIES or not request.user.is_authenticated:
        return None
    return getattr(request.user, "account", None)
