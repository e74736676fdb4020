"""A hub that is full of hostile texts: what callers send, and what workers leave in the tables.

`fill` writes a text into every column of text of a model, so that one that is added later is filled as well.
"""

import zlib
from collections.abc import Callable
from decimal import Decimal
from typing import Any
from uuid import uuid4

from django.conf import settings
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group, User
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django_q.models import Failure, Schedule

from apps.accounts.models import Account
from apps.audit.models import AuditEntry
from apps.core.domain.scope import Permission, Scope
from apps.core.models import ApiKey, DisplayName, HubProcess
from apps.episodic.models import RetentionPolicy, Segment, TimelineWarning
from apps.events.models import Delivery, Event, JobRun
from apps.given.models import GivenAnswer
from apps.imports.models import Import
from apps.llm.models import Breaker, EmbeddingSpace, ModelCall, Price, ToolRunDay
from apps.notes.models import (
    Compaction,
    Conversation,
    ConversationMessage,
    ExtractedFact,
    ExtractionRun,
    NoteVersion,
)
from apps.notes.services import runs_continue
from apps.people.models import Erasure
from apps.rules.models import MergeRule, MergeRuleVersion
from apps.semantic.conflicts.receipts import record_as_json
from apps.semantic.models import (
    BridgeAudit,
    Conflict,
    Consolidation,
    Ingestion,
    Memory,
    MemoryRevision,
    RecallCheck,
    RoutingPolicy,
)
from apps.semantic.store.rows import record_from_memory
from apps.store.models import StoreItem
from apps.sync.models import (
    KnowledgeFile,
    KnowledgeItem,
    KnowledgeSource,
    PointerConflict,
    SyncChange,
    SyncRun,
    SyncState,
)
from tests.api import api_for
from tests.hostile.contents import Hostile, contents_of, long_line
from tests.hostile.doors import NOW, nested, over_doors

# Not words of people: hashes, addresses of code, and names that settings must have.
NOT_TEXT = {
    "digest",
    "previous_digest",
    "sha256",
    "base_sha256",
    "draft_sha256",
    "hash",
    "content_hash",
    "checksum",
    "files_checksum",
    "read_digest",
    "blob",
    "currency",
    "file_name",
    "password",
    "email",
    "hook",
    "func",
    "intended_date_kwarg",
    "cluster",
    "cron",
    "args",
    "kwargs",
    "last_commit",
    "files_commit",
    "managed_by",
    "about_state",
    "winner",
    "why",
    "cache_key",
    "task",
}
Given = Callable[[int, Hostile], dict[str, Any]]


def value_of(field: Any, number: int, one: Hostile, *, choice: bool = True) -> Any:
    """What a column is filled with; None to leave it as it would be."""
    if field.choices:
        return None if field.has_default() or not choice else field.choices[number % len(field.choices)][0]
    if isinstance(field, models.CharField | models.TextField):
        return f"{number:064x}"[-(field.max_length or 64) :] if field.name in NOT_TEXT else one.text[: field.max_length]
    if field.has_default() or field.null:
        return None
    for kind, value in (
        (models.DateTimeField, NOW),
        (models.DateField, NOW.date()),
        (models.UUIDField, uuid4()),
        (models.IntegerField, number + 1),
        (models.FloatField, 0.5),
        (models.DecimalField, Decimal(1)),
        (models.JSONField, nested(one)),
        (ArrayField, [one.text[:100]]),
        (models.BinaryField, one.text.encode()),
    ):
        if isinstance(field, kind):
            return value
    return None


def fill(model: type[models.Model], given: Given = lambda number, one: {}, keep: tuple[str, ...] = ()) -> list[Any]:
    """Make a row of a model for each text, with the text in every column of text; return the rows.

    given: of certain columns. keep: columns that stay empty.
    """
    place = model.__name__.lower()
    rows = []
    for number, one in enumerate(contents_of(place)):
        known = given(number, one)
        fields = [
            field for field in model._meta.local_concrete_fields if not field.primary_key or not field.has_default()
        ]
        values = {
            field.name: value
            for field in fields
            if field.name not in {*known, *keep}
            and not isinstance(field, models.AutoField | models.ForeignKey)
            and (value := value_of(field, number, one)) is not None
        }
        rows.append(model(**values, **known))
    return list(model._default_manager.bulk_create(rows))


def receipts() -> None:
    """Leave a decision about two memories of each text, with the text in every part of it."""
    memories = list(Memory.objects.order_by("pk"))
    pairs = list(zip(memories, memories[1:] + memories[:1], strict=True))

    def of(number: int, one: Hostile) -> dict[str, Any]:
        candidate, existing = pairs[number % len(pairs)]
        records = {
            side: {**record_as_json(record_from_memory(memory, None)), "content": one.text}
            for side, memory in (("candidate", candidate), ("existing", existing))
        }
        scope = {name: getattr(existing, name) for name in ("user_id", "household_id", "persona_id")}
        known = {"action": "keep", "strategy": "noticed", "outcome": "noticed", "origin": "save", "state": "open"}
        return {**scope, **known, "candidate": candidate, "existing": existing, "records": records, "at": NOW}

    fill(Conflict, of, keep=("about_reviewed_by",))
    fill(
        MemoryRevision,
        lambda number, one: {"memory": memories[number % len(memories)], "changes": {"content": [one.text, one.text]}},
    )


def knowledge() -> None:
    """Leave sources with items, files, runs, changes and conflicts."""
    sources = fill(
        KnowledgeSource,
        lambda number, one: {"resolutions": {}, "include": [one.text[:200]], "exclude": [one.text[:200]]},
    )
    SyncState.objects.bulk_create(SyncState(source=source) for source in sources)
    fill(KnowledgeFile, lambda number, one: {"source": sources[0]})
    fill(
        KnowledgeItem,
        lambda number, one: {
            "source": sources[number],
            "constraints": [{"text": one.text, "severity": "blocking"}],
            "tags": [one.text],
            "supersedes": [one.text],
            "superseded_by": [one.text],
        },
    )
    runs = fill(
        SyncRun,
        lambda number, one: {
            "source": sources[number],
            "state": "failed" if number % 2 else "complete",
            "failed_items": [{"path": one.text, "code": one.text, "detail": one.text}],
        },
    )
    fill(
        SyncChange,
        lambda number, one: {
            "run": runs[0],
            "before": {"item": {"title": one.text}},
            "after": {"item": {"title": one.text}},
        },
    )
    fill(
        PointerConflict,
        lambda number, one: {
            "source": sources[number],
            "run": runs[number],
            "type": "orphaned_pointer",
            "suggested": "archive_memory",
        },
    )


def notes() -> None:
    """Leave conversations with what was learnt of them, compactions and versions of notes."""
    talks = fill(Conversation)
    runs = fill(
        ExtractionRun,
        lambda number, one: {
            "conversation": talks[number],
            "state": "failed" if number % 2 else "done",
            "received": {},
            "steps": [{"stage": one.text, "at": NOW.isoformat(), "detail": one.text}],
        },
    )
    said = fill(ConversationMessage, lambda number, one: {"conversation": talks[0], "run": runs[0], "role": "user"})
    fill(ExtractedFact, lambda number, one: {"run": runs[0], "message": said[number], "undo": {}})
    fill(
        Compaction,
        lambda number, one: {
            "state": "drafted",
            "draft": zlib.compress(one.text.encode()),
            "facts": [{"text": one.text, "action": "kept", "into": one.text}],
        },
    )
    fill(
        NoteVersion,
        lambda number, one: {
            "text": zlib.compress(one.text.encode()),
            "whole": zlib.compress(one.text.encode()),
            "size": len(one.text.encode()),
        },
    )


def timeline() -> None:
    """Leave segments with damage, warnings, and what waits to become memories."""
    fill(
        Segment,
        lambda number, one: {
            "state": "quarantined",
            "rows": "gone",
            "opened_at": NOW,
            "first_timestamp": NOW,
            "last_timestamp": NOW,
        },
    )
    fill(TimelineWarning, lambda number, one: {"kind": "capacity", "ended_at": NOW if number else None})
    fill(RetentionPolicy)
    fill(RoutingPolicy, lambda number, one: {"event_types": [one.text[:100]]})
    fill(Ingestion, lambda number, one: {"event_id": uuid4(), "action": ""})
    fill(
        BridgeAudit, lambda number, one: {"event_ids": [uuid4()], "changes": {"content": one.text}, "action": "demoted"}
    )


def models_and_work() -> None:
    """Leave what models were asked and answered, and what failed in the background."""
    fill(
        ModelCall,
        lambda number, one: {
            "outcome": "failed" if number % 2 else "succeeded",
            "prompt": one.text,
            "answer": one.text,
        },
    )
    fill(Price, lambda number, one: {"currency": "USD"})
    fill(Breaker, lambda number, one: {"phase": "open"})
    fill(ToolRunDay, lambda number, one: {"day": NOW.date(), "runs": 1})
    fill(Consolidation)
    fill(Import)
    fill(StoreItem)
    fill(RecallCheck)
    fill(DisplayName, lambda number, one: {"household_id": f"h{number}", "persona_id": ""})
    fill(EmbeddingSpace, lambda number, one: {"dimension": number + 1})
    fill(Schedule, lambda number, one: {"func": "apps.events.tasks.relay", "next_run": NOW})
    events = fill(Event)
    fill(Delivery, lambda number, one: {"event": events[number], "status": "failed"})
    fill(JobRun, lambda number, one: {"task_id": f"{number:032x}", "outcome": "failed", "ended_at": NOW})
    fill(HubProcess, lambda number, one: {"kind": "worker", "checks": {one.text: one.text}, "seen_at": NOW}, keep=())
    for number, one in enumerate(contents_of("failure")):
        place = f'  File "/hub/apps/{one.text}.py", line 1, in x'
        report = f"{one.text} : Traceback (most recent call last):\n{place}\nOSError: {one.text}"
        Failure.objects.create(
            id=f"{number:032x}",
            name=one.text[:100],
            func=f"apps.sync.tasks.{one.text}"[:256],
            started=NOW,
            stopped=NOW,
            success=False,
            result=report,
            args=(one.text,),
        )


def rule_of(one: Hostile) -> dict[str, Any]:
    """A document of a rule, whose name the registry would take."""
    return {"name": one.marker, "description": one.text, "conditions": {"user_id": one.text[:200]}}


def people_and_rules() -> None:
    """Leave accounts, keys, audit entries, forgotten people, and rules of any name."""
    keys = fill(
        ApiKey,
        lambda number, one: {
            "digest": f"{number:064x}",
            "reads": [one.text[:200]],
            "previous_digest": None,
            "secret_until": NOW,
        },
    )
    assert keys
    logins = fill(User, lambda number, one: {"is_staff": True, "is_active": True, "email": ""}, keep=("email",))
    fill(Account, lambda number, one: {"login": logins[number], "reads": []}, keep=("person_id",))
    fill(
        AuditEntry,
        lambda number, one: {
            "detail": {"name": one.text, one.text: [one.text, one.text]},
            "outcome": "done",
            "actor_kind": "admin",
        },
    )
    memories = list(Memory.objects.order_by("pk").values_list("uuid", flat=True))
    fill(GivenAnswer, lambda number, one: {"asked": "search", "memories": memories, "events": []})
    fill(
        Erasure,
        lambda number, one: {
            "digest": f"{number:064x}",
            "state": "waiting",
            "found": {one.text: 1},
            "problems": [one.text],
        },
    )
    fill(
        MergeRule,
        lambda number, one: {"name": one.marker, "document": rule_of(one), "version": 1_000 + number},
    )
    fill(
        MergeRuleVersion,
        lambda number, one: {
            "version": 1_000 + number,
            "before": rule_of(one),
            "action": "updated",
            "after": {**rule_of(one), "priority": 1},
        },
    )
    fill(Group)
    fill(LogEntry, lambda number, one: {"user": logins[0], "action_flag": 2})


def fill_hub() -> dict[str, int]:
    """Fill a hub; return how many texts each door took."""
    api = api_for(Scope(), Permission.OPERATOR)
    taken = over_doors(api)
    runs_continue()
    longest = settings.MEMORYHUB.max_content_chars
    api.save(long_line("long", longest), user_id="ana", context=long_line("long", 9_000))
    for part in (receipts, knowledge, notes, timeline, models_and_work, people_and_rules):
        part()
    return taken
