"""Access: which keys there are, how far they reach, and how they are used."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.timezone import now
from django.utils.translation import gettext, ngettext

from apps.cockpit.pages import render_page
from apps.core.admin.bars import key_bars, recent_days
from apps.core.admin.kit import moment, scope_in_words
from apps.core.domain.scope import Permission
from apps.core.models import ApiKey
from apps.core.pages.lists import listed
from apps.core.pages.times import ago, in_words
from apps.core.selectors import key_list

# More are in the list of keys, which can be searched.
MAX_KEYS = 200
# An expiry that is nearer is worth a look.
SOON = timedelta(days=14)


def access(request: HttpRequest) -> HttpResponse:
    """Show the keys that work."""
    return render_page(request, "cockpit/access/page.html", gettext("Access"), **keys_context(request))


def keys_context(request: HttpRequest) -> dict[str, Any]:
    """Return the keys that are not revoked, the newest first, and a sentence about them."""
    at = now()
    valid = key_list().filter(revoked_at=None)
    keys = list(valid.prefetch_related(recent_days())[:MAX_KEYS])
    rows = [key_row(key, at) for key in keys]
    return {
        "rows": rows,
        "sentence": sentence_of(rows),
        "is_cut": len(keys) == MAX_KEYS,
        "revoked": key_list().exclude(revoked_at=None).count(),
        "may_add": request.user.has_perm("core.add_apikey"),
        "may_change": request.user.has_perm("core.change_apikey"),
        "as_of": at,
    }


def key_row(key: ApiKey, at: datetime) -> dict[str, Any]:
    """Return a key as a row shows it."""
    is_over = key.expires_at is not None and key.expires_at <= at
    is_ending = key.expires_at is not None and not is_over and key.expires_at - at < SOON
    sees_all = not key.scope.named() or key.permission == Permission.OPERATOR
    return {
        "key": key,
        "page": reverse("admin:core_apikey_change", args=[key.pk]),
        "reach": gettext("sees everything") if sees_all else scope_in_words(key.scope),
        "sees_all": sees_all,
        "bars": key_bars(key),
        "is_refused": any(day.refused for day in key.recent_days),  # type: ignore[attr-defined]
        "used": used_in_words(key, at),
        "used_at": moment(key.last_used_at),
        "expiry": expiry_of(key, at, is_over=is_over),
        "expires_at": moment(key.expires_at),
        "is_over": is_over,
        "is_ending": is_ending,
    }


def used_in_words(key: ApiKey, at: datetime) -> str:
    """Return when a key was used last."""
    if key.last_used_at is None:
        return gettext("never used")
    return gettext("used %(ago)s") % {"ago": ago(key.last_used_at, at)}


def expiry_of(key: ApiKey, at: datetime, *, is_over: bool) -> str:
    """Return when a key expires, in words."""
    if key.expires_at is None:
        return gettext("never expires")
    if is_over:
        return gettext("expired %(ago)s") % {"ago": ago(key.expires_at, at)}
    return gettext("expires in %(time)s") % {"time": in_words(key.expires_at - at)}


def sentence_of(rows: Sequence[dict[str, Any]]) -> str:
    """Return what there is to know about the keys, in a sentence."""
    working = [row for row in rows if not row["is_over"]]
    count = len(working)
    parts = [ngettext("%(count)s active key", "%(count)s active keys", count) % {"count": count}]
    for name, words in (
        ("sees_all", gettext("%(count)s of them without a bound")),
        ("is_refused", gettext("%(count)s refused in the last 14 days")),
        ("is_ending", gettext("%(count)s expiring soon")),
    ):
        if count := sum(bool(row[name]) for row in working):
            parts.append(words % {"count": count})
    return gettext("%(parts)s.") % {"parts": listed(parts)}
