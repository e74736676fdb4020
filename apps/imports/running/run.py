"""Look at files, or keep what is in them: in parts, so that a worker that is killed or out of time goes on."""

from collections.abc import Callable
from pathlib import Path

from apps.core.db.session_locks import try_session_lock
from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.deadline import Deadline
from apps.core.domain.errors import ConflictError, MemoryHubError
from apps.core.domain.origin import WriteOrigin
from apps.core.domain.scope import Access, Permission, Scope
from apps.core.models import IMPORT_ACTOR
from apps.core.pauses import require_saving
from apps.core.steps import Step, no_step
from apps.imports.domain.counts import Counts
from apps.imports.domain.found import Kind
from apps.imports.models import Import, ImportState
from apps.imports.running.keep import Keeper
from apps.imports.sources.archive import open_source
from apps.imports.sources.kinds import Reading, total_bytes, units

# With the key of an import as second key: one process at a time.
IMPORT_LOCKS = 0x6D68_696D
# Takes how many bytes were read since its last call, and how many there are.
Progress = Callable[[int, int], None]
LOOK = f"{IMPORT_ACTOR}look"


class ImportBusyError(ConflictError):
    """Another process works on it."""

    code = "import_busy"

    def __init__(self) -> None:
        super().__init__("This import is being worked on. Wait until it is done.")


class FilesChangedError(ConflictError):
    """What an import goes on with are not the files that it began with."""

    code = "files_changed"

    def __init__(self) -> None:
        super().__init__("The files have changed since this import began. Undo it, then import them again.")


def no_progress(read: int, total: int) -> None:
    """Show nothing."""


def import_access(user_id: str, actor: str) -> Access:
    """Return what an import may do: write for its person, and nothing else."""
    return Access(Scope(user_id), Permission.WRITE, actor, origin=WriteOrigin.PERSON)


def others_of(user_id: str, own: str = "") -> list[str]:
    """Return the actors of the imports of a person that were not undone."""
    rows = Import.objects.filter(user_id=user_id).exclude(state=ImportState.UNDONE)
    return [row.actor for row in rows.only("uuid") if row.actor != own]


def look(
    *,
    user_id: str,
    kind: Kind,
    path: Path,
    name: str = "",
    from_user: str = "",
    seconds: float | None = None,
    progress: Progress = no_progress,
) -> Counts:
    """Return what an import would keep, and change nothing. Raises SourceError, UnavailableError.

    What rules would decide about memories that disagree is seen only when they are saved. name: see `open_source`.
    seconds: after these the counts are those of the part that was read.
    """
    deadline = Deadline(seconds)
    keeper = Keeper(import_access(user_id, LOOK), user_id, kind.value, Counts(), others=others_of(user_id), is_dry=True)
    reading = Reading(user_id, from_user)
    shown = 0
    with open_source(path, name) as entries:
        total = total_bytes(kind, entries, reading)
        for found in units(kind, entries, reading):
            keeper.add(found)
            if deadline.expired:
                keeper.counts.is_part = True
                break
            if keeper.is_full:
                keeper.flush()
            if reading.read > shown:
                progress(reading.read - shown, total)
                shown = reading.read
        keeper.flush()
    return keeper.counts


def import_run(
    *,
    record: Import,
    path: Path,
    name: str = "",
    seconds: float | None = None,
    progress: Progress = no_progress,
    clock: Clock = SYSTEM_CLOCK,
    step: Step = no_step,
) -> bool:
    """Keep what is in the files of an import, from where it stopped. Return whether it is done, not just out of time.

    What was kept stays with every batch. Raises ImportBusyError, SourceError, UnavailableError and other errors of
    services, after which it can go on. name: see `open_source`. step: called with the name of each step after which a
    process may be killed.
    """
    with try_session_lock(IMPORT_LOCKS, record.pk) as is_alone:
        if not is_alone:
            raise ImportBusyError
        record.refresh_from_db()
        if record.state != ImportState.RUNNING:
            return True
        require_saving(Access(Scope(record.user_id), Permission.WRITE, record.asked_by), record.user_id, clock=clock)
        return ImportWork(record, Deadline(seconds), progress, clock, step).work(path, name)


class ImportWork:
    """The work on one import."""

    def __init__(self, record: Import, deadline: Deadline, progress: Progress, clock: Clock, step: Step) -> None:
        self.record, self.deadline, self.progress, self.clock, self.step = record, deadline, progress, clock, step
        self.shown = record.done
        self.keeper = Keeper(
            import_access(record.user_id, record.actor),
            record.user_id,
            record.kind,
            Counts.from_json(record.counts),
            others=others_of(record.user_id, record.actor),
            is_replay=record.total > 0,
            clock=clock,
        )

    def work(self, path: Path, name: str) -> bool:
        """Keep what is left; return whether that is all. Raises FilesChangedError."""
        record, kind = self.record, Kind(self.record.kind)
        reading, position = Reading(record.user_id, record.from_user), 0
        with open_source(path, name) as entries:
            total = total_bytes(kind, entries, reading)
            if record.position and record.total != total:
                raise FilesChangedError
            record.total = total
            record.save(update_fields=["total"])
            for found in units(kind, entries, reading):
                position += 1
                if position <= record.position:
                    continue
                self.keeper.add(found)
                # A note is written with its own commit, and counted at once.
                if self.keeper.is_full or kind in NOTED:
                    self.save(position, reading.read)
                    if self.deadline.expired:
                        return False
        self.save(position, record.total)
        record.state, record.finished_at, record.problem = ImportState.DONE, utcnow(self.clock), ""
        record.save(update_fields=["state", "finished_at", "problem"])
        return True

    def save(self, position: int, read: int) -> None:
        """Keep what waits, and note how far it is."""
        self.keeper.flush()
        self.step("kept")
        record = self.record
        record.position, record.done, record.counts = position, read, self.keeper.counts.as_json()
        record.save(update_fields=["position", "done", "counts"])
        self.keeper.is_replay = False
        self.progress(read - self.shown, record.total)
        self.shown = read
        self.step("counted")


# Of these each item is a file.
NOTED = frozenset({Kind.MARKDOWN, Kind.BASIC_MEMORY, Kind.CLAUDE_CODE})


def fail(record: Import, error: MemoryHubError, clock: Clock = SYSTEM_CLOCK) -> None:
    """Note that an import cannot go on; what it has kept can be undone."""
    ended = {"state": ImportState.FAILED, "problem": error.code[:50], "finished_at": utcnow(clock)}
    Import.objects.filter(pk=record.pk).update(**ended)
