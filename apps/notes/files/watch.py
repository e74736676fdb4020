"""Looking at notes that were changed on the disk, without being asked for them."""

import contextlib
import logging
import time
from collections.abc import Iterator

from django.conf import settings

from apps.core.domain.clock import SYSTEM_CLOCK, Clock
from apps.core.domain.errors import MemoryHubError
from apps.notes.domain.places import CONFIG, USERS_FOLDER, NotePlace, user_of
from apps.notes.files.changes import note_read
from apps.notes.files.folder import Folder
from apps.notes.files.owner import folder_of
from apps.notes.models import NoteVersion

logger = logging.getLogger(__name__)
# A file is written a moment after the time of its version. What was written lately is read in any case.
_SLACK_SECONDS, _RECENT_SECONDS = 2.0, 150.0


def look_at_changed(clock: Clock = SYSTEM_CLOCK) -> int:
    """Look at every note whose file was written since its last version, or lately; return how many there were.

    A note that cannot be read is left out with a line in the log, which does not name it.
    """
    looked, now = 0, time.time()
    for user in find_users():
        newest = NoteVersion.objects.filter(user_id=user).current().order_by("place", "-number").distinct("place")
        seen = {version.place: version.at.timestamp() for version in newest.only("place", "at")}
        folder = folder_of(user)
        displaced = folder.places_with_displaced()
        for place, written in places_with_times(folder, displaced):
            is_known = written <= seen.get(str(place), 0.0) + _SLACK_SECONDS
            if is_known and now - written > _RECENT_SECONDS and place not in displaced:
                continue
            try:
                note_read(user, place, clock=clock)
                looked += 1
            except MemoryHubError as error:
                logger.warning("a note that was changed on the disk cannot be read: %s", error.code)
    return looked


def places_with_times(folder: Folder, displaced: set[NotePlace]) -> Iterator[tuple[NotePlace, float]]:
    """Yield each note, and the settings, with when its file was written last, in seconds since 1970.

    displaced: notes that have hidden files beside them; they are yielded even when they were deleted.
    """
    for place in sorted({*folder.places(), CONFIG, *displaced}):
        with contextlib.suppress(MemoryHubError):  # deleted since, or out of reach
            if (changed_at := folder.changed_at(place)) is not None or place in displaced:
                yield place, changed_at or 0.0


def find_users() -> list[str]:
    """List the users who have notes: those with a folder, and those with versions."""
    users = set(NoteVersion.objects.order_by().values_list("user_id", flat=True).distinct())
    if settings.MEMORYHUB.default_user:
        users.add(settings.MEMORYHUB.default_user)
    parent = settings.NOTES_DIR / USERS_FOLDER
    if parent.is_dir():
        users |= {user for path in parent.iterdir() if (user := user_of(path.name)) is not None}
    return sorted(users)
