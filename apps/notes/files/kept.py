"""What a backup needs of the folder of notes: every file in it, but links and what is only on its way."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from django.conf import settings

from apps.core.file_roots import own_folder
from apps.notes.domain.places import USERS_FOLDER
from apps.notes.files.hidden import parse_hidden


@dataclass
class KeptFiles:
    """files: path below the folder, and where it is. left_out: links, and names that are not valid Unicode."""

    files: list[tuple[str, Path]] = field(default_factory=list)
    left_out: int = 0


def notes_kept() -> KeptFiles:
    """List the files of all users, also those that are no notes. Raises UnavailableError for another hub's folder.

    The folder itself and those of users may be links, as where an operator keeps them elsewhere; no other link is
    followed.
    """
    own_folder(settings.NOTES_DIR / USERS_FOLDER, "notes")
    kept = KeptFiles()
    for name, path in _walk(settings.NOTES_DIR, "", kept):
        try:
            name.encode()
        except UnicodeEncodeError:
            kept.left_out += 1
        else:
            kept.files.append((name, path))
    kept.files.sort()
    return kept


def _walk(directory: Path, above: str, kept: KeptFiles) -> Iterator[tuple[str, Path]]:
    try:
        entries = list(os.scandir(directory))
    except FileNotFoundError:  # deleted since
        return
    for entry in entries:
        name = above + entry.name
        is_users = above == f"{USERS_FOLDER}/" or name == USERS_FOLDER
        if entry.is_dir(follow_symlinks=is_users):
            yield from _walk(Path(entry.path), f"{name}/", kept)
        elif entry.is_symlink():
            kept.left_out += 1
        elif entry.is_file(follow_symlinks=False) and parse_hidden(entry.name) is None:
            yield name, Path(entry.path)
