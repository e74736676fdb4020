"""How many events there are of each user, household or persona, from rows and files of one moment."""

from collections import Counter
from dataclasses import dataclass

from django.db.models import Count

from apps.core.db.names import ALL_NAMES, NameSpan
from apps.core.domain.scope import Access, Scope
from apps.episodic.models import TimelineEvent
from apps.episodic.store.archived_segments import catalogue_version, unreadable_error
from apps.episodic.store.file_cache import archive_cache, catalogue_contention

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
