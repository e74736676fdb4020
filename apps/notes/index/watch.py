"""Watching the files of all users in one process of the hub, so that an index follows them without being asked.

The process is the one that holds a lock on a file; when it ends, the system releases the lock and another one takes
over. It also makes the vectors that are missing, a few at a time. An index that cannot be brought up to its files is
tried again until it can: no further change may come that would remind of it.
"""

import contextlib
import fcntl
import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from django.conf import settings
from django.db import connection
from watchfiles import Change, watch

from apps.core.domain.errors import MemoryHubError
from apps.llm.domain.embedder import EmbeddingError
from apps.notes.files.watch import find_users
from apps.notes.index.database import IndexDamagedError
from apps.notes.index.disk import IndexPlace, has_note_name, place_of, place_of_path
from apps.notes.index.handles import index_of
from apps.notes.index.vectors import fill_vectors, vectors_problem

logger = logging.getLogger(__name__)
# Changes are taken in when there is none for a moment, and at the latest after DEBOUNCE_MS (spec 001).
DEBOUNCE_MS, QUIET_MS = 1_500, 500
# While nothing changes: how often missing vectors are made, and the lock is tried.
IDLE_MS = 1_000
# The longest pause after a failure that goes on.
MAX_PAUSE_SECONDS = 300.0
# Vectors are made by so many, for so long between two looks at changes.
FILLED_AT_ONCE, FILL_SECONDS = 16, 0.5


class Pause:
    """How long to wait, in seconds, before the notes are watched again: longer while the reason is the same."""

    def __init__(self) -> None:
        self.seconds = IDLE_MS / 1_000
        self._reason = ""

    def is_new(self, reason: str) -> bool:
        """Lengthen the pause, and return whether the reason is another one than before, for which it begins short."""
        is_new, self._reason = reason != self._reason, reason
        self.seconds = IDLE_MS / 1_000 if is_new else min(2 * self.seconds, MAX_PAUSE_SECONDS)
        return is_new


@dataclass
class Retry:
    """An index that could not be brought up to its files. due: when that is tried again, in monotonic seconds."""

    place: IndexPlace
    pause: Pause = field(default_factory=Pause)
    due: float = 0.0

    def wait(self, reason: str) -> bool:
        """Set when it is due after a failure, and return whether that has another reason than the one before."""
        is_new = self.pause.is_new(reason)
        self.due = time.monotonic() + self.pause.seconds
        return is_new


class NotesWatcher:
    """The thread of this process that watches, or waits for its turn to."""

    def __init__(self) -> None:
        self._has_ended = threading.Event()
        self._thread: threading.Thread | None = None
        self._unfinished: OrderedDict[Path, IndexPlace] = OrderedDict()
        self._retries: dict[Path, Retry] = {}

    def begin(self) -> None:
        """Start the thread."""
        self._thread = threading.Thread(target=self._run, name="watch of notes", daemon=True)
        self._thread.start()

    def end(self, patience: float = 5.0) -> None:
        """Stop it."""
        self._has_ended.set()
        if self._thread is not None:
            self._thread.join(patience)

    def _run(self) -> None:
        pause = Pause()
        while not self._has_ended.is_set():
            try:
                with watch_lock() as is_held:
                    if is_held:
                        self._watch()
                pause = Pause()
            except OSError as error:
                # Such as a limit of the kernel on what is watched, which lasts until someone raises it.
                if pause.is_new(str(error)):
                    logger.warning("the notes are not watched: %s", error)
            except Exception:
                logger.exception("the notes are not watched for a moment")
            finally:
                connection.close()
            self._has_ended.wait(pause.seconds)

    def _watch(self) -> None:
        """Watch until the end of the process."""
        settings.NOTES_DIR.mkdir(mode=0o700, parents=True, exist_ok=True)
        changes = watch(
            settings.NOTES_DIR.resolve(),
            watch_filter=is_of_interest,
            debounce=DEBOUNCE_MS,
            step=QUIET_MS,
            rust_timeout=IDLE_MS,
            yield_on_timeout=True,
            stop_event=self._has_ended,
            raise_interrupt=False,
        )
        is_first = True
        for changed in changes:
            if is_first:
                # From the first return on nothing is missed; what was written before is found by looking at everything.
                is_first = False
                self._refresh([place_of(user) for user in find_users()])
                connection.close()
            self._refresh(places_of({path for _, path in changed}))
            self._refresh([retry.place for retry in self._retries.values() if retry.due <= time.monotonic()])
            self._fill()

    def _refresh(self, places: list[IndexPlace]) -> None:
        """Bring indexes up to their files. What fails is tried again later, and keeps no other one waiting."""
        for place in places:
            try:
                if index_of(place).refresh():
                    self._unfinished[place.database] = place
                self._retries.pop(place.database, None)
            except MemoryHubError as error:
                reason = " ".join([error.code, *([type(error.__cause__).__name__] if error.__cause__ else [])])
                if self._retry(place).wait(reason):
                    logger.warning("the index of a user's notes could not be refreshed: %s", reason)
            except Exception as error:
                if self._retry(place).wait(type(error).__name__):
                    logger.exception("the index of a user's notes could not be refreshed")

    def _retry(self, place: IndexPlace) -> Retry:
        return self._retries.setdefault(place.database, Retry(place))

    def _fill(self) -> None:
        """Make some of the missing vectors, of one user after the other, as long as nothing else is to be done."""
        if not self._unfinished or vectors_problem():
            return
        path, place = self._unfinished.popitem(last=False)
        end = time.monotonic() + FILL_SECONDS
        try:
            index = index_of(place)
            while index.refresh() and fill_vectors(index.database, FILLED_AT_ONCE):
                if time.monotonic() > end:
                    self._unfinished[path] = place
                    return
        except IndexDamagedError:
            self._retry(place)  # it was deleted
        except (MemoryHubError, EmbeddingError):
            return


def is_of_interest(_change: Change, path: str) -> bool:
    """Return whether a change on the disk may be one of a note: hidden files are the hub's, or an editor's."""
    name = path.rpartition("/")[2]
    return has_note_name(name) or "." not in name


def places_of(paths: set[str]) -> list[IndexPlace]:
    """Return the indexes that files belong to."""
    root = settings.NOTES_DIR.resolve()
    places: dict[Path, IndexPlace] = {}
    for path in paths:
        with contextlib.suppress(ValueError):
            place = place_of_path(settings.NOTES_DIR / Path(path).relative_to(root))
            if place is not None:
                places[place.database] = place
    return list(places.values())


@contextlib.contextmanager
def watch_lock() -> Iterator[bool]:
    """Try to become the process that watches, while the block runs; yield whether it is."""
    settings.NOTES_LOCKS_DIR.mkdir(mode=0o700, parents=True, exist_ok=True)
    with (settings.NOTES_LOCKS_DIR / "watch").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        yield True


def is_watching() -> bool:
    """Return whether a process watches the notes."""
    path = settings.NOTES_LOCKS_DIR / "watch"
    if not path.exists():
        return False
    with path.open() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False
