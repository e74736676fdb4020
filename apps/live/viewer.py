"""Who a socket belongs to: the account of a session, asked past the threads of requests."""

from dataclasses import dataclass
from importlib import import_module
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user
from django.db import DatabaseError, close_old_connections
from django.http import HttpRequest, parse_cookie

from apps.core.bounds import is_bound
from apps.live.domain.topics import person_digest


class SessionsUnavailableError(Exception):
    """The sessions cannot be read now."""


@dataclass(frozen=True)
class Viewer:
    """Whom a session belongs to.

    hears: whether topics of the hub are sent. person: the digest of the user whose own pages the account has, who hears
    of what is theirs; empty for none. needs_ticks: it sees pages of which it hears nothing; each beat refreshes them.
    """

    session_key: str
    account: str
    hears: bool
    person: str = ""
    needs_ticks: bool = False


def session_key_of(headers: list[tuple[bytes, bytes]]) -> str | None:
    """Return the session that a handshake names."""
    cookies = "; ".join(value.decode("latin-1") for name, value in headers if name == b"cookie")
    return parse_cookie(cookies).get(settings.SESSION_COOKIE_NAME) or None


def find_viewer(session_key: str) -> Viewer | None:
    """Return who is signed in with a session; None when the session has ended or its account is disabled.

    Raises SessionsUnavailableError. For a thread that keeps its connection.
    """
    close_old_connections()
    request = HttpRequest()
    request.session = import_module(settings.SESSION_ENGINE).SessionStore(session_key)
    try:
        user: Any = get_user(request)
        if not user.is_authenticated or not user.is_active:
            return None
        # What changes says what others do: only who sees some page of it hears of it.
        hears_all = user.is_staff and not is_bound(user) and (user.is_superuser or bool(user.get_all_permissions()))
        account = getattr(user, "account", None)
        # The user whose own pages the account has.
        person_id = "" if account is None else str(account.person_id)
    except DatabaseError as error:
        raise SessionsUnavailableError from error
    finally:
        close_old_connections()
    needs_ticks = not hears_all and (user.is_staff or not person_id)
    return Viewer(session_key, str(user.pk), hears_all, person_digest(person_id) if person_id else "", needs_ticks)
