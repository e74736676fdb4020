"""Keeping indexes: refreshing them after writes and by schedule, making them again, forgetting them, watching."""

import logging
import time
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from apps.core.domain.errors import MemoryHubError
from apps.core.per_process import PerProcess
from apps.core.steps import Step, no_step
from apps.notes.domain.search import NoteSearchMode
from apps.notes.files.watch import find_users
from apps.notes.index.database import IndexDamagedError, get_fact
from apps.notes.index.disk import place_of
from apps.notes.index.handles import NoteIndex, index_of
from apps.notes.index.refresh import Progress
from apps.notes.index.vectors import fill_vectors, vectors_missing, vectors_problem
from apps.notes.index.watch import NotesWatcher, is_watching

logger = logging.getLogger(__name__)
# After a write the index is refreshed at once, unless refreshes have taken more than a tenth of the time.
_SHARE = 10
_MAX_USERS = 1_000
_watcher = PerProcess(NotesWatcher)


class Pauses:
    """Until when a user's index is not refreshed after writes: the next search or the watcher does so."""

    def __init__(self) -> None:
        self._until: OrderedDict[str, float] = OrderedDict()

    def is_over(self, user_id: str) -> bool:
        """Return whether an index may be refreshed."""
        return time.monotonic() >= self._until.get(user_id, 0.0)

    def begin(self, user_id: str, seconds: float) -> None:
        """Begin a pause after a refresh that took so long."""
        self._until[user_id] = time.monotonic() + _SHARE * seconds
        self._until.move_to_end(user_id)
        while len(self._until) > _MAX_USERS:
            self._until.popitem(last=False)


_pauses = PerProcess(Pauses)


def index_refresh(user_id: str, *, step: Step = no_step) -> None:
    """Bring the index of a user up to the files; cheap where nothing has changed. Raises UnavailableError."""
    index_of(place_of(user_id)).refresh(step=step)


def refresh_after_write(user_id: str) -> None:
    """Bring the index up to what the hub has written (spec 001, append_memory), without failing the write.

    In a row of writes some are left to the next search or to the watcher: a search never misses any.
    """
    if not _pauses.get().is_over(user_id):
        return
    began = time.monotonic()
    try:
        index_refresh(user_id)
    except MemoryHubError as error:
        logger.warning("the index of a user's notes could not be refreshed after a write: %s", error.code)
    _pauses.get().begin(user_id, time.monotonic() - began)


def indexes_look() -> None:
    """Compare the files of all users with their indexes."""
    for user in find_users():
        try:
            index_of(place_of(user)).refresh(everything=True)
        except MemoryHubError as error:
            logger.warning("the index of a user's notes could not be refreshed: %s", error.code)


def index_rebuild(user_id: str, *, step: Step = no_step, progress: Progress | None = None) -> None:
    """Delete the index of a user and make it of the files again. Raises UnavailableError."""
    index = index_of(place_of(user_id))
    index.delete()
    index.refresh(everything=True, step=step, progress=progress)


def vectors_fill(user_id: str, most: int) -> int:
    """Make the vectors of at most so many texts of a user that have none; return how many. Raises EmbeddingError."""
    return fill_vectors(index_of(place_of(user_id)).database, most)


def index_forget(user_id: str) -> None:
    """Delete the index of a user. Where there are files still, a search makes it again."""
    index_of(place_of(user_id)).delete()


def start_notes_watch() -> None:
    """Watch the notes in this process, or wait until the process that does has ended."""
    _watcher.get().begin()


def end_notes_watch() -> None:
    """Stop watching."""
    _watcher.get().end()


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
