"""The work on uploaded files in the background, and on undoing: the next process goes on with what one left."""

import logging
import time
import traceback
import zipfile
from contextlib import suppress

from django.db.models import Q

from apps.core.db.session_locks import try_session_lock
from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.deadline import Deadline
from apps.core.domain.errors import MemoryHubError, UnavailableError
from apps.core.steps import Step, no_step
from apps.imports.domain.found import Kind
from apps.imports.models import UPLOADED_STATES, Import, ImportState
from apps.imports.running.run import IMPORT_LOCKS, FilesChangedError, ImportBusyError, Progress, import_run, look
from apps.imports.running.undo import import_undo
from apps.imports.sources.archive import SourceError, open_source
from apps.imports.sources.recognise import recognise
from apps.imports.uploads.files import UPLOADS
from apps.imports.uploads.request import start_work

logger = logging.getLogger(__name__)
# Of work on one import, after which others have their turn; a look ends with what it has. After TASK_SECONDS a task
# begins with no other import, so that it ends long before the worker would end it.
PART_SECONDS, LOOK_SECONDS, TASK_SECONDS = 60.0, 120.0, 180.0
# So often a process may be killed at the same place.
MAX_TRIES = 5
SECONDS_BETWEEN_SIGNS = 1.0


def imports_continue(
    *,
    seconds: float = PART_SECONDS,
    task_seconds: float = TASK_SECONDS,
    clock: Clock = SYSTEM_CLOCK,
    step: Step = no_step,
) -> None:
    """Go on with every uploaded file and every undoing, and remove the files whose time is over; safe to repeat."""
    with suppress(UnavailableError):  # the next call removes what cannot be reached
        remove_old(clock)
    uploaded = Q(state__in=[ImportState.WAITING, ImportState.RUNNING], until__isnull=False)
    waiting = Import.objects.filter(uploaded | Q(state=ImportState.UNDOING)).order_by("pk")
    deadline, is_left = Deadline(task_seconds), False
    for number, record in enumerate(waiting):
        if number and deadline.expired:
            is_left = True
            break
        is_left |= not import_continue(record, seconds=seconds, clock=clock, step=step)
    if is_left:
        start_work()


def remove_old(clock: Clock) -> None:
    """Remove the files whose time is over or whose import is, and those of no row. Raises UnavailableError."""
    over = Q(until__lte=utcnow(clock)) | Q(state__in=[ImportState.DONE, ImportState.UNDONE], until__isnull=False)
    for record in Import.objects.filter(over).exclude(state=ImportState.RUNNING):
        UPLOADS.remove(record.uuid)
        Import.objects.filter(pk=record.pk, state__in=UPLOADED_STATES).delete()
        Import.objects.filter(pk=record.pk).update(until=None)
    UPLOADS.remove_strays()


def import_continue(record: Import, *, seconds: float, clock: Clock = SYSTEM_CLOCK, step: Step = no_step) -> bool:
    """Go on with one import. Return False for one that is out of time, and has more to do at once."""
    is_undoing = record.state == ImportState.UNDOING
    try:
        if not is_undoing and not UPLOADS.is_there(record.uuid):
            return True  # It is on its way, or on the disk of another host.
        if record.tries >= MAX_TRIES and not is_undoing:
            end(record, "interrupted", clock)
            return True
        Import.objects.filter(pk=record.pk).update(tries=record.tries + 1)
        is_done = work_on(record, seconds, clock, step)
    except ImportBusyError:
        Import.objects.filter(pk=record.pk).update(tries=record.tries)
        return True
    except UnavailableError as error:
        Import.objects.filter(pk=record.pk).update(problem=error.code[:50], tries=record.tries)
        return True
    except MemoryHubError as error:
        end(record, error.code, clock, is_final=isinstance(error, SourceError | FilesChangedError))
        return True
    except Exception as error:  # noqa: BLE001
        # What it says may have something of the person in it; where it comes from has not.
        name, place = type(error).__name__, "".join(traceback.format_tb(error.__traceback__))
        logger.error("import %d failed with %s\n%s", record.pk, name, place)
        end(record, "error", clock)
        return True
    Import.objects.filter(pk=record.pk).update(tries=0)
    return is_done


def work_on(record: Import, seconds: float, clock: Clock, step: Step) -> bool:
    """Look at a file, bring it in or undo it; return whether that is all. Raises what these raise."""
    if record.state == ImportState.UNDOING:
        import_undo(record=record, clock=clock, step=step)
    elif record.state == ImportState.WAITING:
        look_at(record, step)
        return True
    else:
        with try_session_lock(IMPORT_LOCKS, record.pk) as is_alone:
            if not is_alone:  # nothing is fetched for an import that another process works on
                raise ImportBusyError
        with UPLOADS.fetched(record.uuid) as path:
            if not import_run(record=record, path=path, name=record.name, seconds=seconds, clock=clock, step=step):
                return False
    if UPLOADS.try_remove(record.uuid):
        Import.objects.filter(pk=record.pk).update(until=None)
    return True


def look_at(record: Import, step: Step) -> None:
    """Note what a file would bring. Raises ImportBusyError, SourceError, UnavailableError."""
    with try_session_lock(IMPORT_LOCKS, record.pk) as is_alone:
        if not is_alone:
            raise ImportBusyError
        with UPLOADS.fetched(record.uuid) as path:
            name = record.name
            if name.endswith(".zip") and not zipfile.is_zipfile(path):
                raise SourceError("This is no ZIP file, or it is cut off.", code="damaged")
            if not record.kind:
                with open_source(path, name) as entries:
                    record.kind = recognise(entries).value
            counts = look(
                user_id=record.user_id,
                kind=Kind(record.kind),
                path=path,
                name=name,
                from_user=record.from_user,
                seconds=LOOK_SECONDS,
                progress=signs_of(record),
            )
        step("looked")
        values = {"state": ImportState.LOOKED, "kind": record.kind, "looked": counts.as_json(), "problem": ""}
        Import.objects.filter(pk=record.pk, state=ImportState.WAITING).update(**values)


def signs_of(record: Import) -> Progress:
    """Return what notes how far a look is, once a second, for pages."""
    done, noted_at = 0, 0.0

    def progress(read: int, total: int) -> None:
        nonlocal done, noted_at
        done += read
        if time.monotonic() - noted_at >= SECONDS_BETWEEN_SIGNS:
            noted_at = time.monotonic()
            Import.objects.filter(pk=record.pk).update(done=min(done, total), total=total)

    return progress


def end(record: Import, problem: str, clock: Clock, *, is_final: bool = False) -> None:
    """Note why an import cannot go on. is_final: its file will never be read to its end, so it is removed."""
    found = Import.objects.filter(pk=record.pk)
    ended = {"problem": problem[:50], "tries": 0}
    if record.state == ImportState.UNDOING:
        found.filter(state=ImportState.UNDOING).update(**ended)
        return
    if record.state == ImportState.WAITING:
        changed = found.filter(state=ImportState.WAITING).update(state=ImportState.REFUSED, kind=record.kind, **ended)
        if changed:
            UPLOADS.try_remove(record.uuid)
        return
    changed = found.filter(state=ImportState.RUNNING).update(
        state=ImportState.FAILED, finished_at=utcnow(clock), **ended
    )
    if changed and is_final and UPLOADS.try_remove(record.uuid):
        found.update(until=None)
