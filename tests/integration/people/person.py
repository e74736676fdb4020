"""A hub in which one person has something in every store, and others have as much."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.sessions.models import Session
from django.db import connection
from django_q.models import OrmQ, Task
from django_q.tasks import async_task

from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.scope import Access, Permission, Scope, system_access
from apps.core.models import ApiKey
from apps.core.services import key_create
from apps.llm.models import CallOutcome, ModelCall
from apps.notes.conversations.events import EventDraft
from apps.notes.conversations.messages import MessageDraft
from apps.notes.domain.conversation import EventType
from apps.notes.models import Compaction, ExtractedFact
from apps.notes.services import event_add, messages_add
from apps.rules.services import rule_register
from apps.semantic.conflicts.receipts import record_as_json, scope_columns
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.index.snapshots import Snapshots
from apps.semantic.models import (
    BridgeAudit,
    Conflict,
    ConflictOutcome,
    Consolidation,
    Ingestion,
    JudgedPair,
    Memory,
    Origin,
    RecallCheck,
)
from apps.semantic.services import memory_delete, memory_save_many
from apps.semantic.store.embedding_space import current_space
from apps.semantic.store.rows import record_from_memory
from apps.store.domain.operations import Put
from apps.store.services import store_run
from apps.sync.models import KnowledgeFile, KnowledgeItem, KnowledgeSource, SyncChange, SyncRun, SyncState
from tests.integration.episodic.records import NOW
from tests.integration.episodic.timeline import Timeline, draft

SYSTEM = system_access("test")
PERSON, WORD = "zq-person-qz", "xyloquartz"
OTHERS = ("ben", "zq-person", "person")


def fill(user: str, word: str, *, archive: Timeline) -> None:
    """Put something of a user into every store. word: in everything that has content."""
    scope = Scope(user, "home")
    drafts = [MemoryDraft(f"{word} likes tea number {n}", scope=scope, context=word) for n in range(5)]
    memories = [one.memory for one in memory_save_many(access=SYSTEM, drafts=drafts)]  # type: ignore[union-attr]
    memory_delete(access=SYSTEM, uuid=memories[4].uuid)
    Memory.objects.filter(pk=memories[3].pk).update(superseded_by=memories[2])
    _receipt(memories[0], memories[1], word)
    for part in range(2):
        record_events(scope, word, f"archived {part}", archive)
        archive.archive()
    record_events(scope, word, "sealed", archive)
    archive.close()
    archive.seal()
    record_events(scope, word, "row", archive)
    now = utcnow(SYSTEM_CLOCK)
    Ingestion.objects.create(user_id=user, event_id=memories[0].uuid, content=word, created_at=now, next_try_at=now)
    BridgeAudit.objects.create(user_id=user, at=now, action="kept", event_ids=[], reason="manual", actor="test")
    Consolidation.objects.create(name=f"of {user}", user_id=user)
    RecallCheck.objects.create(user_id=user, at=now, memories=4, recall=1.0)
    facts = [{"text": word, "action": "kept"}]
    Compaction.objects.create(user_id=user, actor="test", state="drafted", facts=facts, created_at=now)
    ModelCall.objects.create(
        actor="judge", user_id=user, purpose="judge", latency_ms=1, outcome=CallOutcome.SUCCEEDED,
        started_at=now, prompt=word, answer=word,
    )  # fmt: skip
    keep(user, word)
    hold_conversation(user, word)
    follow_knowledge(user, word)
    key, _ = key_create(name=f"phone of {user}", scope=scope, permission=Permission.WRITE, actor="test")
    key_create(
        name="shared",
        scope=Scope("keeper"),
        permission=Permission.READ,
        actor="test",
        reads=[user, "kept"],
        stopped_by=[user],
    )
    rule_register(document={"name": f"for-{word}", "conditions": {"user_id": user}}, actor="test")
    log_changes(user, key, memories[0])
    selection = {"user_id": user}
    async_task("apps.semantic.tasks.revert_conflicts", selection, "admin", "run", None)
    Task.objects.create(
        id=f"{abs(hash(user)):032x}"[:32], name="ended", func="x", args=(selection,), started=now, stopped=now
    )
    snapshots = Snapshots.of(user, current_space())
    snapshots.directory.mkdir(parents=True)
    snapshots.path_of(1, "json").write_text(f'{{"user": "{user}"}}')
    snapshots.path_of(1, "graph").write_bytes(word.encode())


def keep(user: str, word: str) -> None:
    """Have an application keep a value, found by its text."""
    puts = [Put((word, user), word, {"of": user, "about": word}, (word,))]
    store_run(access=SYSTEM, scope=Scope(user, "home"), operations=puts)


def hold_conversation(user: str, word: str) -> None:
    """Have a conversation with a message, a recalled text, a run that waits, and a fact."""
    access = Access(Scope(user), Permission.WRITE, "test")
    said = [MessageDraft("user", f"I like {word}.", speaker=word)]
    messages_add(access=access, user_id=None, session_id=f"of {user}", drafts=said, recalled=[word])
    [run] = event_add(access=access, user_id=None, session_id=f"of {user}", event=EventDraft(EventType.END)).runs
    ExtractedFact.objects.create(
        user_id=user, run=run, number=1, content=word, category="Preferences", confidence=0.5, pattern="likes"
    )


def follow_knowledge(user: str, word: str) -> None:
    """Have a source of knowledge with an item, a file, and a run with a change."""
    now = utcnow(SYSTEM_CLOCK)
    source = KnowledgeSource.objects.create(
        name=word, user_id=user, kind="git", location=f"/{word}", created_by=user, created_at=now, updated_at=now
    )
    SyncState.objects.create(source=source)
    KnowledgeFile.objects.create(source=source, path=f"{word}.md", blob="x", parsed={"title": word})
    KnowledgeItem.objects.create(
        uuid=source.uuid, source=source, item_id=word, path=f"{word}.md", type="adr", title=word, status="accepted",
        layer="team", hash="x", synced_at=now,
    )  # fmt: skip
    run = SyncRun.objects.create(source=source, kind="full", state="complete", actor=user, requested_at=now)
    SyncChange.objects.create(run=run, item_id=word, action="create", after={"memory": {"content": word}})


def record_events(scope: Scope, word: str, what: str, timeline: Timeline) -> None:
    timeline.record(
        *(
            draft(f"{word} {what} {n}", timestamp=NOW - timedelta(minutes=n), scope=scope, metadata={"note": word})
            for n in range(4)
        )
    )


def log_changes(user: str, key: ApiKey, memory: Memory) -> None:
    """Leave traces in the log of the admin and in a session."""
    operator, _ = User.objects.get_or_create(username="operator")
    for row in (key, memory):
        kind = ContentType.objects.get_for_model(row)
        LogEntry.objects.create(
            user=operator, content_type=kind, object_id=str(row.pk), object_repr=str(row), action_flag=CHANGE
        )
    session = SessionStore()
    session["filters"] = f"user_id={user}"
    session.save()


def _receipt(kept: Memory, dropped: Memory, word: str) -> None:
    records = {"existing": record_as_json(record_from_memory(kept, None))}
    receipt = Conflict.objects.create(
        **scope_columns(kept), origin=Origin.SAVE, outcome=ConflictOutcome.NOTICED, candidate=dropped, existing=kept,
        action="keep", strategy="noticed", confidence=0.5, reason=word, records=records, actor="test",
        at=kept.created_at,
    )  # fmt: skip
    JudgedPair.objects.create(
        notice=receipt, candidate=dropped, existing=kept, prompt_version=1, model="m", state="skipped", reason=word
    )


def rows_of_database() -> Iterator[tuple[str, str]]:
    """Every row of every table as text, that of sessions and tasks decoded."""
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f'SELECT t::text FROM "{table}" AS t')
            for (row,) in cursor.fetchall():
                yield table, row
    for waiting in OrmQ.objects.all():
        yield "django_q_ormq", repr(waiting.task)
    for session in Session.objects.all():
        yield "django_session", repr(session.get_decoded())
    for task in Task.objects.all():
        yield "django_q_task", repr((task.args, task.kwargs, task.result))


def files_of_hub() -> list[Path]:
    """Every file in the data directory besides the database's own and the downloaded model."""
    roots = (settings.SEMANTIC_INDEX_DIR, settings.TIMELINE_DIR, settings.DOWNLOADS_DIR)
    return [path for root in roots for path in Path(root).rglob("*") if path.is_file()]


def traces(*words: str) -> list[str]:
    """Where any of these words is left: names of tables and files, never what is in them."""
    forms = [form for word in words for form in (word, word.encode().hex())]
    found = {table for table, row in rows_of_database() if any(form in row for form in forms)}
    for path in files_of_hub():
        contents = path.read_bytes() + str(path).encode()
        found |= {path.name for form in forms if form.encode() in contents}
    return sorted(found)


def kept_of_others() -> dict[str, Any]:
    """What belongs to others, row by row."""
    kept: dict[str, Any] = {}
    for table, row in rows_of_database():
        if table in {"core_hubprocess", "episodic_segment", "episodic_catalogue", "rules_registryversion"}:
            continue
        if any(f"other{number}word" in row or f",{name}," in row for number, name in enumerate(OTHERS)):
            kept.setdefault(table, []).append(row)
    return {table: sorted(rows) for table, rows in kept.items()}
