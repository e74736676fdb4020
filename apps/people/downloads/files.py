"""The files of downloads: one ZIP file for each, and what it is made of while it is made."""

import os
from contextlib import suppress
from pathlib import Path
from uuid import UUID

from django.conf import settings

from apps.people.models import Download

ZIP, ZIP_PART, LINES_PART, PROGRESS = ".zip", ".zip.part", ".jsonl.part", ".progress"
SUFFIXES = (ZIP, ZIP_PART, LINES_PART, PROGRESS)


def downloads_dir() -> Path:
    """Return the directory of downloads; create it for its owner only."""
    directory = Path(settings.DOWNLOADS_DIR)
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    return directory


def file_of(uuid: UUID, suffix: str = ZIP) -> Path:
    """Return the place of a file of a download."""
    return Path(settings.DOWNLOADS_DIR) / f"{uuid}{suffix}"


def open_private(path: Path) -> int:
    """Open a new file for its owner only, in place of one that a killed process left. Return its descriptor."""
    path.unlink(missing_ok=True)
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)


def remove_files(uuid: UUID) -> None:
    """Remove the files of a download; safe to repeat."""
    for suffix in SUFFIXES:
        file_of(uuid, suffix).unlink(missing_ok=True)


def stray_files() -> list[Path]:
    """Return the files that belong to no download, such as those of a process that was killed. A row comes first."""
    try:
        found = sorted(Path(settings.DOWNLOADS_DIR).iterdir())
    except FileNotFoundError:
        return []
    known = {str(uuid) for uuid in Download.objects.values_list("uuid", flat=True)}
    return [path for path in found if path.name.partition(".")[0] not in known]


def progress_write(uuid: UUID, lines: int) -> None:
    """Note how many lines are written, for pages: the transaction that reads them cannot write."""
    file_of(uuid, PROGRESS).write_text(str(lines))


def progress_read(uuid: UUID) -> int:
    """Return how many lines are written so far."""
    with suppress(OSError, ValueError):
        return int(file_of(uuid, PROGRESS).read_text())
    return 0
