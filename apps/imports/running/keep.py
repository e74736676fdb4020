"""Keep what is found, or say what would be kept: memories, events and notes, each by the services that write them.

What is known already is left as it is: to bring it is not to say it again. So a look and an import count alike.
"""

import json
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings

from apps.core.domain.clock import SYSTEM_CLOCK, Clock
from apps.core.domain.errors import MemoryHubError, UnavailableError
from apps.core.domain.json_shape import json_excess
from apps.core.domain.scope import Access, Scope
from apps.episodic.domain.event import EventDraft
from apps.episodic.services import RecordAction, events_known, events_record
from apps.imports.domain.counts import Counts
from apps.imports.domain.found import (
    Found,
    FoundEvent,
    FoundMemory,
    FoundNote,
    Reason,
    Refused,
    Target,
)
from apps.notes.selectors import NoteVersion
from apps.notes.services import note_bring
from apps.retrieval.domain.content import content_hash, normalise_content
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.services import SaveResult, memories_stored, memory_save_many

MEMORIES_AT_ONCE, EVENTS_AT_ONCE = 100, 500
EVENT_TYPE, EVENT_SOURCE = "message", "conversation"
# A look remembers so many items that it has seen, so that what a file says twice is counted once.
MAX_SEEN = 200_000
# By the codes of errors that services raise.
REASONS = {
    "max_length": Reason.TOO_LONG,
    "blank": Reason.NO_WORDS,
    "in_the_future": Reason.IN_THE_FUTURE,
    "saving_paused": Reason.PAUSED,
    "too_large": Reason.TOO_LARGE,
    "note_exists": Reason.NOTE_EXISTS,
    "path": Reason.PATH,
    "too_deep": Reason.PATH,
}
# What the rules decided about a memory: whether it was kept, was known in other words, or lost.
KEPT = frozenset({"inserted", "superseded_existing"})
LOST = frozenset({"rejected"})


@dataclass
class Keeper:
    """Takes what is found, and keeps it in batches. own: the actor of this import; others: of the person's others.

    is_dry: only count. is_replay: what this import wrote before may not be counted yet, since its process was killed.
    counts: of what has been kept, or would be.
    """

    access: Access
    user_id: str
    folder: str
    counts: Counts
    others: Collection[str] = ()
    is_dry: bool = False
    is_replay: bool = False
    clock: Clock = SYSTEM_CLOCK
    memories: list[FoundMemory] = field(default_factory=list)
    events: list[FoundEvent] = field(default_factory=list)
    seen: set[int] = field(default_factory=set)

    @property
    def own(self) -> str:
        """Return the author of what this import writes."""
        return self.access.actor

    @property
    def is_full(self) -> bool:
        """Return whether a batch is large enough to be kept."""
        return len(self.memories) >= MEMORIES_AT_ONCE or len(self.events) >= EVENTS_AT_ONCE

    def add(self, found: Iterable[Found]) -> None:
        """Take what was found together. Raises UnavailableError."""
        for one in found:
            if isinstance(one, Refused):
                self.counts.refuse(one.place, one.reason)
            elif isinstance(one, FoundNote):
                self.keep_note(one)
            elif isinstance(one, FoundMemory):
                self.memories.append(one)
            else:
                self.events.append(one)

    def flush(self) -> None:
        """Keep what waits. Raises UnavailableError."""
        memories, self.memories = self.memories, []
        events, self.events = self.events, []
        for start in range(0, len(memories), MEMORIES_AT_ONCE):
            self.keep_memories(memories[start : start + MEMORIES_AT_ONCE])
        for start in range(0, len(events), EVENTS_AT_ONCE):
            self.keep_events(events[start : start + EVENTS_AT_ONCE])

    def refuse(self, place: str, error: MemoryHubError) -> None:
        """Count what a service refuses."""
        self.counts.refuse(place, REASONS.get(error.code, Reason.OTHER))

    def is_again(self, *parts: object) -> bool:
        """Return whether a look has come to the same before, as far as it remembers."""
        key = hash(parts)
        if not self.is_dry or key in self.seen:
            return self.is_dry
        if len(self.seen) < MAX_SEEN:
            self.seen.add(key)
        return False

    def keep_memories(self, found: list[FoundMemory]) -> None:
        """Save memories that are not known, in one transaction."""
        drafts: list[tuple[str, MemoryDraft]] = []
        for one in found:
            if reason := unfit(one.content):
                self.counts.refuse(one.place, reason)
            else:
                drafts.append((one.place, draft_of(one, self.user_id)))
        actors = [self.own, *self.others]
        known = memories_stored(access=self.access, drafts=[draft for _, draft in drafts], actors=actors)
        new: list[tuple[str, MemoryDraft]] = []
        for (place, draft), writer in zip(drafts, known, strict=True):
            if isinstance(writer, MemoryHubError):
                self.refuse(place, writer)
            elif writer is None and not self.is_again(content_hash(draft.content), draft.occurred_at):
                new.append((place, draft))
            elif writer == self.own and self.is_replay:
                self.counts.keep(Target.MEMORIES)
            else:
                self.counts.know(Target.MEMORIES)
        if self.is_dry:
            self.counts.kept[Target.MEMORIES.value] += len(new)
        elif new:
            saved = memory_save_many(access=self.access, drafts=[draft for _, draft in new], clock=self.clock)
            for (place, _), outcome in zip(new, saved, strict=True):
                self.count_saved(place, outcome)

    def count_saved(self, place: str, outcome: SaveResult | MemoryHubError) -> None:
        """Count what saving a memory did."""
        if isinstance(outcome, MemoryHubError):
            self.refuse(place, outcome)
        elif outcome.action in LOST:
            self.counts.refuse(place, Reason.RULES)
        elif outcome.action in KEPT:
            self.counts.keep(Target.MEMORIES)
        else:
            self.counts.know(Target.MEMORIES)

    def keep_events(self, found: list[FoundEvent]) -> None:
        """Record events, each once."""
        drafts = [event_of(one, self.user_id) for one in found]
        if self.is_dry:
            known = events_known(access=self.access, drafts=drafts, clock=self.clock)
            for one, record in zip(found, known, strict=True):
                if isinstance(record, MemoryHubError):
                    self.refuse(one.place, record)
                elif record is None and not self.is_again(one.timestamp, normalise_content(one.content)):
                    self.counts.keep(Target.EVENTS)
                else:
                    self.counts.know(Target.EVENTS)
            return
        for one, outcome in zip(found, events_record(access=self.access, drafts=drafts, clock=self.clock), strict=True):
            if isinstance(outcome, MemoryHubError):
                self.refuse(one.place, outcome)
            elif outcome.action is RecordAction.RECORDED or (self.is_replay and outcome.record.actor == self.own):
                self.counts.keep(Target.EVENTS)
            else:
                self.counts.know(Target.EVENTS)

    def keep_note(self, found: FoundNote) -> None:
        """Write a note where there is none of its name."""
        path = f"{self.folder}/{found.path}"
        try:
            is_new = note_bring(
                access=self.access,
                user_id=self.user_id,
                path=path,
                text=found.text,
                written_at=found.written_at,
                is_dry=self.is_dry,
                clock=self.clock,
            )
        except UnavailableError:
            raise
        except MemoryHubError as error:
            self.refuse(found.place, error)
            return
        mine = NoteVersion.objects.filter(user_id=self.user_id, place=path, author=self.own)
        if (is_new and not self.is_again(found.path)) or (self.is_replay and not is_new and mine.exists()):
            self.counts.keep(Target.NOTES)
        else:
            self.counts.know(Target.NOTES)


def unfit(content: str) -> Reason | None:
    """Return why a text can be no memory."""
    if not normalise_content(content):
        return Reason.NO_WORDS
    return Reason.TOO_LONG if len(content) > settings.MEMORYHUB.max_content_chars else None


def draft_of(found: FoundMemory, user_id: str) -> MemoryDraft:
    """Return the memory that is to be saved."""
    return MemoryDraft(
        content=found.content,
        scope=Scope(user_id),
        source=found.source,
        origin=found.origin,
        occurred_at=found.occurred_at,
        type=found.type,
        project=found.project,
        keywords=found.keywords,
        context=found.context,
        metadata=fit_metadata(found.metadata),
    )


def fit_metadata(metadata: Any) -> dict[str, Any]:
    """Return metadata that the database can hold; of what is too large only where it came from."""
    text = json.dumps(dict(metadata), ensure_ascii=False, allow_nan=False, default=str).replace("\\u0000", "")
    cleaned: dict[str, Any] = json.loads(text.encode("utf-8", "replace"))
    if json_excess(cleaned):
        about = cleaned.get("import", {})
        return {"import": {name: about[name] for name in ("import", "path", "conversation", "id") if name in about}}
    return cleaned


def event_of(found: FoundEvent, user_id: str) -> EventDraft:
    """Return the event that is to be recorded."""
    return EventDraft(
        timestamp=found.timestamp,
        event_type=EVENT_TYPE,
        content=found.content,
        scope=Scope(user_id),
        source=EVENT_SOURCE,
        metadata=fit_metadata(found.metadata),
        origin=found.origin,
    )
