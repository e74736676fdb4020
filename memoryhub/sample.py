"""The sample household: what a new hub can show before anything was saved in it (fixtures/sample).

Memories are saved one by one at the time of their day, so that rules decide and receipts are written as for anybody.
Days count back from the day of the first load. Each memory keeps that day and its own key in its metadata: a later load
finds there what is stored already, and adds what is missing with the same times.
"""

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, DeterministicClock, utcnow
from apps.core.domain.errors import ConflictError, MemoryHubError, UnavailableError
from apps.core.domain.scope import Scope, system_access
from apps.core.models import Membership
from apps.episodic.domain.event import DEFAULT_IMPORTANCE, DEFAULT_SOURCE, EventDraft
from apps.episodic.services import RecordAction, events_purge, events_record
from apps.semantic.domain.confidence import DecayPolicy
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.selectors import Memory, MemoryStatus, memory_list
from apps.semantic.services import (
    SaveResult,
    Winner,
    conflict_accept,
    conflict_override,
    conflict_revert,
    memories_purge,
    memory_reinforce,
    memory_save,
    store_status,
)

FILES = Path(settings.BASE_DIR) / "fixtures" / "sample"
HOUSEHOLD = "sample-household"
PREFIX = "sample-"
USERS = tuple(f"{PREFIX}{name}" for name in ("ida", "mara", "oskar", "tomas"))
METADATA = "memoryhub_sample"
REVIEW_AFTER = timedelta(hours=3)
ACCESS = system_access("sample", makes_ties=True)

Advance = Callable[[int], None]


@dataclass
class LoadReport:
    """What a load added. day: from which the days of the sample count back.

    actions: what saving did -> how many memories. noticed: of those inserted, how many disagree with another one.
    """

    day: date
    actions: Counter[str] = field(default_factory=Counter)
    noticed: int = 0
    events: int = 0

    @property
    def memories(self) -> int:
        """Return the number of memories that were saved."""
        return self.actions.total()

    @property
    def decided(self) -> int:
        """Return the number of conflicts that rules decided."""
        return self.memories - self.actions["inserted"]

    def add(self, result: SaveResult) -> None:
        """Count one save."""
        self.actions[result.action] += 1
        self.noticed += result.action == "inserted" and result.conflict is not None


@dataclass(frozen=True)
class UnloadReport:
    """What an unload removed."""

    memories: int
    events: int


def read_sample(name: str) -> list[dict[str, Any]]:
    """Return the lines of a file of the sample, in the order in which they are loaded."""
    return [json.loads(line) for line in (FILES / f"{name}.ndjson").read_text("utf-8").splitlines()]


def load_sample(*, advance: Advance, clock: Clock = SYSTEM_CLOCK) -> LoadReport:
    """Save the memories and events of the sample that are not stored yet.

    advance: is called with 1 after each memory. Raises MemoryHubError; what was saved until then stays, and the next
    load continues from there. Raises ConflictError when these users have memories of another origin only.
    """
    require_database()
    known = stored_keys()
    if not known and has_memories(USERS):
        raise ConflictError(
            f"{', '.join(USERS)} already have memories that are not from the sample. Nothing was added."
        )
    report = LoadReport(day=min(known.values(), default=utcnow(clock).date()))
    for line in read_sample("memories"):
        if line["key"] not in known:
            report.add(save_line(line, report.day))
        advance(1)
    report.events = record_events(read_sample("events"), report.day)
    return report


def unload_sample() -> UnloadReport:
    """Remove all memories and events of the people of the sample for good, and nothing else.

    What else was saved for them goes, too. Without a stored memory of the sample nothing is removed. Safe to repeat:
    events go before the memories of their user. Raises MemoryHubError, for example while the timeline is maintained.
    """
    require_database()
    memories = events = 0
    if not stored_keys():
        return UnloadReport(memories, events)
    for user in USERS:
        scope = Scope(user)
        # Also so that an event that has not reached the bridge yet makes no memory after they are gone.
        events += events_purge(access=ACCESS, scope=scope).events
        if has_memories([user]):
            memories += memories_purge(access=ACCESS, scope=scope)
        Membership.objects.filter(user_id=user).delete()
    return UnloadReport(memories, events)


def require_database() -> None:
    """Raise UnavailableError when the database does not answer or has no tables yet."""
    status = store_status(ACCESS)
    if not status.healthy:
        hint = "Start the hub with `manage.py up`, or prepare its database with `manage.py prepare`."
        raise UnavailableError(f"{status.error} {hint}")


def stored_memories(users: Collection[str]) -> Iterator[Memory]:
    """Yield the memories of users, whatever their status."""
    for status in MemoryStatus.values:
        yield from memory_list(ACCESS, Scope(), {"status": status, "user_id__in": users})


def has_memories(users: Collection[str]) -> bool:
    """Return whether users have any memory, whatever its status."""
    return next(stored_memories(users), None) is not None


def stored_keys() -> dict[str, date]:
    """Return the keys of the sample's stored memories, each with the day from which its days count back."""
    marks = [memory.metadata.get(METADATA) for memory in stored_memories(USERS)]
    return {mark["key"]: date.fromisoformat(mark["loaded_on"]) for mark in marks if isinstance(mark, dict)}


@transaction.atomic
def save_line(line: Mapping[str, Any], day: date) -> SaveResult:
    """Save one memory, and do at once what its line says a person or an agent did with it later."""
    moment = moment_of(line, day)
    result = memory_save(access=ACCESS, draft=memory_draft(line, day), clock=clock_at(moment))
    if "reinforced_days_ago" in line:
        later = clock_at(moment + timedelta(days=line["days_ago"] - line["reinforced_days_ago"]))
        memory_reinforce(access=ACCESS, uuid=result.memory.uuid, clock=later)
    if "review" in line and result.conflict is not None:
        review_decision(result.conflict, line["review"], clock_at(moment + REVIEW_AFTER))
    return result


def review_decision(conflict: UUID, review: str, clock: Clock) -> None:
    """Accept or revert a decision, or override it: `accept`, `revert`, `override:both`.

    Where the rules were edited the decision may be one that cannot be reviewed so; then it stays open.
    """
    action, _, winner = review.partition(":")
    with suppress(ConflictError):
        if action == "accept":
            conflict_accept(access=ACCESS, uuid=conflict, clock=clock)
        elif action == "revert":
            conflict_revert(access=ACCESS, uuid=conflict, clock=clock)
        else:
            conflict_override(access=ACCESS, uuid=conflict, winner=Winner(winner), clock=clock)


def memory_draft(line: Mapping[str, Any], day: date) -> MemoryDraft:
    """Return the draft of a line."""
    same_names = ("content", "type", "agent", "personality", "project", "importance", "confidence", "source", "context")
    return MemoryDraft(
        **{name: line[name] for name in same_names if name in line},
        scope=scope_of(line),
        is_global=line.get("global", False),
        decay_policy=DecayPolicy(line.get("decay_policy", DecayPolicy.STABLE)),
        keywords=tuple(line.get("keywords", ())),
        occurred_at=moment_of(line, day),
        session_id=f"{PREFIX}{line['session']}" if "session" in line else "",
        metadata={METADATA: {"key": line["key"], "loaded_on": day.isoformat()}},
    )


def record_events(lines: Collection[Mapping[str, Any]], day: date) -> int:
    """Record events in one transaction; return how many of them are new. Raises MemoryHubError."""
    drafts = [
        EventDraft(
            timestamp=moment_of(line, day),
            event_type=line["type"],
            content=line["content"],
            scope=scope_of(line),
            importance=line.get("importance", DEFAULT_IMPORTANCE),
            source=line.get("source", DEFAULT_SOURCE),
            metadata=line.get("metadata", {}),
        )
        for line in lines
    ]
    new = 0
    for outcome in events_record(access=ACCESS, drafts=drafts):
        if isinstance(outcome, MemoryHubError):
            raise outcome
        new += outcome.action is RecordAction.RECORDED
    return new


def scope_of(line: Mapping[str, Any]) -> Scope:
    """Return whose a line is: always a user with the prefix of the sample."""
    persona = f"{PREFIX}{line['persona']}" if "persona" in line else None
    return Scope(PREFIX + line["user"], HOUSEHOLD, persona)


def moment_of(line: Mapping[str, Any], day: date) -> datetime:
    """Return when a line happened, in UTC."""
    return datetime.combine(day - timedelta(days=line["days_ago"]), time.fromisoformat(f"{line['time']}+00:00"))


def clock_at(moment: datetime) -> Clock:
    """Return a clock that stays at a moment."""
    return DeterministicClock(int(moment.timestamp() * 1000))
