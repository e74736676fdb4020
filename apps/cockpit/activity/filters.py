"""What a request asks of the stream: span, kinds, actor and person."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.http import HttpRequest
from django.utils.dateparse import parse_datetime
from django.utils.timezone import is_naive, localtime, make_aware
from django.utils.translation import gettext_lazy as _

from apps.cockpit.activity.phrases import BY_NAME, KINDS, Kind
from apps.cockpit.activity.sources import Asked
from apps.cockpit.domain.activity import ACTOR_KINDS
from apps.core.admin.kit import operator_access
from apps.core.admin.lists import comparable
from apps.core.bounds import is_bound

SPANS = {
    "1h": (_("1 hour"), timedelta(hours=1)),
    "24h": (_("24 hours"), timedelta(hours=24)),
    "7d": (_("7 days"), timedelta(days=7)),
}
DEFAULT_SPAN = "24h"
MAX_SPAN = timedelta(days=31)


@dataclass(frozen=True)
class Filters:
    """What was asked for, as the form shows it. start, end: of a narrowed span, None for one that ends now."""

    span: str
    kind: str
    actor: str
    person: str
    start: datetime | None
    end: datetime | None

    def query(self, **changes: str) -> dict[str, str]:
        """Return it as the parameters of an address; those without a value are left out."""
        values = {
            "range": "" if self.span == DEFAULT_SPAN else self.span,
            "kind": self.kind,
            "actor": self.actor,
            "person": self.person,
            "from": moment_text(self.start),
            "to": moment_text(self.end),
        }
        return {name: value for name, value in {**values, **changes}.items() if value}


def moment_text(at: datetime | None) -> str:
    """Return a moment for an address and for a field of a form, in the zone of the page to the minute."""
    return localtime(at).strftime("%Y-%m-%dT%H:%M") if at else ""


def read_filters(parameters: Mapping[str, Any]) -> Filters:
    """Return what a request asks for; what makes no sense is as if it were missing."""
    span, kind = parameters.get("range", ""), parameters.get("kind", "")
    start, end = parse_moment(parameters.get("from", "")), parse_moment(parameters.get("to", ""))
    if start is None or end is None or not timedelta() < end - start <= MAX_SPAN:
        start = end = None
    return Filters(
        span=span if span in SPANS else DEFAULT_SPAN,
        kind=kind if kind in BY_NAME else "",
        actor=comparable(parameters.get("actor"))[:200],
        person=comparable(parameters.get("person"))[:200],
        start=start,
        end=end,
    )


def parse_moment(text: str) -> datetime | None:
    """Return the moment that a text names, in the zone of the page where it names no offset; None for none."""
    try:
        found = parse_datetime(text[:40])
    except ValueError:
        return None
    if found is None or not 1970 < found.year < 9000:
        return None
    return make_aware(found) if is_naive(found) else found


def allowed_kinds(request: HttpRequest) -> list[Kind]:
    """Return the kinds of entries that the viewer may see; those without a scope are not for accounts with a bound."""
    bound = is_bound(request.user)
    return [kind for kind in KINDS if request.user.has_perm(kind.permission) and (kind.is_scoped or not bound)]


def asked_of(request: HttpRequest, filters: Filters, now: datetime) -> Asked:
    """Return what the sources are asked for."""
    kinds = {kind.name for kind in allowed_kinds(request) if filters.kind in ("", kind.name)}
    end = filters.end or now
    actor = filters.actor
    actors = (actor, *(f"{prefix}:{actor}" for prefix in ACTOR_KINDS)) if actor else ()
    return Asked(
        access=operator_access(request),
        kinds=frozenset(kinds),
        start=filters.start or end - SPANS[filters.span][1],
        end=end,
        actors=actors,
        person=filters.person,
    )
