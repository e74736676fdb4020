"""The indexes that this process works with, and how each is kept up to its files."""

import contextlib
import threading
import time
from collections import OrderedDict
from collections.abc import Collection, Iterator
from pathlib import Path

import apsw

from apps.core.domain.errors import UnavailableError
from apps.core.per_process import PerProcess
from apps.core.steps import Step, no_step
from apps.notes.index.database import Database, IndexDamagedError, delete_files, get_fact
from apps.notes.index.disk import list_stamps
from apps.notes.index.events import folder_events
from apps.notes.index.places import IndexPlace
from apps.notes.index.postings import Postings
from apps.notes.index.refresh import Progress, look, take_in
from apps.notes.index.signs import Signs
from apps.notes.index.vectors import prepare_vectors

# A process keeps the connections of so many users.
MAX_INDEXES = 64
# Of so many users it keeps in memory what searches have read.
MAX_IN_MEMORY = 8
# How often a damaged index is made again, and a file that changes during a search taken in.
TRIES = 4


class NoteIndex:
    """The index of one user, in this process."""

    def __init__(self, place: IndexPlace) -> None:
        self.place = place
        self.database = Database(place, prepare_vectors)
        # What searches have read of it.
        self.postings, self.signs = Postings(), Signs()
        # A search waits for the refresh of another thread: what that one takes in must be in its answer.
        self._lock = threading.Lock()
        # Which database was compared with every file, so that changes since are all that is to be taken in.
        self._looked = ""

    @contextlib.contextmanager
    def current(self) -> Iterator[apsw.Connection | None]:
        """Yield a connection to the index as the files are now; None for a user without notes.

        Raises IndexDamagedError, UnavailableError.
        """
        if not self.refresh():
            yield None
            return
        with self.database.connection() as connection:
            if get_fact(connection, "made") != self._looked:
                raise IndexDamagedError
            yield connection

    def refresh(self, *, everything: bool = False, step: Step = no_step, progress: Progress | None = None) -> bool:
        """Take in what has changed. Return False for a user without notes, for whom no index is made.

        everything: compare all files, also where the kernel has reported no change. Raises UnavailableError.
        """
        for _ in range(TRIES):
            with contextlib.suppress(IndexDamagedError), self._lock:
                return self._refresh(everything, step, progress)
        raise UnavailableError("The index of the notes keeps getting damaged.", retry_after=60)

    def take_in(self, paths: Collection[str]) -> None:
        """Take in some files, whatever is known of them. Raises IndexDamagedError, UnavailableError."""
        with self._lock, self.database.connection() as connection:
            take_in(connection, self.place.folder, paths)

    def delete(self) -> None:
        """Delete the index. A later use makes it again, if there are files."""
        with self._lock:
            self.close()
            self._looked = ""
            delete_files(self.place)

    def close(self) -> None:
        """Close the connections that no thread uses, and forget what was read."""
        self.database.close()
        self.forget_read()

    def forget_read(self) -> None:
        """Free the memory of what searches have read."""
        self.postings.clear()
        self.signs.clear()

    def _refresh(self, everything: bool, step: Step, progress: Progress | None) -> bool:
        folder = self.place.folder
        try:
            paths = folder_events().take(folder)
            if not self.place.database.exists() and not list_stamps(folder):
                return False
            with self.database.connection() as connection:
                made = get_fact(connection, "made")
                if paths is None or everything or made != self._looked:
                    self._looked = "" if made != self._looked else made
                    look(connection, folder, time.time(), step, progress)
                    self._looked = made
                elif paths:
                    take_in(connection, folder, paths, step)
            return True
        except BaseException:
            # What was taken from the kernel is not in the index yet.
            folder_events().forget(folder)
            raise


class Indexes:
    """The indexes that were used last."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._indexes: OrderedDict[Path, NoteIndex] = OrderedDict()

    def get(self, place: IndexPlace) -> NoteIndex:
        """Return the index of a place, the same object for all threads."""
        with self._lock:
            index = self._indexes.get(place.database)
            if index is None or index.place != place:
                index = self._indexes[place.database] = NoteIndex(place)
            self._indexes.move_to_end(place.database)
            while len(self._indexes) > MAX_INDEXES:
                self._indexes.popitem(last=False)[1].close()
            for other in list(self._indexes.values())[:-MAX_IN_MEMORY]:
                other.forget_read()
            return index

    def close(self) -> None:
        """Close all connections, as those of people who were forgotten."""
        with self._lock:
            for index in self._indexes.values():
                index.close()
            self._indexes.clear()


_indexes = PerProcess(Indexes)


def index_of(place: IndexPlace) -> NoteIndex:
    """Return the index of a place."""
    return _indexes.get().get(place)


def indexes_close() -> None:
    """Close the connections of this process to indexes; later uses open new ones."""
    _indexes.get().close()
