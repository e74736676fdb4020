"""One writer for each user's notes, across threads, processes and hosts.

With the embedded database there is one machine, and the lock is a file. A server of PostgreSQL may have several hosts,
whose files do not lock each other (each has a `run/` of its own), so there it is a lock of the database.
"""

import contextlib
import fcntl
import random
import time
import zlib
from collections.abc import Iterator

import psycopg
from django.conf import settings
from django.db import IntegrityError

from apps.core.db.session_locks import patient_session_lock
from apps.core.db.user_locks import UserLockedError, locked_among
from apps.core.domain.errors import UnavailableError
from apps.notes.files.folder import notes_errors
from apps.notes.models.versions import VERSION_ONCE

WAIT_SECONDS = 5.0
SHARED_BY = 256
# Any number that no other pair of advisory locks of this project has.
NOTES_LOCKS = 0x6D68_6E74
# Between two tries, on average, at first: at random, so that none of a crowd is always late. Who has waited longer
# tries more often, by so much after each second, so that nobody waits while newcomers are served again and again.
_POLL_SECONDS, _HASTE = 0.005, 4.0


@contextlib.contextmanager
def notes_lock(user_id: str, *, of_forgotten: bool = False) -> Iterator[None]:
    """Hold the lock of a user's notes while the block runs. Raises UnavailableError after WAIT_SECONDS.

    Raises UserLockedError while the user is being forgotten, unless it is that which needs the lock (`of_forgotten`).
    The system releases it when a process dies. The lock is not in the folder of the notes, which may be synchronised.
    """
    try:
        with database_lock(user_id) if settings.MEMORYHUB.database_url else file_lock(user_id):
            if not of_forgotten and locked_among({user_id}):
                raise UserLockedError
            yield
    except IntegrityError as error:
        cause = error.__cause__
        if not isinstance(cause, psycopg.Error) or cause.diag.constraint_name != VERSION_ONCE:
            raise
        # The connection that held the lock was lost, and another process writes by now.
        raise busy() from error


@contextlib.contextmanager
def database_lock(user_id: str) -> Iterator[None]:
    """Hold the lock of a user's notes for all hosts. Raises UnavailableError."""
    with patient_session_lock(NOTES_LOCKS, user_id, WAIT_SECONDS) as is_held:
        if not is_held:
            raise busy()
        yield


@contextlib.contextmanager
def file_lock(user_id: str) -> Iterator[None]:
    """Hold the lock of a user's notes for this machine. Raises UnavailableError."""
    # Users share some locks, so that no name of a file says who has notes.
    name = str(zlib.crc32(user_id.encode()) % SHARED_BY)
    with notes_errors("the locks of notes"):
        settings.NOTES_LOCKS_DIR.mkdir(mode=0o700, parents=True, exist_ok=True)
        opened = (settings.NOTES_LOCKS_DIR / name).open("w")
    began = time.monotonic()
    with opened as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                waited = time.monotonic() - began
                if waited > WAIT_SECONDS:
                    raise busy() from None
                time.sleep(2 * _POLL_SECONDS * random.random() / (1 + _HASTE * waited))  # noqa: S311
        yield


def busy() -> UnavailableError:
    """Return the error of who waits for the lock in vain."""
    return UnavailableError("The notes are being written to: try again.", retry_after=1)
