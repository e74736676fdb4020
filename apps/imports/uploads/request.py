"""What a person asks for on their pages: to look at a file, to bring it in, to drop it, to undo an import."""

import re
from collections.abc import Iterable
from datetime import timedelta
from pathlib import PurePosixPath
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django_q.tasks import async_task

from apps.core.db.user_locks import hold_users
from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.errors import ConflictError, InvalidInputError, UnavailableError
from apps.core.domain.scope import Access, Scope
from apps.core.pauses import require_saving
from apps.imports.domain.found import Kind, clean_title
from apps.imports.models import OPEN_STATES, UPLOADED_STATES, Import, ImportState
from apps.imports.selectors import import_get
from apps.imports.sources.archive import READ_SUFFIXES
from apps.imports.uploads.files import PART, UPLOADS, write_part

TASK = "apps.imports.tasks.bring"
# How long a file is kept whose person has not decided, or whose import has failed.
KEPT = timedelta(days=1)
UPLOAD_SUFFIXES = (".zip", *READ_SUFFIXES)
MAX_STEM_CHARS = 150
# Browsers number files that they save again: `conversations (1).json`.
_NUMBERED = re.compile(r" ?\(\d+\)$")


class ImportOpenError(ConflictError):
    """Another import of the person goes on."""

    code = "import_open"

    def __init__(self) -> None:
        super().__init__("Another import of this person goes on. Wait until it is done.")


def user_of(access: Access) -> str:
    """Return whose imports an access may change: of the one person of its bound. Raises ForbiddenError."""
    return access.for_write(Scope()).user_id or ""


def upload_name(name: str) -> str:
    """Return how an uploaded file is called from now on. Raises InvalidInputError for one that is none of its kinds."""
    path = PurePosixPath(clean_title(name.replace("\\", "/").rsplit("/", 1)[-1]))
    suffix = path.suffix.lower()
    if suffix not in UPLOAD_SUFFIXES:
        detail = "Only ZIP, JSON and Markdown files can be brought in: pack a folder as a ZIP file."
        raise InvalidInputError(detail, code="wrong_file")
    return f"{_NUMBERED.sub('', path.stem)[:MAX_STEM_CHARS]}{suffix}"


def start_work() -> None:
    """Have the worker go on with all that waits."""
    async_task(TASK, task_name="imports: bring", save=False)


def import_upload(
    *,
    access: Access,
    kind: Kind | None,
    name: str,
    chunks: Iterable[bytes],
    from_user: str = "",
    clock: Clock = SYSTEM_CLOCK,
) -> Import:
    """Take a file of the person of the access, to be looked at in the background, in place of one that waits.

    kind: None for one that is to be recognised. Raises InvalidInputError, UserLockedError for a person who is being
    forgotten, ConflictError while an import of theirs goes on, UnavailableError where the disk takes no file.
    """
    user_id, now = user_of(access), utcnow(clock)
    record = Import(
        user_id=user_id,
        kind=kind.value if kind else "",
        name=upload_name(name),
        from_user=from_user,
        state=ImportState.WAITING,
        asked_by=access.actor,
        asked_at=now,
        until=now + KEPT,
    )
    with transaction.atomic():
        hold_users([user_id])
        if Import.objects.filter(user_id=user_id, state__in=OPEN_STATES).exists():
            raise ImportOpenError
        older = list(Import.objects.select_for_update().filter(user_id=user_id, state__in=UPLOADED_STATES))
        for one in older:
            one.delete()
        try:
            with transaction.atomic():
                record.save()
        except IntegrityError as error:
            raise ImportOpenError from error
    for one in older:
        UPLOADS.try_remove(one.uuid)  # a file of no row is removed later
    try:
        write_part(record.uuid, chunks)
        require_there(record)
        UPLOADS.keep(record.uuid, PART)
        require_there(record)  # it may have been forgotten meanwhile
    except Exception as error:
        Import.objects.filter(pk=record.pk).delete()
        UPLOADS.try_remove(record.uuid)
        if isinstance(error, OSError | UnavailableError):
            raise UnavailableError("The file could not be stored. Try again later.", code="not_stored") from error
        raise
    start_work()
    return record


def require_there(record: Import) -> None:
    """Raise UserLockedError for a person who is being forgotten, FileNotFoundError where the row was removed."""
    with transaction.atomic():
        hold_users([record.user_id])
        if not Import.objects.filter(pk=record.pk).exists():
            raise FileNotFoundError


def import_confirm(*, access: Access, uuid: UUID, clock: Clock = SYSTEM_CLOCK) -> Import:
    """Bring in a file that was looked at, in the background, or go on with an import that failed.

    Raises NotFoundError, PausedError, UserLockedError, ImportOpenError, ConflictError where there is nothing to bring.
    """
    record = import_get(access, uuid)
    require_saving(access, user_of(access), clock=clock)
    if not UPLOADS.is_there(record.uuid):
        raise ConflictError("The file is no longer there: upload it again.", code="file_gone")
    begun: dict[str, Any] = {"state": ImportState.RUNNING, "problem": "", "finished_at": None, "tries": 0}
    if record.state == ImportState.LOOKED:
        # The progress was that of the look.
        begun |= {"done": 0, "total": 0, "counts": {}, "asked_at": utcnow(clock)}
    change(record, (ImportState.LOOKED, ImportState.FAILED), begun)
    return record


def import_drop(*, access: Access, uuid: UUID) -> None:
    """Remove a file that was not brought in. Raises NotFoundError, ConflictError for one that was."""
    record = import_get(access, uuid)
    if not Import.objects.filter(pk=record.pk, state__in=UPLOADED_STATES, user_id=user_of(access)).delete()[0]:
        raise ConflictError("This was brought in: it can only be undone.", code="not_waiting")
    UPLOADS.remove(record.uuid)


def import_undo_request(*, access: Access, uuid: UUID) -> Import:
    """Undo an import in the background. Raises NotFoundError, ImportOpenError, ConflictError where nothing is kept."""
    record = import_get(access, uuid)
    change(record, (ImportState.DONE, ImportState.FAILED), {"state": ImportState.UNDOING, "tries": 0, "problem": ""})
    return record


def change(record: Import, before: Iterable[ImportState], values: dict[str, Any]) -> None:
    """Let an import go on in another state. Raises ImportOpenError, ConflictError where it is in none of `before`."""
    try:
        with transaction.atomic():
            hold_users([record.user_id])
            changed = Import.objects.filter(pk=record.pk, state__in=before).update(**values)
    except IntegrityError as error:
        raise ImportOpenError from error
    if not changed:
        raise ConflictError("This import has changed meanwhile. Look at it again.", code="changed_since")
    start_work()
    record.refresh_from_db()
