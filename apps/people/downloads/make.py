"""Making the ZIP file of a download: every line as JSON, and pages to read."""

import logging
import os
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from zipfile import ZIP_DEFLATED, ZipFile
from zoneinfo import ZoneInfo

from django.db import transaction
from django.utils import timezone, translation

from apps.core.db.session_locks import try_session_lock
from apps.core.db.user_locks import hold_users
from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.errors import MemoryHubError, UnavailableError
from apps.core.domain.scope import Access, Permission, Scope
from apps.core.personal.export import encode_line, export_lines, permitted_export
from apps.core.personal.registry import personal_stores
from apps.core.personal.store import ExportRequest
from apps.core.steps import Step, no_step
from apps.people.downloads.book import Book
from apps.people.downloads.request import (
    ASKED,
    DOWNLOADS,
    KEPT,
    LINES_PART,
    PROGRESS,
    ZIP_PART,
    file_of,
    is_for_another_host,
    open_private,
    progress_write,
)
from apps.people.models import UNFINISHED, Download, DownloadState

logger = logging.getLogger(__name__)
# With the key of a download as second key: one process at a time.
DOWNLOAD_LOCKS = 0x6D68_646C
MAX_TRIES = 10
LINES_BETWEEN_SIGNS = 200
LINES_FILE = "memoryhub.jsonl"


class DownloadGoneError(Exception):
    """Its row or its files were removed while it was made."""


def downloads_continue(*, clock: Clock = SYSTEM_CLOCK) -> None:
    """Make every download that waits or whose process was killed, and remove those that were kept long enough."""
    with suppress(UnavailableError):  # the next call removes what cannot be reached
        for one in Download.objects.filter(until__lte=utcnow(clock)):
            one.delete()
            DOWNLOADS.remove(one.uuid)
        DOWNLOADS.remove_strays()
    for download in Download.objects.filter(state__in=UNFINISHED).order_by("pk"):
        if is_for_another_host(download, clock=clock):
            continue
        download_make(download_id=download.pk, clock=clock)


def download_make(*, download_id: int, clock: Clock = SYSTEM_CLOCK, step: Step = no_step) -> None:
    """Make the file of a download, unless another process does. One that cannot be made is tried again a few times.

    step: called with the name of each step after which a process may be killed.
    """
    with try_session_lock(DOWNLOAD_LOCKS, download_id) as is_alone:
        download = begin(download_id) if is_alone else None
        if download is None:
            return
        step("begun")
        try:
            write_file(download, step)
            finish(download, clock, step)
        except DownloadGoneError:
            DOWNLOADS.try_remove(download.uuid)
        except Exception as error:  # noqa: BLE001
            # What it says may have something of the person in it; where it comes from has not.
            name, place = type(error).__name__, "".join(traceback.format_tb(error.__traceback__))
            logger.error("download %d failed with %s\n%s", download.pk, name, place)
            may_pass = isinstance(error, MemoryHubError) and download.tries < MAX_TRIES
            state = DownloadState.WAITING if may_pass else DownloadState.FAILED
            Download.objects.filter(pk=download.pk).update(state=state)
            DOWNLOADS.try_remove(download.uuid)  # the next try takes its place


def begin(download_id: int) -> Download | None:
    """Note that a download is being made, and how much there is; None for one that is not to be made."""
    with transaction.atomic():
        download = Download.objects.select_for_update().filter(pk=download_id, state__in=UNFINISHED).first()
        if download is None:
            return None
        download.state, download.tries = DownloadState.MAKING, download.tries + 1
        download.total = sum(store.count(download.user_id) for store in personal_stores() if store.kinds)
        download.save(update_fields=["state", "tries", "total"])
        return download


@contextmanager
def readers_words(download: Download) -> Iterator[None]:
    """Write in the language and the time zone of the person until the block ends."""
    with translation.override(download.language), timezone.override(ZoneInfo(download.time_zone)):
        yield


def write_file(download: Download, step: Step) -> None:
    """Write the ZIP file beside its place. Raises DownloadGoneError when it was removed while it was written."""
    DOWNLOADS.prepare()
    asked = ExportRequest(Scope(download.user_id))
    access = Access(asked.scope, Permission.READ, "download")
    part, lines_part = (open_private(file_of(download.uuid, suffix)) for suffix in (ZIP_PART, LINES_PART))
    with os.fdopen(part, "w+b") as whole, os.fdopen(lines_part, "w+b") as lines, readers_words(download):
        with ZipFile(whole, "w", ZIP_DEFLATED) as archive:
            book = Book(archive)
            for number, line in enumerate(export_lines(asked, permitted_export(access, asked))):
                lines.write(encode_line(line))
                book.add(line)
                if number % LINES_BETWEEN_SIGNS == 0:
                    if not file_of(download.uuid, ZIP_PART).exists():
                        raise DownloadGoneError
                    progress_write(download.uuid, number)
                    step("lines")
            book.close(utcnow(SYSTEM_CLOCK))
            lines.flush()
            archive.write(file_of(download.uuid, LINES_PART), LINES_FILE)
        download.lines, download.size = book.total, whole.tell()
    step("written")


def require_there(download: Download) -> None:
    """Raise DownloadGoneError where the row was removed, UserLockedError for a person who is being forgotten."""
    hold_users([download.user_id])
    if not Download.objects.select_for_update().filter(pk=download.pk).exists():
        raise DownloadGoneError


def finish(download: Download, clock: Clock, step: Step) -> None:
    """Let the file be taken. Raises DownloadGoneError, and UserLockedError for one who is being forgotten."""
    with transaction.atomic():
        require_there(download)
    try:
        DOWNLOADS.keep(download.uuid, ZIP_PART)
    except FileNotFoundError as error:
        raise DownloadGoneError from error
    step("kept")
    with transaction.atomic():
        require_there(download)  # it may have been forgotten meanwhile
        now = utcnow(clock)
        download.state, download.ready_at, download.until = DownloadState.READY, now, now + KEPT
        download.save(update_fields=["state", "ready_at", "until", "lines", "size"])
    for suffix in (LINES_PART, PROGRESS, ASKED):
        file_of(download.uuid, suffix).unlink(missing_ok=True)
