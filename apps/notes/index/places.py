"""Where the index of a user is, and which files it is made of."""

from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from apps.notes.domain.places import USERS_FOLDER, folder_name
from apps.notes.files.folder import Folder
from apps.notes.files.owner import folder_of

SUFFIX = ".sqlite3"


@dataclass(frozen=True)
class IndexPlace:
    """The folder of a user's notes, and the database that is made of it."""

    folder: Folder
    database: Path

    @property
    def files(self) -> tuple[Path, ...]:
        """Return every file that SQLite may keep of the database, itself first."""
        return (self.database, *(self.database.with_name(self.database.name + end) for end in ("-wal", "-shm")))


def place_of(user_id: str) -> IndexPlace:
    """Return the place of a user's index."""
    return IndexPlace(folder_of(user_id), database_named(folder_name(user_id)))


def place_of_path(path: Path) -> IndexPlace | None:
    """Return the index that a file of notes belongs to; None for one that belongs to none."""
    try:
        segments = path.relative_to(settings.NOTES_DIR).parts
    except ValueError:
        return None
    default = settings.MEMORYHUB.default_user
    if segments and segments[0] == USERS_FOLDER:
        if len(segments) < 2:
            return None
        # Left from before its user became the default one: the database is the other folder's now.
        if default and segments[1] == folder_name(default):
            return None
        return IndexPlace(Folder(settings.NOTES_DIR / USERS_FOLDER / segments[1]), database_named(segments[1]))
    return place_of(default) if default else None


def database_named(folder: str) -> Path:
    """Return the database of the user whose folder has a name."""
    return Path(settings.NOTES_INDEX_DIR) / f"{folder}{SUFFIX}"
