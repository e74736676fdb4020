"""The door of `notes` for writes."""

from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, date, datetime
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from django.conf import settings

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.errors import ForbiddenError, InvalidInputError
from apps.core.domain.scope import Access, Permission
from apps.core.pauses import require_saving
from apps.llm.services import models_listing
from apps.notes.commands.run import Command, CommandResult, Notes
from apps.notes.compaction import decide
from apps.notes.compaction.run import compaction_request, compaction_run
from apps.notes.conversations.events import event_add
from apps.notes.conversations.messages import contents_clear, messages_add, session_delete
from apps.notes.conversations.runs import runs_continue
from apps.notes.conversations.undo import fact_undo
from apps.notes.domain.places import MAIN, NotePlace, daily_place, parse_place
from apps.notes.domain.settings import MemoryConfig, camel_name
from apps.notes.files import changes
from apps.notes.files.config import ReadConfig, config_change, config_of
from apps.notes.files.desk import NoteChangedError
from apps.notes.files.owner import NotesOwnerError, owner_to_read, owner_to_write, root_folder
from apps.notes.files.watch import look_at_changed
from apps.notes.index.upkeep import (
    end_notes_watch,
    index_forget,
    index_rebuild,
    index_refresh,
    indexes_look,
    refresh_after_write,
    start_notes_watch,
    vectors_fill,
)
from apps.notes.models import Compaction, CompactionState, NoteVersion
from apps.notes.selectors import compaction_get, version_get

__all__ = [
    "NoteChangedError",
    "NotesOwnerError",
    "compaction_apply",
    "compaction_create",
    "compaction_discard",
    "compaction_draft",
    "compaction_undo",
    "config_update",
    "contents_clear",
    "daily_append",
    "daily_of",
    "end_notes_watch",
    "event_add",
    "fact_undo",
    "index_forget",
    "index_rebuild",
    "index_refresh",
    "main_append",
    "memory_command",
    "messages_add",
    "note_bring",
    "note_edit",
    "note_restore",
    "notes_look",
    "notes_prepare",
    "notes_take_back",
    "runs_continue",
    "session_delete",
    "start_notes_watch",
    "vectors_fill",
]


def notes_prepare() -> None:
    """Create the folders of the default user's notes (spec 001, directory initialisation); safe to repeat.

    Raises NotesOwnerError where they are those of a former default user.
    """
    if settings.MEMORYHUB.default_user:
        root_folder(settings.MEMORYHUB.default_user)
    for path in (settings.NOTES_DIR, settings.NOTES_DIR / "daily"):
        path.mkdir(mode=0o700, parents=True, exist_ok=True)


def main_append(
    *,
    access: Access,
    user_id: str | None,
    entry: str,
    category: str = "",
    operation: str = "",
    clock: Clock = SYSTEM_CLOCK,
) -> tuple[NoteVersion, bool]:
    """Add an entry to MEMORY.md, in the section of a category; return its version, and whether it is new.

    operation: chosen by the caller: the same one again adds nothing, and returns the version of the first time.

    Raises ForbiddenError, InvalidInputError, ConflictError, UnavailableError.
    """
    owner = owner_to_write(access, user_id)
    require_saving(access, owner, clock=clock)
    appended = changes.note_append(
        owner, MAIN, entry, author=access.actor, category=category, operation=operation, clock=clock
    )
    refresh_after_write(owner)
    return appended


def daily_append(
    *,
    access: Access,
    user_id: str | None,
    entry: str,
    zone: ZoneInfo | None = None,
    operation: str = "",
    clock: Clock = SYSTEM_CLOCK,
) -> tuple[NoteVersion, bool]:
    """Add an entry with its time to the log of today in a time zone, by default UTC; as `main_append` otherwise."""
    owner = owner_to_write(access, user_id)
    require_saving(access, owner, clock=clock)
    here = utcnow(clock).astimezone(zone or UTC)
    appended = changes.note_append(
        owner,
        daily_of(here),
        f"{here:%H:%M} {entry.strip()}",
        author=access.actor,
        operation=operation,
        clock=clock,
    )
    refresh_after_write(owner)
    return appended


def daily_of(moment: datetime | date) -> NotePlace:
    """Return the place of the log of a day."""
    return daily_place(moment.date() if isinstance(moment, datetime) else moment)


def note_edit(
    *, access: Access, user_id: str | None, place: NotePlace, text: str, base: str | None, clock: Clock = SYSTEM_CLOCK
) -> NoteVersion:
    """Replace the text of a note that is still the one that the caller has read, of digest `base`.

    Raises NoteChangedError with the present text; ForbiddenError, InvalidInputError, ConflictError, UnavailableError.
    """
    owner = owner_to_write(access, user_id)
    require_saving(access, owner, clock=clock)
    version = changes.note_edit(owner, place, text, base=base, author=access.actor, clock=clock)
    refresh_after_write(owner)
    return version


def note_restore(*, access: Access, uuid: UUID, clock: Clock = SYSTEM_CLOCK) -> NoteVersion:
    """Make a former version the present text of its note. Raises NotFoundError, and what `note_edit` raises."""
    version = version_get(access, uuid)
    owner = owner_to_write(access, version.user_id)
    require_saving(access, owner, clock=clock)
    place = changes.place_of(version)
    restored = changes.note_restore(owner, place, version.number, author=access.actor, clock=clock)
    refresh_after_write(owner)
    return restored


def notes_look(*, clock: Clock = SYSTEM_CLOCK) -> int:
    """Record what was changed on the disk lately, of all users, and bring their indexes up to the files.

    Return how many notes were read for their versions.
    """
    looked = look_at_changed(clock)
    indexes_look()
    return looked


def note_bring(
    *,
    access: Access,
    user_id: str | None,
    path: str,
    text: bytes,
    written_at: datetime | None = None,
    is_dry: bool = False,
    clock: Clock = SYSTEM_CLOCK,
) -> bool:
    """Write a note of elsewhere where there is none of its name. Return whether it is new. is_dry: change nothing.

    The text stays byte for byte; written_at becomes the time of the file. Raises ConflictError `note_exists` where a
    note has other words, InvalidInputError for a path or a size that no note can have, ForbiddenError.
    """
    owner, place = owner_to_write(access, user_id), parse_place(path)
    is_new = changes.note_bring(
        owner, place, text, author=access.actor, written_at=written_at, clock=clock, is_dry=is_dry
    )
    if is_new and not is_dry:
        refresh_after_write(owner)
    return is_new


def notes_take_back(
    *, access: Access, user_id: str | None, brought_by: str, clock: Clock = SYSTEM_CLOCK
) -> tuple[int, int]:
    """Delete the notes that an actor brought and nobody has changed since; their versions stay.

    Return how many were deleted, and how many stay since they were changed. Raises ForbiddenError, UnavailableError.
    """
    owner = owner_to_write(access, user_id)
    counts = changes.notes_take_back(owner, brought_by=brought_by, author=access.actor, clock=clock)
    refresh_after_write(owner)
    return counts


def config_update(
    *, access: Access, user_id: str | None, values: Mapping[str, Any], clock: Clock = SYSTEM_CLOCK
) -> ReadConfig:
    """Set some settings of a user, by their names in camelCase, with values that `ConfigInput` has checked.

    Raises ForbiddenError, InvalidInputError, also for a model that no provider has, ConflictError for a file that
    cannot be read, UnavailableError.
    """
    owner = owner_to_write(access, user_id)
    require_models(values, config_of(owner))
    return config_change(owner, values, author=access.actor, clock=clock)


def require_models(values: Mapping[str, Any], present: MemoryConfig) -> None:
    """Raise InvalidInputError for a chosen model that none of the providers has.

    What is chosen already may stay, and any name is taken while a provider does not say which models it has.
    """
    now = {camel_name(name): value for name, value in asdict(present).items()}
    chosen = {name: value for name, value in values.items() if name.endswith("Model") and value != now[name]}
    if not chosen:
        return
    listing = models_listing()
    known = {model.name for model in listing.models}
    if not listing.providers or not all(provider.list.names for provider in listing.providers):
        return
    for name, value in chosen.items():
        if value not in known:
            detail = (
                f"No provider of the hub has the model {value[:100]}. GET /api/llm/models lists those that there are."
            )
            raise InvalidInputError(detail, attr=name, code="model_not_available")


def memory_command(
    *, access: Access, user_id: str | None, command: Command, clock: Clock = SYSTEM_CLOCK
) -> CommandResult:
    """Carry out a file command of Anthropic's memory tool; what the model can mend is in the answer.

    Raises ForbiddenError, NotFoundError outside the bound, InvalidInputError when no user is named, UnavailableError.
    """
    if command.is_write and not access.allows(Permission.WRITE):
        raise ForbiddenError(f"This key may only read: {command.command} needs write permission.", attr="command")
    owner = (owner_to_write if command.is_write else owner_to_read)(access, user_id)
    if command.is_remembering:
        require_saving(access, owner, clock=clock)
    result = Notes(owner, access.actor, clock).run(command)
    if command.is_write:
        refresh_after_write(owner)
    return result


def compaction_create(*, access: Access, user_id: str | None, clock: Clock = SYSTEM_CLOCK) -> Compaction:
    """Have a model draft a shorter MEMORY.md, in the background; one that is under way is returned instead.

    It is asked for explicitly, so the setting that turns automatic compaction on is not needed. Raises ForbiddenError,
    InvalidInputError, UserLockedError.
    """
    return compaction_request(owner_to_write(access, user_id), actor=access.actor, clock=clock)


def compaction_draft(*, uuid: UUID) -> None:
    """Draft a compaction that was asked for, and apply it where the user's settings say so. Safe to repeat."""
    row = compaction_run(uuid)
    if row is not None and row.state == CompactionState.APPLIED:
        refresh_after_write(row.user_id)


def compaction_apply(*, access: Access, uuid: UUID, clock: Clock = SYSTEM_CLOCK) -> Compaction:
    """Make a draft the text of MEMORY.md. Raises NotFoundError outside the bound, ForbiddenError, ConflictError."""
    applied = decide.compaction_apply(compaction_to_write(access, uuid), actor=access.actor, clock=clock)
    refresh_after_write(applied.user_id)
    return applied


def compaction_discard(*, access: Access, uuid: UUID, clock: Clock = SYSTEM_CLOCK) -> Compaction:
    """Give up a draft. Raises NotFoundError outside the bound, ForbiddenError, ConflictError."""
    return decide.compaction_discard(compaction_to_write(access, uuid), actor=access.actor, clock=clock)


def compaction_undo(*, access: Access, uuid: UUID, clock: Clock = SYSTEM_CLOCK) -> Compaction:
    """Bring back the text before a draft. Raises NotFoundError outside the bound, ForbiddenError, ConflictError."""
    undone = decide.compaction_undo(compaction_to_write(access, uuid), actor=access.actor, clock=clock)
    refresh_after_write(undone.user_id)
    return undone


def compaction_to_write(access: Access, uuid: UUID) -> UUID:
    """Return the id of a compaction that the caller may change. Raises NotFoundError, ForbiddenError."""
    owner_to_write(access, compaction_get(access, uuid).user_id)
    return uuid
