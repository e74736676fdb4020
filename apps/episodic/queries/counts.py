"""Whose events there are and how many, of users, households and personas, from rows and files of one moment."""

from collections import Counter, defaultdict
from collections.abc import Collection
from dataclasses import dataclass

from django.db import connection
from django.db.models import Count

from apps.core.db.distinct import distinct_values
from apps.core.db.names import ALL_NAMES, NameSpan
from apps.core.domain.scope import Access, Scope
from apps.episodic.domain.event import ScopeKey
from apps.episodic.models import TimelineEvent
from apps.episodic.queries.archived import of_one_moment
from apps.episodic.store.archived_segments import catalogue_version, unreadable_error
from apps.episodic.store.file_cache import ArchiveView, archive_cache, catalogue_contention
from apps.episodic.store.rows import VERSION

MAX_TRIES = 50


@dataclass(frozen=True)
class NamedCount:
    """A name, and how many events are of it."""

    name: str
    events: int


def event_counts(access: Access, scope: Scope, by: str, span: NameSpan = ALL_NAMES) -> list[NamedCount]:
    """Count the caller's events in a scope by an identifier of it. Reads the tables of files, and no event of them.

    by: `user_id`, `household_id` or `persona_id`. Raises UnavailableError while this process is still loading files.
    """
    asked = access.for_read(scope)
    if asked is None:
        return []
    for _ in range(MAX_TRIES):
        version = catalogue_version()
        try:
            view = archive_cache().at(version)
            if view is None:
                archive_cache().refresh()
                continue
        except OSError as error:
            raise unreadable_error(error) from error
        counted = span.grouped(TimelineEvent.objects.in_scope(asked).readable(), by).annotate(events=Count("*"))
        rows = {row["name"]: row["events"] for row in counted[: span.limit]}
        # Whatever files took over from rows in between has raised the version.
        if catalogue_version() == version:
            archived = Counter[str]()
            for key, count in view.index.scope_counts(asked):
                archived[getattr(key, by)] += count
            both = Counter(rows) + archived
            return [NamedCount(name, both[name]) for name in span.cut(both)]
    raise catalogue_contention()


def event_owners(access: Access, limit: int) -> list[str]:
    """Return the first `limit` users of whom the caller may see events, in rows and files, in their order.

    Takes a step of an index for each user where the caller has no bound, and else reads the rows of the bound. Raises
    UnavailableError while this process is still loading files.
    """

    def read() -> tuple[int, list[str]]:
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT {VERSION}")
            (version,) = cursor.fetchone()
        if access.bound.is_everything:
            return version, distinct_values(TimelineEvent, "user_id", limit)
        rows = TimelineEvent.objects.visible_to(access).order_by("user_id")
        return version, list(rows.values_list("user_id", flat=True).distinct()[:limit])

    def join(rows: list[str], view: ArchiveView) -> list[str]:
        return sorted({*rows, *(key.user_id for key, _ in view.index.scope_counts(access.bound))})[:limit]

    return of_one_moment(read, join)


def event_parts(access: Access) -> dict[Scope, int]:
    """Return the number of the caller's events of each exact scope, in rows and files. Reads no event of a file.

    Raises UnavailableError while this process is still loading files.
    """

    def read() -> tuple[int, list[tuple[ScopeKey, int]]]:
        version = catalogue_version()
        rows = TimelineEvent.objects.visible_to(access).readable().order_by()
        counted = rows.values_list("user_id", "household_id", "persona_id").annotate(Count("pk"))
        return version, [(ScopeKey(*names), count) for *names, count in counted]

    def join(rows: list[tuple[ScopeKey, int]], view: ArchiveView) -> dict[Scope, int]:
        counts = Counter(dict(rows))
        for key, count in view.index.scope_counts(access.bound):
            counts[key] += count
        return {key.scope: count for key, count in counts.items()}

    return of_one_moment(read, join)


def row_writers(users: Collection[str] | None = None) -> dict[Scope, set[str]]:
    """Return the actors who recorded the events that are rows, by their exact scopes; of some users, or of all."""
    rows = TimelineEvent.objects.order_by() if users is None else TimelineEvent.objects.filter(user_id__in=users)
    writers: dict[Scope, set[str]] = defaultdict(set)
    for *names, actor in rows.order_by().values_list("user_id", "household_id", "persona_id", "actor").distinct():
        writers[ScopeKey(*names).scope].add(actor)
    return writers
