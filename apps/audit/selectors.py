"""The door of `audit` for reads: entries by filter, page by page."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q

from apps.audit.models import ActorKind, AuditEntry
from apps.audit.words import is_known, sentence
from apps.core.db.scoped import ScopedQuerySet
from apps.core.domain.scope import Access, Scope

__all__ = [
    "ActorKind",
    "AuditEntry",
    "EntryFilter",
    "EntryPage",
    "PageStart",
    "entries",
    "entries_page",
    "is_known",
    "sentence",
]

PAGE = 50


@dataclass(frozen=True, kw_only=True)
class EntryFilter:
    """Which entries are wanted; what is empty does not narrow.

    words: part of an actor, an act or an object. since, until: moments, the second one excluded. not_by: a person
    whose own acts are left out.
    """

    words: str = ""
    actor: str = ""
    kind: str = ""
    action: str = ""
    outcome: str = ""
    object_type: str = ""
    object_id: str = ""
    user_id: str = ""
    not_by: frozenset[str] = frozenset()
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True)
class PageStart:
    """Where a page begins: after (`older`) or before (`newer`) an entry."""

    direction: str
    at: datetime
    pk: int


@dataclass(frozen=True)
class EntryPage:
    """A page of the list, the newest first, and whether there is more on both sides."""

    entries: list[AuditEntry]
    has_newer: bool
    has_older: bool


def entries(access: Access, asked: EntryFilter | None = None) -> ScopedQuerySet[AuditEntry]:
    """Return the entries that the caller may see: those about its bound, all without one. The newest first."""
    asked = asked or EntryFilter()
    # By time; ids decide between those of one moment.
    rows = AuditEntry.objects.all().visible_to(access, Scope(user_id=asked.user_id or None)).order_by("-at", "-pk")
    exact = {"actor": asked.actor, "actor_kind": asked.kind, "action": asked.action, "outcome": asked.outcome}
    exact |= {"object_type": asked.object_type, "object_id": asked.object_id}
    rows = rows.filter(**{column: value for column, value in exact.items() if value})
    if asked.not_by:
        rows = rows.exclude(actor_kind=ActorKind.PERSON, actor__in=asked.not_by)
    if asked.words:
        rows = rows.filter(
            Q(actor__icontains=asked.words)
            | Q(action__icontains=asked.words)
            | Q(object_type__icontains=asked.words)
            | Q(object_id__icontains=asked.words)
            | Q(request_id=asked.words)
        )
    if asked.since is not None:
        rows = rows.filter(at__gte=asked.since)
    return rows.filter(at__lt=asked.until) if asked.until is not None else rows


def entries_page(access: Access, asked: EntryFilter, place: PageStart | None = None, size: int = PAGE) -> EntryPage:
    """Return a page of entries by keyset, so that the last page costs what the first one does."""
    rows = entries(access, asked)
    if place is None:
        found = list(rows[: size + 1])
        return EntryPage(found[:size], has_newer=False, has_older=len(found) > size)
    if place.direction == "older":
        found = list(rows.filter(Q(at__lt=place.at) | Q(at=place.at, pk__lt=place.pk))[: size + 1])
        return EntryPage(found[:size], has_newer=True, has_older=len(found) > size)
    newer = rows.filter(Q(at__gt=place.at) | Q(at=place.at, pk__gt=place.pk))
    found = list(newer.order_by("at", "pk")[: size + 1])
    return EntryPage(found[:size][::-1], has_newer=len(found) > size, has_older=True)
