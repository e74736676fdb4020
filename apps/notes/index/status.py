"""What an index has, and how it is kept up to its files."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from apps.notes.domain.search import NoteSearchMode
from apps.notes.index.database import IndexDamagedError, get_fact
from apps.notes.index.handles import NoteIndex
from apps.notes.index.vectors import vectors_missing, vectors_problem
from apps.notes.index.watch import is_watching


@dataclass(frozen=True, slots=True)
class NoteIndexStatus:
    """An index that is up to its files. reason: why vectors are not used; empty where they are.

    skipped: how many files are left out, by the reason. is_watched: whether a process of the hub watches the files.
    """

    mode: NoteSearchMode
    reason: str
    is_watched: bool
    files: int = 0
    chunks: int = 0
    vectors_missing: int = 0
    skipped: Mapping[str, int] = field(default_factory=dict)
    looked_at: datetime | None = None


def status_of(index: NoteIndex) -> NoteIndexStatus:
    """Return the status of an index, after it was brought up to the files. Raises UnavailableError."""
    reason = vectors_problem()
    mode = NoteSearchMode.KEYWORD if reason else NoteSearchMode.HYBRID
    is_watched = is_watching()
    if not index.refresh():
        return NoteIndexStatus(mode, reason, is_watched)
    try:
        with index.database.connection() as connection:
            kinds = connection.execute("SELECT problem, count(*) FROM files GROUP BY problem ORDER BY problem")
            counts = {str(problem): int(count) for problem, count in kinds}
            looked = get_fact(connection, "looked_at")
            return NoteIndexStatus(
                mode,
                reason,
                is_watched,
                files=counts.pop("", 0),
                chunks=connection.execute("SELECT count(*) FROM chunks").get,
                vectors_missing=0 if reason else vectors_missing(connection),
                skipped=counts,
                looked_at=None if looked is None else datetime.fromtimestamp(looked, UTC),
            )
    except IndexDamagedError:
        return NoteIndexStatus(mode, reason, is_watched)
