"""The parts of someone's timeline: alone, in a household, with a persona."""

from collections import Counter, defaultdict
from collections.abc import Collection

from django.db.models import Count

from apps.core.domain.scope import Access, Scope
from apps.episodic.domain.event import ScopeKey
from apps.episodic.models import TimelineEvent
from apps.episodic.queries.one_moment import of_one_moment
from apps.episodic.store.archived_segments import catalogue_version
from apps.episodic.store.file_cache import ArchiveView


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
