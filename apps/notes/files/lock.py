"""One writer for each user's notes, across threads and processes of this machine."""

import contextlib
import fcntl
import random
import time
import zlib
from collections.abc import Iterator

from django.conf import settings

from apps.core.db.user_locks import UserLockedError, locked_among
from apps.core.domain.errors import UnavailableError
from apps.notes.files.folder import notes_errors

WAIT_SECONDS = 5.0
SHARED_BY = 256
# Between two tries, on average, at first: at random, so that none of a crowd is always late. Who has waited longer
# tries more often, by so much after each second, so that nobody waits while newcomers are served again and again.
_POLL_SECONDS, _HASTE = 0.005, 4.0


@contextlib.contextmanager
def notes_lock(user_id: str, *, of_forgotten: bool = False) -> Iterator[None]:
    """Hold the lock of a user's notes while the block runs. Raises UnavailableError after WAIT_SECONDS.

    Raises UserLockedError while the user is being forgotten, unless it is that which needs the lock (`of_forgotten`).
    The system releases it when a process dies. The lock is not in the folder of the notes, which may be synchronised.
    """
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
                    raise UnavailableError("The notes are being written to: try again.", retry_after=1) from None
                time.sleep(2 * _POLL_SECONDS * random.random() / (1 + _HASTE * waited))  # noqa: S311
        if not of_forgotten and locked_among({user_id}):
            raise UserLockedError
        yield
