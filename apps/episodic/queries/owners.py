"""Whose events there are: the ids among which a viewer chooses."""

from django.db import connection

from apps.core.db.distinct import distinct_values
from apps.core.domain.scope import Access
from apps.episodic.models import TimelineEvent
from apps.episodic.queries.one_moment import of_one_moment
from apps.episodic.store.file_cache import ArchiveView
from apps.episodic.store.rows import VERSION


def event_owners(access: Access, limit: int) -> list[str]:
    """Return the first `limit` users of whom the caller may see events, in rows and files, in their order.

    Takes a step of an index for each user where the caller has no bound, and else reads the rows of the bound. Raises
    UnavailableError while this process is still loading files.
    """

    def read() -> tuple[int, list[str]]:
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT {VERSION}")
            (version,) = cursor.fetchone()
        return version, users_of_rows(access, limit)

    def join(rows: list[str], view: ArchiveView) -> list[str]:
        return sorted({*rows, *(key.user_id for key, _ in view.index.scope_counts(access.bound))})[:limit]

    return of_one_moment(read, join)


def users_of_rows(access: Access, limit: int) -> list[str]:
    """Return the first users of whom the caller may see rows."""
    if access.bound.is_everything:
        return distinct_values(TimelineEvent, "user_id", limit)
    rows = TimelineEvent.objects.visible_to(access).order_by("user_id")
    return list(rows.values_list("user_id", flat=True).distinct()[:limit])
