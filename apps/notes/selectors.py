"""The door of `notes` for reads."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, timedelta
from uuid import UUID
from zoneinfo import ZoneInfo

from django.conf import settings

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.errors import MemoryHubError, NotFoundError, UnavailableError
from apps.core.domain.origin import WriteOrigin
from apps.core.domain.randomness import RNG, SYSTEM_RNG
from apps.core.domain.scope import Access, Scope
from apps.core.file_roots import Root
from apps.given.domain.given import AnswerKind, Item, ItemKind, Place
from apps.given.services import given_note
from apps.notes.compaction.decide import compaction_detail, compaction_get, compaction_list
from apps.notes.conversations.reads import (
    auto_memory_status,
    conversation_get,
    conversation_list,
    latest_messages,
    new_message_counts,
    run_facts,
    run_get,
    run_list,
)
from apps.notes.domain.chunks import Chunk, chunk_note
from apps.notes.domain.places import DAILY_FOLDER, MAIN, USERS_FOLDER, NotePlace, daily_place, has_versions
from apps.notes.domain.prompt import Known, Prompt, compose
from apps.notes.domain.prompt_main import Passage
from apps.notes.domain.search import NoteSearch
from apps.notes.files import changes
from apps.notes.files.config import ReadConfig, config_of, config_read
from apps.notes.files.desk import Note
from apps.notes.files.examine import NotesExamination, notes_examine
from apps.notes.files.folder import MAX_BYTES as MAX_NOTE_BYTES
from apps.notes.files.folder import UNREADABLE
from apps.notes.files.kept import notes_kept
from apps.notes.files.owner import folder_of, owner_to_read
from apps.notes.files.versions import text_of
from apps.notes.files.wishes import standing_wishes, wish_chunks
from apps.notes.index.disk import place_of
from apps.notes.index.handles import index_of
from apps.notes.index.search import search
from apps.notes.index.upkeep import NoteIndexStatus, status_of
from apps.notes.metrics import SEARCH_SECONDS, SEARCHES
from apps.notes.models import Compaction, Conversation, ExtractedFact, NoteVersion
from apps.notes.querysets import NoteVersionQuerySet
from apps.retrieval.domain.query import SearchQuery
from apps.semantic.services import memory_search

__all__ = [
    "MAX_NOTE_BYTES",
    "Compaction",
    "ComposedPrompt",
    "Conversation",
    "Note",
    "NoteVersion",
    "NotesExamination",
    "auto_memory_status",
    "compaction_detail",
    "compaction_get",
    "compaction_list",
    "config_get",
    "config_of",
    "conversation_get",
    "conversation_list",
    "daily_list",
    "fact_of_memory",
    "index_status",
    "latest_messages",
    "main_chunks",
    "new_message_counts",
    "note_counts",
    "note_get",
    "note_list",
    "note_versions",
    "note_versions_by",
    "notes_examine",
    "notes_kept",
    "notes_search",
    "prompt_compose",
    "run_facts",
    "run_get",
    "run_list",
    "version_get",
    "version_text",
]

# So many hits are read for those that are not in MEMORY.md.
_MAX_SEARCHED = 50


@dataclass(frozen=True)
class ComposedPrompt:
    """A prompt, and how the notes were searched for it. mode: `none` where they were not. reason: why, else empty."""

    prompt: Prompt
    mode: str = "none"
    reason: str = ""


@dataclass(frozen=True)
class MainChunks:
    """MEMORY.md in parts. wishes: what the person has asked of assistants. parts: all of it, in its order."""

    owner: str
    wishes: Sequence[Chunk]
    parts: Sequence[Chunk]


def note_get(access: Access, user_id: str | None, place: NotePlace, *, clock: Clock = SYSTEM_CLOCK) -> Note:
    """Return a note as it is now. Raises NotFoundError outside the bound, ConflictError, UnavailableError."""
    return changes.note_read(owner_to_read(access, user_id), place, clock=clock)


def note_counts(access: Access, users: Iterable[str]) -> dict[str, int]:
    """Return how many notes each of some users has, as recorded; none where the caller sees only a part of a person."""
    if access.bound.household_id is not None or access.bound.persona_id is not None:
        return {}
    versions = NoteVersion.objects.all().visible_to(access).filter(user_id__in=list(users)).current()
    last = versions.order_by("user_id", "place", "-number").distinct("user_id", "place")
    return Counter(
        user for user, kind, size in last.values_list("user_id", "kind", "size") if kind != "delete" and size
    )


def note_list(access: Access, user_id: str | None) -> list[NotePlace]:
    """List the notes of a user by their paths. Raises NotFoundError outside the bound."""
    return sorted(folder_of(owner_to_read(access, user_id)).places())


def daily_list(access: Access, user_id: str | None) -> list[NotePlace]:
    """List the daily logs of a user, the latest day first."""
    folder = folder_of(owner_to_read(access, user_id))
    days = [place for place in folder.places() if place.segments[0] == DAILY_FOLDER and place.day is not None]
    return sorted(days, reverse=True)


def note_versions(access: Access, user_id: str | None, place: NotePlace) -> NoteVersionQuerySet:
    """Return the versions of a note, after a look at the disk; also where its file cannot be read.

    Raises NotFoundError for a file that is no note: it is the person's own, and its text is not recorded.
    """
    owner = owner_to_read(access, user_id)
    if not has_versions(place):
        raise NotFoundError("There is no such note.")
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
    if version is None or not has_versions(changes.place_of(version)):
        raise NotFoundError("There is no such version.")
    return version


def version_text(version: NoteVersion) -> bytes:
    """Return the whole text of a version."""
    return text_of(version)


def main_chunks(access: Access, user_id: str | None) -> MainChunks:
    """Return the parts of MEMORY.md as it is on the disk, and which of them the person has asked of assistants.

    What was written to it lately is recorded by who looks at it next, not here. Raises NotFoundError outside the bound,
    ForbiddenError, ConflictError and UnavailableError.
    """
    owner = owner_to_read(access, user_id)
    text = folder_of(owner).read(MAIN)
    return MainChunks(owner, wish_chunks(owner, text), chunk_note(text)) if text else MainChunks(owner, (), ())


def config_get(access: Access, user_id: str | None, *, clock: Clock = SYSTEM_CLOCK) -> ReadConfig:
    """Return the settings of a user, with what is wrong with their file. Raises NotFoundError outside the bound."""
    return config_read(owner_to_read(access, user_id), clock=clock)


def notes_search(
    access: Access, user_id: str | None, query: str, *, limit: int = 10, is_answer: bool = False
) -> NoteSearch:
    """Return what the notes of a user say about a query, as the files are now; the best hit first.

    What has no word of the query and is too far away by its vector is left out. is_answer: the caller gets all of it,
    which is noted. Raises NotFoundError outside the bound,
    ForbiddenError, UnavailableError.
    """
    owner = owner_to_read(access, user_id)
    with SEARCH_SECONDS.time():
        found = search(index_of(place_of(owner)), query, limit)
    SEARCHES.labels(found.mode.value).inc()
    if is_answer:
        lines = [f"{hit.path}#L{hit.first_line}-L{hit.last_line}" for hit in found.hits]
        given_note(access, AnswerKind.NOTES, [Item(Place(owner), ItemKind.NOTE, line) for line in lines])
    return found


def fact_of_memory(access: Access, memory: UUID) -> ExtractedFact | None:
    """Return the fact that became a memory, with its message and its run; None for a memory of another origin."""
    facts = ExtractedFact.objects.all().visible_to(access).filter(memory=memory)
    return facts.select_related("message", "run").order_by("pk").first()


def index_status(access: Access, user_id: str | None) -> NoteIndexStatus:
    """Return what the search index of a user's notes has. Raises NotFoundError outside the bound, ForbiddenError."""
    return status_of(index_of(place_of(owner_to_read(access, user_id))))


def prompt_compose(
    access: Access,
    user_id: str | None,
    message: str,
    *,
    budget: int,
    limit: int = 10,
    include_daily: bool = True,
    include_memories: bool = False,
    zone: ZoneInfo | None = None,
    rng: RNG = SYSTEM_RNG,
    clock: Clock = SYSTEM_CLOCK,
) -> ComposedPrompt:
    """Compose what a model is shown of a user's notes, and of memories, in at most `budget` tokens (spec 001, prompt).

    zone: where the person is, for what is today; by default UTC. What cannot be searched now is left out, and the
    reason says so. Raises NotFoundError outside the bound, ForbiddenError, ConflictError and UnavailableError for notes
    that cannot be read.
    """
    owner = owner_to_read(access, user_id)
    main = changes.note_read(owner, MAIN, clock=clock).text or b""
    hits, mode, reason = (
        passages_of(access, owner, message, limit, include_daily) if message and limit else ([], "none", "")
    )
    memories: list[Passage] = []
    if include_memories and message and limit:
        try:
            asked_at = utcnow(clock).astimezone(zone or UTC)
            query = SearchQuery(
                scope=Scope(user_id=owner), query=message, top_k=limit, in_force=True, asked_at=asked_at
            )
            found = memory_search(access, query).found
            for each in found:
                mark = "(Replaced by the one before this.) " if each.replaced else ""
                origin = WriteOrigin(each.memory.origin)
                memories.append(Passage(mark + each.memory.content, memory=str(each.memory.uuid), origin=origin))
        except UnavailableError as error:
            reason = reason or error.detail
    today = utcnow(clock).astimezone(zone or UTC).date()
    days = days_until(owner, today, clock) if include_daily else []
    known = Known(hits, memories, standing_wishes(owner, main), days)
    prompt = compose(main.decode(errors="replace"), known, budget, rng, today=today)
    return ComposedPrompt(prompt, mode, reason)


def days_until(owner: str, today: date, clock: Clock) -> list[Passage]:
    """Return the logs of today and yesterday that can be read and have any text."""
    found: list[Passage] = []
    for day in (today, today - timedelta(days=1)):
        place = daily_place(day)
        try:
            text = (changes.note_read(owner, place, clock=clock).text or b"").decode(errors="replace").rstrip()
        except MemoryHubError as error:
            if error.code not in UNREADABLE:
                raise
            continue
        if text:
            found.append(Passage(text, str(place), 1, text.count("\n") + 1))
    return found


def passages_of(
    access: Access, owner: str, message: str, limit: int, include_daily: bool
) -> tuple[list[Passage], str, str]:
    """Return what a search of the notes finds, how it was searched, and why not otherwise."""
    try:
        found = notes_search(access, owner, message, limit=_MAX_SEARCHED)
    except UnavailableError as error:
        return [], "none", error.detail
    is_daily = f"{DAILY_FOLDER}/"
    hits = [hit for hit in found.hits if include_daily or not hit.path.startswith(is_daily)]
    # What is in MEMORY.md says which of its parts matter, and does not count.
    others = [hit for hit in hits if hit.path != str(MAIN)][:limit]
    passages = [
        Passage(hit.text, hit.path, hit.first_line, hit.last_line, hit.heading)
        for hit in hits
        if hit.path == str(MAIN) or hit in others
    ]
    return passages, str(found.mode), found.reason


def note_versions_by(access: Access, actors: Collection[str]) -> int:
    """Count how often these actors wrote into the notes inside the bound of the caller."""
    return NoteVersion.objects.all().visible_to(access).filter(author__in=actors).count()


def notes_root() -> Root:
    """Return the folder of notes: the part of it that no user's erasure empties."""
    return Root("notes", settings.NOTES_DIR / USERS_FOLDER, NoteVersion.objects.exists)
