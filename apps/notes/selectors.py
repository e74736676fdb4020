"""The door of `notes` for reads."""

from uuid import UUID

from apps.core.domain.clock import SYSTEM_CLOCK, Clock
from apps.core.domain.errors import MemoryHubError, NotFoundError
from apps.core.domain.scope import Access
from apps.notes.compaction.reads import CompactionDetail, compaction_detail, compaction_get, compaction_list
from apps.notes.conversations.reads import (
    conversation_get,
    conversation_list,
    latest_messages,
    new_message_counts,
    run_facts,
    run_get,
    run_list,
)
from apps.notes.conversations.status import AutoMemoryStatus, auto_memory_status
from apps.notes.domain.places import DAILY_FOLDER, NotePlace
from apps.notes.domain.search import NoteHit, NoteSearch
from apps.notes.files import changes
from apps.notes.files.changes import Note
from apps.notes.files.config import ReadConfig, config_of, config_read
from apps.notes.files.folder import UNREADABLE
from apps.notes.files.owner import folder_of, owner_to_read
from apps.notes.files.versions import text_of
from apps.notes.index.handles import index_of
from apps.notes.index.places import place_of
from apps.notes.index.search import search
from apps.notes.index.status import NoteIndexStatus, status_of
from apps.notes.metrics import SEARCH_SECONDS, SEARCHES
from apps.notes.models import Compaction, Conversation, ExtractedFact, ExtractionRun, NoteVersion
from apps.notes.querysets import NoteVersionQuerySet

__all__ = [
    "AutoMemoryStatus",
    "Compaction",
    "CompactionDetail",
    "Conversation",
    "ExtractedFact",
    "ExtractionRun",
    "Note",
    "NoteHit",
    "NoteIndexStatus",
    "NoteSearch",
    "NoteVersion",
    "auto_memory_status",
    "compaction_detail",
    "compaction_get",
    "compaction_list",
    "config_get",
    "config_of",
    "conversation_get",
    "conversation_list",
    "daily_list",
    "index_status",
    "latest_messages",
    "new_message_counts",
    "note_get",
    "note_versions",
    "notes_search",
    "run_facts",
    "run_get",
    "run_list",
    "version_get",
    "version_text",
]


def note_get(access: Access, user_id: str | None, place: NotePlace, *, clock: Clock = SYSTEM_CLOCK) -> Note:
    """Return a note as it is now. Raises NotFoundError outside the bound, ConflictError, UnavailableError."""
    return changes.note_read(owner_to_read(access, user_id), place, clock=clock)


def daily_list(access: Access, user_id: str | None) -> list[NotePlace]:
    """List the daily logs of a user, the latest day first."""
    folder = folder_of(owner_to_read(access, user_id))
    days = [place for place in folder.places() if place.segments[0] == DAILY_FOLDER and place.day is not None]
    return sorted(days, reverse=True)


def note_versions(access: Access, user_id: str | None, place: NotePlace) -> NoteVersionQuerySet:
    """Return the versions of a note, after a look at the disk; also where its file cannot be read."""
    owner = owner_to_read(access, user_id)
    try:
        changes.note_read(owner, place)
    except MemoryHubError as error:
        if error.code not in UNREADABLE:
            raise
    return NoteVersion.objects.all().visible_to(access).of(owner, place).without_texts()


def version_get(access: Access, uuid: UUID) -> NoteVersion:
    """Return a version inside the bound of the caller; a key for a part of a person has none. Raises NotFoundError."""
    is_whole = access.bound.household_id is None and access.bound.persona_id is None
    version = NoteVersion.objects.all().visible_to(access).filter(uuid=uuid).first() if is_whole else None
    if version is None:
        raise NotFoundError("There is no such version.")
    return version


def version_text(version: NoteVersion) -> bytes:
    """Return the whole text of a version."""
    return text_of(version)


def config_get(access: Access, user_id: str | None, *, clock: Clock = SYSTEM_CLOCK) -> ReadConfig:
    """Return the settings of a user, with what is wrong with their file. Raises NotFoundError outside the bound."""
    return config_read(owner_to_read(access, user_id), clock=clock)


def notes_search(access: Access, user_id: str | None, query: str, *, limit: int = 10) -> NoteSearch:
    """Return what the notes of a user say about a query, as the files are now; the best hit first.

    Raises NotFoundError outside the bound, ForbiddenError, UnavailableError.
    """
    owner = owner_to_read(access, user_id)
    with SEARCH_SECONDS.time():
        found = search(index_of(place_of(owner)), query, limit)
    SEARCHES.labels(found.mode.value).inc()
    return found


def index_status(access: Access, user_id: str | None) -> NoteIndexStatus:
    """Return what the search index of a user's notes has. Raises NotFoundError outside the bound, ForbiddenError."""
    return status_of(index_of(place_of(owner_to_read(access, user_id))))
