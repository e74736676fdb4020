"""When a session was last used, and what an account without permissions is shown."""

import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from allauth.usersessions.models import UserSession
from django.http import HttpRequest, HttpResponse

from apps.accounts.no_access import has_any_access, no_access
from apps.core.domain.clock import SYSTEM_CLOCK, utcnow

SEEN_EVERY = timedelta(minutes=5)
MAX_REMEMBERED = 10_000
# Addresses of machines: these never touch a session.
MACHINES = ("/api/", "/static/", "/healthz", "/readyz", "/metrics")
# Pages of the admin that need no permission.
ALWAYS = frozenset({"login", "logout", "password_change", "password_change_done", "jsi18n"})


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
        return None if name in ALWAYS or has_any_access(request.user) else no_access(request)

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
