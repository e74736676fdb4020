"""A hub in which several people, households and personas have memories, each with a word that nobody else has."""

import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.urls import URLPattern, URLResolver, get_resolver

from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.scope import Permission, Scope, system_access
from apps.core.models import ApiKey
from apps.core.services import key_create, key_revoke, key_rotate
from apps.episodic.domain.event import EventDraft
from apps.episodic.models import TimelineEvent
from apps.episodic.services import RecordResult, events_record
from apps.given.models import GivenAnswer
from apps.notes.domain.places import MAIN
from apps.notes.domain.text import digest
from apps.notes.files.owner import folder_of
from apps.notes.models import Compaction, CompactionState
from apps.semantic.conflicts.receipts import record_as_json, scope_columns
from apps.semantic.domain.confidence import DecayPolicy
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.memories.writer import SaveResult
from apps.semantic.models import Conflict, ConflictOutcome, Memory, Origin
from apps.semantic.services import memory_delete, memory_save_many
from apps.semantic.store.rows import record_from_memory
from apps.store.domain.operations import Put
from apps.store.services import store_run
from apps.sync.models import (
    KnowledgeFile,
    KnowledgeItem,
    KnowledgeSource,
    PointerConflict,
    SyncChange,
    SyncCheckpoint,
    SyncRun,
    SyncState,
)
from tests.api import Api, Lines, api_for
from tests.integration.episodic.timeline import Timeline

NOWHERE = "00000000-0000-4000-8000-000000000000"
SYSTEM = system_access("test")

ASKED_BY_A_MODEL = '[[ABP_TOOL:memory_search]]{"query": "secret word", "explain": true, "top_k": 1000}'
# A call that names another scope in every way that a model may think of is refused; this one is not.
ASKED_BY_MCP = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "query", "arguments": {"query": "secret word", "limit": 100, "max_tokens": 8_000}},
}
NEW_EVENT = {
    "timestamp": "2026-03-04T12:00:00Z",
    "event_type": "message",
    "content": "a new one",
    "user_id": "ana",
}

# Every route under /api/ that needs a key: what may be called there, and with what body.
ROUTES: dict[str, dict[str, Any]] = {
    "api/episodic/events": {"GET": None, "POST": NEW_EVENT},
    "api/episodic/events/batch": {"POST": {"events": [NEW_EVENT]}},
    "api/episodic/events/import": {"POST": Lines([NEW_EVENT])},
    "api/episodic/events/<uuid:uuid>": {"GET": None, "DELETE": None},
    "api/episodic/query": {"POST": {"query": "secret word", "explain": True, "top_k": 1000}},
    "api/episodic/segments": {"GET": None},
    "api/episodic/status": {"GET": None},
    "api/export": {"GET": None},
    "api/keys": {"GET": None, "POST": {"name": "new", "user_id": "ana"}},
    "api/keys/<uuid:uuid>": {"GET": None, "PATCH": {"name": "renamed"}, "DELETE": None},
    "api/keys/<uuid:uuid>/rotate": {"POST": {"overlap_seconds": 60}},
    "mcp": {"POST": ASKED_BY_MCP},
    "mcp/p/<str:project>": {"POST": ASKED_BY_MCP},
    "api/llm/models": {"GET": None},
    "api/llm/status": {"GET": None},
    "api/llm/tools": {"GET": None},
    "api/llm/tools/parse": {"POST": {"text": ASKED_BY_A_MODEL}},
    "api/llm/tools/execute": {"POST": {"text": ASKED_BY_A_MODEL}},
    "api/context": {"POST": {"message": "secret word", "max_tokens": 32_000}},
    "api/context/<uuid:uuid>": {"GET": None},
    "api/memberships": {"GET": None, "POST": {"user_id": "ana", "household_id": "home"}},
    "api/memberships/<uuid:uuid>": {"GET": None, "DELETE": None},
    "api/users": {"GET": None},
    "api/users/<path:user_id>": {"GET": None},
    "api/erasures": {"GET": None, "POST": {"user_id": "ana"}},
    "api/erasures/<uuid:uuid>": {"GET": None},
    "api/households": {"GET": None},
    "api/personas": {"GET": None},
    "api/projects": {"GET": None},
    "api/types": {"GET": None},
    "api/sessions": {"GET": None},
    "api/rules": {"GET": None, "POST": {"name": "new"}},
    "api/rules/export": {"GET": None},
    "api/rules/load": {"POST": {"rules": [{"name": "new"}]}},
    "api/rules/match": {"POST": {"candidate": {"content": "tea"}}},
    "api/rules/evaluate": {"POST": {"candidate": {"content": "tea"}, "existing": {"content": "green tea"}}},
    "api/rules/<str:name>": {"GET": None, "PATCH": {"priority": 1}, "DELETE": None},
    "api/rules/<str:name>/rehearse": {
        "POST": {"changes": {"detection": {"keyword_threshold": 0}}, "user_id": "ana", "neighbours": True}
    },
    "api/memory/commands": {"POST": {"command": "view", "path": "/memories/MEMORY.md"}},
    "api/memory/config": {
        "GET": None,
        "PUT": {"enabled": False, "user_id": "ana"},
        "PATCH": {"enabled": False, "user_id": "ana"},
    },
    "api/store": {"POST": {"operations": [{"op": "search", "namespace": [], "query": "secret word"}, {"op": "list"}]}},
    "api/sync/sources": {
        "GET": None,
        "POST": {"name": "new", "kind": "git", "location": "https://example.org/new.git"},
    },
    "api/sync/sources/<uuid:uuid>": {"GET": None, "PATCH": {"project": "atlas"}, "DELETE": None},
    "api/sync/sources/<uuid:uuid>/pause": {"POST": {"reason": "a new one"}},
    "api/sync/sources/<uuid:uuid>/resume": {"POST": None},
    "api/sync/sources/<uuid:uuid>/state": {"GET": None},
    "api/sync/sources/<uuid:uuid>/manifest": {"GET": None},
    "api/sync/sources/<uuid:uuid>/files": {"GET": None},
    "api/sync/sources/<uuid:uuid>/sync": {"POST": {"kind": "full"}},
    "api/sync/sources/<uuid:uuid>/should-sync": {"GET": None},
    "api/sync/sources/<uuid:uuid>/sessions": {"POST": None},
    "api/sync/sources/<uuid:uuid>/preview": {"POST": None},
    "api/sync/sources/<uuid:uuid>/checkpoints": {"GET": None},
    "api/sync/sources/<uuid:uuid>/rollback": {"POST": {"checkpoint": NOWHERE}},
    "api/sync/runs": {"GET": None},
    "api/sync/runs/<uuid:uuid>": {"GET": None},
    "api/sync/runs/<uuid:uuid>/changes": {"GET": None},
    "api/sync/items": {"GET": None},
    "api/sync/items/<uuid:uuid>": {"GET": None},
    "api/sync/items/<uuid:uuid>/diff": {"GET": None},
    "api/sync/items/<uuid:uuid>/history": {"GET": None},
    "api/sync/conflicts": {"GET": None},
    "api/sync/conflicts/<uuid:uuid>": {"GET": None},
    "api/sync/conflicts/<uuid:uuid>/resolve": {"POST": {"resolution": "keep_memory"}},
    "api/auto-memory/status": {"GET": None},
    "api/auto-memory/runs": {"GET": None},
    "api/auto-memory/runs/<uuid:uuid>": {"GET": None},
    "api/auto-memory/facts/<uuid:uuid>/undo": {"POST": None},
    "api/auto-memory/sessions": {"GET": None},
    "api/auto-memory/sessions/<str:session_id>": {"GET": None, "DELETE": None},
    "api/auto-memory/sessions/<str:session_id>/messages": {
        "POST": {"messages": [{"role": "user", "content": "a new one"}], "user_id": "ana"}
    },
    "api/auto-memory/sessions/<str:session_id>/events": {"POST": {"type": "session.end", "user_id": "ana"}},
    "api/memory/main": {"GET": None, "PUT": {"text": "a new one", "user_id": "ana"}},
    "api/memory/main/entries": {"POST": {"entry": "a new one", "user_id": "ana"}},
    "api/memory/daily": {"GET": None},
    "api/memory/daily/today": {"GET": None},
    "api/memory/daily/entries": {"POST": {"entry": "a new one", "user_id": "ana"}},
    "api/memory/daily/<day:day>": {"GET": None, "PUT": {"text": "a new one", "user_id": "ana"}},
    "api/memory/prompt": {"POST": {"message": "secret word", "include_memories": True, "limit": 50}},
    "api/memory/search": {"GET": None},
    "api/memory/status": {"GET": None},
    "api/memory/versions": {"GET": None},
    "api/memory/versions/<uuid:uuid>": {"GET": None},
    "api/memory/versions/<uuid:uuid>/restore": {"POST": None},
    "api/auto-memory/compact": {"POST": {"user_id": "ana"}},
    "api/auto-memory/compactions": {"GET": None},
    "api/auto-memory/compactions/<uuid:uuid>": {"GET": None},
    "api/auto-memory/compactions/<uuid:uuid>/apply": {"POST": None},
    "api/auto-memory/compactions/<uuid:uuid>/discard": {"POST": None},
    "api/auto-memory/compactions/<uuid:uuid>/undo": {"POST": None},
    "api/semantic/memories": {"GET": None, "POST": {"content": "a new one", "user_id": "ana"}},
    "api/semantic/memories/batch": {"POST": {"memories": [{"content": "a new one", "user_id": "ana"}]}},
    "api/semantic/memories/delete": {"POST": {"filter": {"metadata.word": {"exists": True}}, "dry_run": True}},
    "api/semantic/memories/<uuid:uuid>": {"GET": None, "PATCH": {"content": "another one"}, "DELETE": None},
    "api/semantic/memories/<uuid:uuid>/reinforce": {"POST": None},
    "api/semantic/memories/<uuid:uuid>/restore": {"POST": None},
    "api/semantic/memories/<uuid:uuid>/history": {"GET": None},
    "api/semantic/conflicts": {"GET": None},
    "api/semantic/conflicts/<uuid:uuid>": {"GET": None},
    "api/semantic/conflicts/<uuid:uuid>/accept": {"POST": None},
    "api/semantic/conflicts/<uuid:uuid>/override": {"POST": {"winner": "both"}},
    "api/semantic/conflicts/<uuid:uuid>/revert": {"POST": None},
    "api/semantic/search": {"POST": {"query": "secret word", "explain": True, "top_k": 1000}},
    "api/semantic/status": {"GET": None},
}
# A webhook is signed instead; tests/integration/sync/test_rest_webhooks.py is about that.
# Pages of people, for which the walks of tests/integration/admin and tests/integration/accounts are.
PAGES = ("admin/", "accounts/")
# An app without a key asks for one: tests/integration/people/test_connecting.py is about that.
PUBLIC = {
    "api/", "healthz", "readyz", "metrics", "api/schema", "api/docs", "api/sync/webhooks/<uuid:uuid>",
    "manifest.webmanifest", "service-worker.js", "offline/", "api/connect", "api/connect/token",
    # An app signs in: tests/integration/oauth and tests/hostile/test_sign_in.py are about that.
    "oauth/token", "oauth/revoke", "oauth/register", ".well-known/oauth-authorization-server", *(
        f".well-known/oauth-protected-resource{path}" for path in ("", "/mcp", "/mcp/p/<str:project>"))}  # fmt: skip
READS_BY_POST = {
    "api/episodic/query",
    "api/llm/tools/parse",
    "mcp",  # asks for what the tool does, and the one in ROUTES reads
    "mcp/p/<str:project>",
    "api/memory/prompt",
    "api/store",  # asks for what the operations do, and those in ROUTES read
    "api/memory/commands",  # asks for what the command does, and the one in ROUTES reads
    "api/context",
    "api/llm/tools/execute",  # asks for no more than the tool does, and the one in ROUTES reads
    "api/rules/match",
    "api/rules/evaluate",
    "api/rules/<str:name>/rehearse",
    "api/semantic/search",
}


@dataclass(frozen=True)
class Operation:
    """A route with one of its methods."""

    route: str
    method: str
    body: Any

    @property
    def has_id(self) -> bool:
        return "<uuid:uuid>" in self.route

    @property
    def part(self) -> str:
        """The part of the API that it is in, such as `semantic`."""
        return self.route.removeprefix("api/").split("/")[0]

    @property
    def is_about_keys(self) -> bool:
        """Whether only operators may call it: keys, and the forgetting of people."""
        return self.route.startswith(("api/keys", "api/erasures"))

    @property
    def is_write(self) -> bool:
        return self.method != "GET" and self.route not in READS_BY_POST

    def call(self, api: Api, uuid: object = NOWHERE, method: str | None = None) -> HttpResponse:
        path = self.route.replace("<uuid:uuid>", str(uuid)).replace("<str:name>", "inferred")
        path = (
            path.replace("<str:session_id>", "chat-7")
            .replace("<path:user_id>", "ana")
            .replace("<day:day>", "2026-03-04")
            .replace("<str:project>", "atlas")
        )
        return api.call(method or self.method, f"/{path}", self.body)

    def __str__(self) -> str:
        return f"{self.method} {self.route}"


OPERATIONS = [Operation(route, method, body) for route, methods in ROUTES.items() for method, body in methods.items()]


def routes(patterns: Any = None, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Every address of the URLconf with its view."""
    for pattern in get_resolver().url_patterns if patterns is None else patterns:
        if isinstance(pattern, URLResolver):
            yield from routes(pattern.url_patterns, prefix + str(pattern.pattern))
        elif isinstance(pattern, URLPattern):
            yield prefix + str(pattern.pattern), pattern.callback


def sentinel(scope: Scope) -> str:
    """The word that only the memories of this scope hold."""
    return "zq" + "".join(str(value) for value in scope.named().values()) + "qz"


NOTED = ("ana", "ben")
SCOPES = [Scope(*names) for names in product(("ana", "ben"), ("home", "away"), ("chef", "nurse"))]
BOUNDS = {
    "a user": Scope(user_id="ana"),
    "a household": Scope(household_id="home"),
    "a persona": Scope(persona_id="chef"),
    "a household and a persona": Scope(household_id="home", persona_id="chef"),
    "all three": Scope("ana", "home", "chef"),
    "another user": Scope(user_id="cem"),
    "another household": Scope(household_id="hotel"),
    "another persona": Scope(persona_id="pilot"),
    "a user in another household": Scope(user_id="ana", household_id="hotel"),
}

# Keys that a user has stopped: nothing of theirs is inside.
STOPS = {
    "all but a user who stopped it": Scope(without=("ana",)),
    "a household but a user who stopped it": Scope(household_id="home", without=("ana",)),
}

# Bounds with owners who are granted besides: of others and of the bound's own, and one who does not exist.
GRANTS = {
    "a user": (Scope(user_id="ana"), ("ben", "nobody")),
    "a household": (Scope(household_id="home"), ("ben",)),
    "a persona of a user": (Scope(user_id="ana", persona_id="chef"), ("ana",)),
    "all three": (Scope("ana", "home", "chef"), ("ben",)),
    "another user": (Scope(user_id="cem"), ("ana",)),
}


def _receipt(kept: Memory, dropped: Memory) -> Conflict:
    """What a decision between two memories would leave, with their word in it."""
    records = {
        side: record_as_json(record_from_memory(memory, None))
        for side, memory in (("candidate", dropped), ("existing", kept))
    }
    return Conflict(
        **scope_columns(kept),
        uuid=kept.uuid,
        origin=Origin.SAVE,
        outcome=ConflictOutcome.NOTICED,
        candidate=dropped,
        existing=kept,
        rule_name="default",
        action="keep",
        strategy="noticed",
        confidence=0.5,
        reason=f"about {sentinel(kept.scope)}",
        records=records,
        actor="test",
        at=kept.created_at,
    )


def _given(memory: Memory) -> GivenAnswer:
    """What a context that had a memory leaves, with its id and its word."""
    scope, word = scope_columns(memory), sentinel(memory.scope)
    given = {"app": word, "asked": "context", "run_id": word, "notes": [f"daily/{word}.md#L1-L1"]}
    return GivenAnswer(uuid=memory.uuid, **scope, **given, at=memory.created_at, memories=[memory.uuid])


def _event(scope: Scope) -> EventDraft:
    """Something that happened in a scope, with its word."""
    moment = datetime(2026, 3, 4, tzinfo=UTC)
    return EventDraft(moment, "message", f"it was {sentinel(scope)}", scope, metadata={"note": sentinel(scope)})


class World:
    """Two memories in each of SCOPES, one of them deleted, a receipt about them, and an event; half of those archived.

    A receipt, a given context and an event have the id of the first memory, so that one id will do for every route.
    sources: ids of memories that a source of knowledge has as well, with all that is below it.
    """

    def __init__(self) -> None:
        drafts = [
            MemoryDraft(
                f"the secret word is {sentinel(scope)} {which}",
                scope=scope,
                decay_policy=DecayPolicy.REINFORCEABLE,
                context=f"whispered {sentinel(scope)}",
                session_id="shared",
                metadata={"note": sentinel(scope)},
            )
            for scope in SCOPES
            for which in ("kept", "dropped")
        ]
        self.memories: list[Memory] = []
        self.sources: set[UUID] = set()
        for outcome in memory_save_many(access=SYSTEM, drafts=drafts):
            assert isinstance(outcome, SaveResult)
            self.memories.append(outcome.memory)
        for kept, dropped in zip(self.memories[::2], self.memories[1::2], strict=True):
            memory_delete(access=SYSTEM, uuid=dropped.uuid)
            _receipt(kept, dropped).save()
            _given(kept).save()
        self._record(self.memories[::4])
        Timeline().archive()
        self._record(self.memories[2::4])
        for user in NOTED:
            folder_of(user).create()
            folder_of(user).path.joinpath("MEMORY.md").write_text(f"noted {sentinel(Scope(user))}")
            self._compaction(user)
            self._source(user)
            self._keep(Scope(user), own_word(user))
        for scope in SCOPES:
            self._keep(scope, sentinel(scope))

    def _source(self, user: str) -> None:
        """Have a source of a user with an item and a run, with the id of one of their memories, and their word."""
        first = next(memory for memory in self.memories if memory.user_id == user)
        uuid, at, word, kept = first.uuid, first.created_at, f"shared {sentinel(Scope(user))}", own_word(user)
        of_source: dict[str, Any] = {"uuid": uuid, "name": word, "user_id": user, "kind": "git", "created_by": kept}
        secrets = {"credentials": kept, "webhook_secret": kept}
        source = KnowledgeSource.objects.create(
            **of_source, **secrets, location=f"/{kept}", created_at=at, updated_at=at
        )
        SyncState.objects.create(source=source)
        run = SyncRun.objects.create(
            uuid=uuid, source=source, kind="full", state="complete", actor=kept, detail=kept, requested_at=at
        )
        SyncRun.objects.filter(pk=run.pk).update(failed_items=[{"path": kept, "code": "empty", "detail": kept}])
        of_item: dict[str, Any] = {"source": source, "item_id": word}
        KnowledgeItem.objects.create(
            uuid=uuid, **of_item, path=word, type="adr", title=word, status="accepted", layer="team", synced_at=at
        )
        KnowledgeFile.objects.create(source=source, path=kept, code="empty", detail=kept)
        SyncChange.objects.create(run=run, item_id=word, action="create", after={"item": {"title": kept}})
        SyncCheckpoint.objects.create(uuid=uuid, source=source, run=run, content=b"", created_at=at)
        conflict: dict[str, Any] = {"type": "hash_mismatch", "suggested": "update_memory", "resolved_by": kept}
        PointerConflict.objects.create(uuid=uuid, **of_item, **conflict, run=run, detected_at=at)
        self.sources.add(uuid)

    def _keep(self, owner: Scope, word: str) -> None:
        """Keep a word by the same key as all others do, in a namespace of its own as well."""
        puts = [Put(("shared",), "key", {"note": word}, (word,)), Put((word,), word, {})]
        store_run(access=SYSTEM, scope=owner, operations=puts)

    def _compaction(self, user: str) -> None:
        """Have a draft of a user's MEMORY.md with the id of one of their memories, and their word."""
        first = next(memory for memory in self.memories if memory.user_id == user)
        note = folder_of(user).read(MAIN) or b""
        draft = note + b" shorter"
        Compaction.objects.create(
            uuid=first.uuid,
            user_id=user,
            actor="test",
            state=CompactionState.DRAFTED,
            base_sha256=digest(note),
            draft_sha256=digest(draft),
            draft=zlib.compress(draft),
            facts=[{"text": note.decode(), "action": "kept"}],
            created_at=first.created_at,
        )

    def _record(self, memories: list[Memory]) -> None:
        """Record an event in the scope of each memory, and give it the memory's id."""
        outcomes = events_record(access=SYSTEM, drafts=[_event(memory.scope) for memory in memories])
        for memory, outcome in zip(memories, outcomes, strict=True):
            assert isinstance(outcome, RecordResult)
            TimelineEvent.objects.filter(uuid=outcome.record.uuid).update(uuid=memory.uuid)

    def kept(self) -> list[Memory]:
        return self.memories[::2]

    def inside(self, bound: Scope) -> list[Memory]:
        return [memory for memory in self.memories if bound.intersect(memory.scope) == memory.scope]

    def readable(self, bound: Scope, reads: Iterable[str]) -> list[Memory]:
        """What is inside a bound, and all of the owners who are granted besides."""
        owners, inside = set(reads), {memory.pk for memory in self.inside(bound)}
        return [memory for memory in self.memories if memory.pk in inside or memory.user_id in owners]

    def outside(self, bound: Scope, reads: Iterable[str] = ()) -> list[Memory]:
        readable = {memory.pk for memory in self.readable(bound, reads)}
        return [memory for memory in self.memories if memory.pk not in readable]

    def leaked(self, bound: Scope, response: HttpResponse, reads: Iterable[str] = ()) -> list[str]:
        """What an answer to a key of this bound, and with these grants if it may use them, says that it must not."""
        body = response.content.decode() + str(response.headers)
        outside = self.outside(bound, reads)
        words = {sentinel(memory.scope) for memory in outside} | {str(memory.uuid) for memory in outside}
        # Notes belong to a person as a whole: a key for a part of one has none.
        whole = {user for user in NOTED if bound.contains(Scope(user))}
        words |= {f"noted {sentinel(Scope(user))}" for user in NOTED if user not in whole}
        # Sources as well, but they can be granted.
        words |= {f"shared {sentinel(Scope(user))}" for user in NOTED if user not in {*reads, *whole}}
        # How they are kept is not.
        words |= {own_word(user) for user in NOTED if user not in whole}
        return sorted(word for word in words if word in body)


def own_word(user: str) -> str:
    """What is in all that a source does not share with those who were granted its owner."""
    return f"kept {sentinel(Scope(user))}"


def refused_callers() -> dict[str, Api]:
    """Callers without a valid key."""
    scope = Scope(user_id="ana")
    revoked, revoked_secret = key_create(name="revoked", scope=scope, permission=Permission.WRITE, actor="test")
    key_revoke(uuid=revoked.uuid)
    now = utcnow(SYSTEM_CLOCK)
    expired = api_for(scope, expires_at=now + timedelta(hours=1))
    ApiKey.objects.filter(name="test").update(expires_at=now - timedelta(seconds=1))
    rotated, replaced_secret = key_create(name="rotated", scope=scope, permission=Permission.WRITE, actor="test")
    key_rotate(uuid=rotated.uuid, overlap=timedelta())
    return {
        "revoked": Api(revoked_secret),
        "replaced": Api(replaced_secret),
        "expired": expired,
        "unknown": Api("mh_" + "x" * 43),
        "short": Api("mh_"),
        "not ASCII": Api("ключ".encode().decode("latin-1") * 5),
        "of another case": Api(api_for(scope).key.swapcase()),  # type: ignore[union-attr]
    }
