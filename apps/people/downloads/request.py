"""Asking for a download, finding it, its files, and removing it."""

import os
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django_q.tasks import async_task

from apps.core.db.user_locks import hold_users
from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.row_files import RowFiles
from apps.people.models import UNFINISHED, Download, DownloadState

ZIP, ZIP_PART, LINES_PART, PROGRESS, ASKED = ".zip", ".zip.part", ".jsonl.part", ".progress", ".asked"
DOWNLOADS = RowFiles("DOWNLOADS", Download, ZIP)
file_of = DOWNLOADS.file
TASK = "apps.people.tasks.make_downloads"
# How long a file is kept.
KEPT = timedelta(days=3)
# Who asks one host for a file is sent there again. After so long any host makes it: that one may be gone.
HOST_PATIENCE = timedelta(minutes=10)


def open_private(path: Path) -> int:
    """Open a new file for its owner only, in place of one that a killed process left. Return its descriptor."""
    path.unlink(missing_ok=True)
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)


def progress_write(uuid: UUID, lines: int) -> None:
    """Note how many lines are written, for pages: the transaction that reads them cannot write."""
    file_of(uuid, PROGRESS).write_text(str(lines))


def progress_read(uuid: UUID) -> int:
    """Return how many lines are written so far."""
    with suppress(OSError, ValueError):
        return int(file_of(uuid, PROGRESS).read_text())
    return 0


def download_request(*, user_id: str, language: str, time_zone: str, clock: Clock = SYSTEM_CLOCK) -> Download:
    """Have a ZIP file made of all that the hub keeps of a user, in place of an older one. Return one that is under way.

    Raises UserLockedError for a user who is being forgotten.
    """
    with transaction.atomic():
        hold_users([user_id])
        found = Download.objects.select_for_update().filter(user_id=user_id).first()
        if found is not None and found.state in UNFINISHED:
            return found
        if found is not None:
            found.delete()
            DOWNLOADS.try_remove(found.uuid)  # a file of no row is removed later
        asked, is_new = Download.objects.get_or_create(
            user_id=user_id,
            defaults={"language": language, "time_zone": time_zone, "requested_at": utcnow(clock)},
        )
    if is_new:
        if are_of_hosts():
            with suppress(OSError):
                (DOWNLOADS.prepare() / f"{asked.uuid}{ASKED}").touch(mode=0o600)
        async_task(TASK, task_name="people: make downloads", save=False)
    return asked


def are_of_hosts() -> bool:
    """Return whether there may be several hosts, each of which keeps the downloads that it makes."""
    return bool(settings.MEMORYHUB.database_url) and not settings.DOWNLOADS_URL


def is_for_another_host(download: Download, *, clock: Clock = SYSTEM_CLOCK) -> bool:
    """Return whether a download is to be made by the host that was asked for it."""
    if not are_of_hosts():
        return False
    is_new = utcnow(clock) - download.requested_at < HOST_PATIENCE
    return is_new and not file_of(download.uuid, ASKED).exists()


def download_of(user_id: str) -> Download | None:
    """Return the download of a user, in whatever state it is."""
    return Download.objects.filter(user_id=user_id).first()


def download_ready(user_id: str, uuid: UUID, *, clock: Clock = SYSTEM_CLOCK) -> Download | None:
    """Return a download of this user whose file can be taken; None for every other id."""
    return Download.objects.filter(
        user_id=user_id, uuid=uuid, state=DownloadState.READY, until__gt=utcnow(clock)
    ).first()


def download_file_exists(download: Download) -> bool:
    """Return whether the file of a download is where it was put. Raises UnavailableError where that is not known."""
    return DOWNLOADS.is_there(download.uuid)


def download_pieces(download: Download) -> Iterator[bytes]:
    """Yield the file of a download in parts."""
    return DOWNLOADS.pieces(download.uuid)


def download_remove(*, user_id: str) -> None:
    """Remove the download of a user and its files; safe to repeat."""
    for found in Download.objects.filter(user_id=user_id):
        found.delete()
        DOWNLOADS.try_remove(found.uuid)  # a file of no row is removed later
