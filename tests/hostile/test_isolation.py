"""A key never learns of what lies outside its bound: not its content, not its number, not that it is there (D1)."""

import json
import re
from collections import Counter
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import pytest
from django.http import HttpResponse

from apps.core.domain.cursors import Cursor
from apps.core.domain.scope import Permission, Scope
from apps.llm.embedding.embedder import embed_texts
from apps.people.selectors import name_id
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.models import Conflict, Memory, MemoryRevision, MemoryStatus
from apps.semantic.services import memory_save_many
from apps.webui.table import PAGES as PERSONS_PAGES
from tests.api import MEMORIES, SEARCH, Api, api_for
from tests.hostile.support import same, stored
from tests.hostile.world import (
    BOUNDS,
    GRANTS,
    NOTED,
    NOWHERE,
    OPERATIONS,
    PAGES,
    PUBLIC,
    ROUTES,
    SCOPES,
    STOPS,
    SYSTEM,
    World,
    own_word,
    routes,
    sentinel,
)

EVENTS = "/api/episodic/events"
pytestmark = pytest.mark.django_db

EACH_BOUND = pytest.mark.parametrize("bound", BOUNDS.values(), ids=BOUNDS.keys())
EACH_BOUND_OR_STOP = pytest.mark.parametrize("bound", [*BOUNDS.values(), *STOPS.values()], ids=[*BOUNDS, *STOPS])
# One of each shape, where every operation is called with every memory. The others are for the gate.
QUICK_BOUNDS = {"a user", "a household and a persona", "all but a user who stopped it"}
EACH_BOUND_OR_STOP_IN_FULL = pytest.mark.parametrize(
    "bound",
    [
        pytest.param(bound, id=name, marks=() if name in QUICK_BOUNDS else pytest.mark.deep)
        for name, bound in (BOUNDS | STOPS).items()
    ],
)
EACH_STOP = pytest.mark.parametrize("bound", STOPS.values(), ids=STOPS.keys())
EACH_GRANT = pytest.mark.parametrize(("bound", "reads"), GRANTS.values(), ids=GRANTS.keys())
ABOUT_MEMORIES = [operation for operation in OPERATIONS if not operation.is_about_keys]
WITH_MEMORY_ID = [operation for operation in ABOUT_MEMORIES if operation.has_id]


# --- the table is complete ----------------------------------------------------------------------------


def test_every_route_is_in_the_table() -> None:
    # Pages of persons have a table of their own, over which tests/integration/webui/test_pages.py walks.
    found = {route for route, _ in routes() if not route.startswith(PAGES)} - {page.path for page in PERSONS_PAGES}
    assert found == set(ROUTES) | PUBLIC


def test_every_method_is_in_the_table() -> None:
    for route, view in routes():
        if route in ROUTES:
            names = {name.upper() for name in ("get", "post", "put", "patch", "delete") if hasattr(view.cls, name)}
            assert names == set(ROUTES[route]), route


# --- the bound of a key -------------------------------------------------------------------------------


@EACH_BOUND_OR_STOP_IN_FULL
def test_id_outside_bound_answers_like_one_that_does_not_exist(world: World, bound: Scope) -> None:
    api = api_for(bound)
    before = stored()
    for operation in WITH_MEMORY_ID:
        nothing = operation.call(api)
        assert nothing.status_code == 404
        for memory in world.outside(bound):
            assert same(operation.call(api, memory.uuid), nothing)
        for method in ("OPTIONS", "HEAD", "PUT"):
            for memory in world.outside(bound)[-2:]:
                assert same(operation.call(api, memory.uuid, method), operation.call(api, NOWHERE, method))
    assert stored() == before


@EACH_BOUND_OR_STOP_IN_FULL
def test_no_answer_speaks_of_what_is_outside_bound(world: World, bound: Scope) -> None:
    api = api_for(bound)
    for operation in sorted(ABOUT_MEMORIES, key=lambda operation: operation.is_write):
        for memory in world.memories if operation.has_id else world.memories[:1]:
            assert world.leaked(bound, operation.call(api, memory.uuid)) == []


@EACH_BOUND_OR_STOP
def test_list_holds_exactly_what_is_inside_bound(world: World, bound: Scope) -> None:
    api = api_for(bound, Permission.READ)
    inside = world.inside(bound)
    for status, expected in (("active", inside[::2]), ("deleted", inside[1::2])):
        page = api.get(f"{MEMORIES}?status={status}").json()
        assert [item["id"] for item in page["results"]] == [str(memory.uuid) for memory in reversed(expected)]
        assert (page["next"], page["previous"]) == (None, None)


@EACH_BOUND_OR_STOP
def test_totals_orders_and_filters_know_only_what_is_inside_bound(world: World, bound: Scope) -> None:
    api = api_for(bound)
    everything = {"any": [{"user_id": {"exists": True}}, {"not": {"metadata.word": "x"}}]}
    asked = quote(json.dumps(everything))
    for order in ("created_at", "-importance", "occurred_at", "-updated_at"):
        page = api.get(f"{MEMORIES}?count=true&sort={order}&filter={asked}").json()
        assert page["total"] == len(page["results"]) == len(world.inside(bound)[::2])
    answer = api.search("secret word", filter=everything, limit=1000)
    assert answer["count"] == answer["diagnostics"]["considered_count"] == len(world.inside(bound)[::2])
    foreign = [str(memory.uuid) for memory in world.outside(bound)]
    for selection in ({"ids": foreign}, {"filter": {"id": {"in": foreign}}}, {"filter": everything}):
        answer = api.post(f"{MEMORIES}/delete", {**selection, "dry_run": True}).json()
        assert answer["matched"] == (len(world.inside(bound)[::2]) if selection == {"filter": everything} else 0)
    assert api.post(f"{MEMORIES}/delete", {"ids": foreign}).json() == {
        "matched": 0,
        "deleted": 0,
        "managed": 0,
        "protected": 0,
        "dry_run": False,
    }


@EACH_BOUND_OR_STOP
def test_search_counts_only_what_is_inside_bound(world: World, bound: Scope) -> None:
    api = api_for(bound, Permission.READ)
    kept = world.inside(bound)[::2]
    for mode in ("hybrid", "vector", "keyword"):
        answer = api.search("secret word", mode=mode, top_k=1000)
        assert {item["memory"]["id"] for item in answer["results"]} == {str(memory.uuid) for memory in kept}
        assert answer["count"] == answer["diagnostics"]["considered_count"] == len(kept)
        assert answer["diagnostics"]["matched_count"] == len(kept)
        assert answer["diagnostics"]["filtered_count"] == 0


@EACH_BOUND_OR_STOP
def test_filters_account_only_for_what_is_inside_bound(world: World, bound: Scope) -> None:
    answer = api_for(bound).search("secret", session_id="shared", project="none", min_similarity=0.9)
    diagnostics = answer["diagnostics"]
    assert answer["count"] == diagnostics["matched_count"] == 0
    assert diagnostics["filtered_count"] == diagnostics["considered_count"] == len(world.inside(bound)[::2])


@EACH_BOUND_OR_STOP
def test_the_word_of_another_scope_is_not_found(world: World, bound: Scope) -> None:
    api = api_for(bound)
    for memory in world.outside(bound)[::2]:
        answer = api.search(sentinel(memory.scope), mode="keyword")
        assert (answer["count"], answer["diagnostics"]["matched_count"]) == (0, 0)


@EACH_BOUND_OR_STOP
def test_events_their_totals_and_filters_know_only_what_is_inside_bound(world: World, bound: Scope) -> None:
    api = api_for(bound, Permission.READ)
    inside = sorted(str(memory.uuid) for memory in world.inside(bound)[::2])
    everything: dict[str, Any] = {"any": [{"user_id": {"exists": True}}, {"not": {"metadata.word": "x"}}]}
    page = api.get(f"{EVENTS}?count=true&filter={quote(json.dumps(everything))}").json()
    assert sorted(item["id"] for item in page["results"]) == inside
    assert (page["total"], page["next"], page["previous"]) == (len(inside), None, None)
    foreign = {"id": {"in": [str(memory.uuid) for memory in world.outside(bound)]}}
    for where, matched in ((everything, len(inside)), (foreign, 0)):
        answer = api.post("/api/episodic/query", {"filter": where}).json()
        assert answer["count"] == answer["diagnostics"]["matched_count"] == matched
        assert answer["diagnostics"]["considered_count"] == len(inside)


@EACH_BOUND
def test_an_export_holds_exactly_what_is_inside_bound(world: World, bound: Scope) -> None:
    api = api_for(bound, Permission.READ)
    answer = api.get("/api/export?vectors=true")
    lines = [json.loads(line) for line in answer.content.splitlines()]
    inside = sorted(str(memory.uuid) for memory in world.inside(bound))
    found = {kind: sorted(line["uuid"] for line in lines if line["kind"] == kind) for kind in ("memory", "event")}
    assert world.leaked(bound, answer) == []
    assert found["memory"] == inside
    assert len(found["event"]) == len(world.inside(bound)[::2])
    assert {line["kind"] for line in lines} <= {
        "header",
        "membership",
        "memory",
        "event",
        "given_answer",
        "receipt",
        "note",
        "compaction",
        "knowledge_source",
        "store_item",
        "end",
    }
    for memory in world.outside(bound)[:2]:
        asked = "&".join(f"{name}={value}" for name, value in memory.scope.named().items())
        assert [json.loads(line)["kind"] for line in api.get(f"/api/export?{asked}").content.splitlines()] == [
            "header",
            "end",
        ]


@EACH_BOUND_OR_STOP
def test_a_store_is_reached_by_its_owner_alone(world: World, bound: Scope) -> None:
    api, before = api_for(bound), stored()
    words = {scope: sentinel(scope) for scope in SCOPES} | {Scope(user): own_word(user) for user in NOTED}
    place, whole = {"namespace": ["shared"], "key": "key"}, {"op": "search", "namespace": [], "limit": 100}
    for owner, word in words.items():
        named = owner.named()
        reads = [whole, {**whole, "query": word}, {"op": "get", **place}, {"op": "list"}]
        answer = api.post("/api/store", {**named, "operations": reads})
        assert world.leaked(bound, answer) == []
        if bound.contains(owner):
            assert answer.content.decode().count(word) == 8
            continue
        assert word not in answer.content.decode()
        # A user alone is, for a key of a household, that user there: whoever is inside has a store of their own.
        if bound.intersect(owner) is None:
            assert answer.status_code in {403, 404}
            assert api.post("/api/store", {**named, "operations": [{"op": "delete", **place}]}).status_code == 403
    assert stored() == before


def test_only_an_operator_exports_everything(world: World) -> None:
    unbound = api_for(Scope(), Permission.READ)
    assert unbound.get("/api/export").status_code == 403
    assert unbound.get("/api/export?user_id=ana").status_code == 200
    everything = api_for(Scope(), Permission.OPERATOR).get("/api/export").content.decode()
    assert all(sentinel(memory.scope) in everything for memory in world.memories)


@EACH_BOUND_OR_STOP
def test_cursor_of_a_foreign_event_answers_like_one_of_nothing(world: World, bound: Scope) -> None:
    api, moment = api_for(bound, Permission.READ), 1772582400000000
    nothing = api.get(f"{EVENTS}?cursor=older-{NOWHERE}_{moment}")
    assert nothing.status_code == 404
    for memory in world.outside(bound)[::2]:
        assert same(api.get(f"{EVENTS}?cursor=older-{memory.uuid}_{moment}"), nothing)


@EACH_BOUND_OR_STOP
def test_status_counts_only_what_is_inside_bound(world: World, bound: Scope) -> None:
    assert api_for(bound).get("/api/semantic/status").json()["count"] == len(world.inside(bound)[::2])


@EACH_BOUND_OR_STOP
@pytest.mark.parametrize("name", ["user_id", "household_id", "persona_id"])
def test_lists_of_names_count_only_what_is_inside_bound(world: World, bound: Scope, name: str) -> None:
    api, kept = api_for(bound, Permission.READ), world.inside(bound)[::2]
    counts = Counter(getattr(memory.scope, name) for memory in kept)
    listed = api.get(f"/api/{name.removesuffix('_id')}s?count=true").json()
    expected = [
        {"id": value, "memories": count, "inactive_memories": count, "events": count}
        for value, count in sorted(counts.items())
    ]
    assert listed == {"results": expected, "next": None, "previous": None, "total": len(expected)}
    nothing = api.get(f"/api/{name.removesuffix('_id')}s?cursor=older-{NOWHERE}")
    for foreign in {getattr(memory.scope, name) for memory in world.outside(bound)} - set(counts):
        cursor = f"older-{name_id(foreign)}"
        assert same(api.get(f"/api/{name.removesuffix('_id')}s?cursor={cursor}"), nothing)


@EACH_BOUND
def test_figures_of_a_user_are_those_inside_bound(world: World, bound: Scope) -> None:
    api = api_for(bound, Permission.READ)
    for user in ("ana", "ben", "nobody"):
        kept = [memory for memory in world.inside(bound)[::2] if memory.user_id == user]
        answer = api.get(f"/api/users/{user}")
        if not kept:
            assert same(answer, api.get("/api/users/nothing"))
            continue
        figures = answer.json()
        assert (figures["memories"]["active"], figures["memories"]["deleted"], figures["events"]) == (len(kept),) * 3
        mine = [memory.pk for memory in world.inside(bound) if memory.user_id == user]
        waiting = Conflict.objects.filter(state="open", candidate__in=mine).count()
        assert figures["conflicts"]["open"] == waiting >= len(kept)
        assert figures["households"] == len({memory.household_id for memory in kept})
        assert (figures["sessions"], figures["projects"]) == (1, 0)


@EACH_BOUND_OR_STOP
def test_sessions_count_only_what_is_inside_bound(world: World, bound: Scope) -> None:
    count = len(world.inside(bound)[::2])
    expected = [{"id": "shared", "memories": count, "inactive_memories": count}] if count else []
    assert api_for(bound).get("/api/sessions?count=true").json()["results"] == expected
    assert api_for(bound).get("/api/projects?count=true").json()["total"] == 0


@EACH_BOUND
def test_what_read_asks_for_narrows_bound_and_never_widens_it(world: World, bound: Scope) -> None:
    api = api_for(bound)
    for asked in SCOPES:
        query = "&".join(f"{name}={value}" for name, value in asked.named().items())
        listed = api.get(f"{MEMORIES}?{query}")
        found = api.search("secret", **asked.named())
        expected = [str(memory.uuid) for memory in world.inside(bound)[::2] if memory.scope == asked]
        assert [item["id"] for item in listed.json()["results"]] == expected
        assert [item["memory"]["id"] for item in found["results"]] == expected
        assert found["diagnostics"]["considered_count"] == len(expected)


@pytest.mark.parametrize("name", ["user_id", "household_id", "persona_id"])
def test_asking_outside_bound_answers_like_asking_for_nobody(world: World, name: str) -> None:
    bound = {"user_id": "ana", "household_id": "home", "persona_id": "chef"}
    there = {"user_id": "ben", "household_id": "away", "persona_id": "nurse"}[name]
    api = api_for(Scope(**{name: bound[name]}))
    assert same(api.get(f"{MEMORIES}?{name}={there}"), api.get(f"{MEMORIES}?{name}=nobody"))
    assert quiet(api.search("secret", **{name: there})) == quiet(api.search("secret", **{name: "nobody"}))


@EACH_BOUND
def test_a_write_outside_the_bound_is_refused(world: World, bound: Scope) -> None:
    api = api_for(bound)
    before = stored()
    for scope in SCOPES:
        named = bound.named()
        if any(value != named.get(name, value) for name, value in scope.named().items()):
            response = api.post(MEMORIES, {"content": "intruder", **scope.named()})
            assert response.status_code == 403
            assert response.json()["errors"][0]["attr"] in named
            assert world.leaked(bound, response) == []
    assert stored() == before


def test_a_write_takes_its_scope_from_the_bound(world: World) -> None:
    memory = api_for(Scope("ana", "home", "chef")).save("mine")
    assert (memory["user_id"], memory["household_id"], memory["persona_id"]) == ("ana", "home", "chef")


def test_item_of_batch_that_is_outside_bound_fails_alone(world: World) -> None:
    api = api_for(Scope(user_id="ana"))
    content = world.kept()[-1].content
    items = [{"content": content, "user_id": "ben"}, {"content": content}, {"content": content, "user_id": "nobody"}]
    results = api.post(f"{MEMORIES}/batch", {"memories": items}).json()["results"]
    assert [item["status"] for item in results] == [403, 201, 403]
    assert results[0] == results[2]
    assert Memory.objects.filter(user_id="nobody").count() == 0


@EACH_BOUND
def test_content_that_another_scope_has_is_new_here(world: World, bound: Scope) -> None:
    before = {memory.pk: memory.version for memory in Memory.objects.all()}
    scope = {"user_id": "dora", **bound.named()}
    api = api_for(bound)
    for other in world.outside(bound)[::2]:
        answer = api.post(MEMORIES, {"content": other.content, "confidence": 1.0, **scope}).json()
        assert (answer["action"], answer["reason"]) == ("inserted", "unique_hash")
    assert {memory.pk: memory.version for memory in Memory.objects.filter(pk__in=before)} == before


def test_content_of_deleted_memory_is_new_and_does_not_bring_it_back(world: World) -> None:
    dropped = world.memories[1]
    scope = dropped.scope.named()
    answer = api_for(dropped.scope).post(MEMORIES, {"content": dropped.content, **scope}).json()
    assert answer["action"] == "inserted"
    assert answer["memory"]["id"] != str(dropped.uuid)


def test_history_of_memory_holds_its_own_steps_only(world: World) -> None:
    memory = world.memories[1]
    steps = api_for(memory.scope).get(f"{MEMORIES}/{memory.uuid}/history").json()
    assert [step["action"] for step in steps["results"]] == ["created", "deleted"]
    assert steps["count"] == MemoryRevision.objects.filter(memory=memory).count()


# --- a key that a person has stopped -----------------------------------------------------------------


def is_stopped(response: HttpResponse) -> bool:
    """Whether an answer says that the person has stopped the key."""
    return (response.status_code, response.json()["errors"][0]["code"]) == (403, "access_stopped")


@EACH_STOP
def test_what_names_who_stopped_a_key_is_refused(world: World, bound: Scope) -> None:
    api, before = api_for(bound), stored()
    for path in (MEMORIES, EVENTS, "/api/semantic/conflicts", "/api/households", "/api/export", "/api/sessions"):
        assert is_stopped(api.get(f"{path}?user_id=ana")), path
    for path in ("/api/users/ana", "/api/semantic/conflicts?user_id=ana"):
        assert is_stopped(api.get(path)), path
    for path, body in ((SEARCH, {"query": "secret"}), ("/api/episodic/query", {}), (MEMORIES, {"content": "tea"})):
        assert is_stopped(api.post(path, {**body, "user_id": "ana"})), path
    items = [{"content": "tea", "user_id": user} for user in ("ana", "ben")]
    results = api.post(f"{MEMORIES}/batch", {"memories": items}).json()["results"]
    assert [item["status"] for item in results] == [403, 201]
    Memory.objects.filter(content="tea").delete()
    assert stored()["semantic_memory"] == before["semantic_memory"]


def test_notes_and_conversations_of_who_stopped_a_key_are_refused(world: World) -> None:
    api = api_for(Scope(without=("ana",)))
    named = [
        operation for operation in ABOUT_MEMORIES if operation.route.startswith(("api/memory/", "api/auto-memory/"))
    ]
    for operation in named:
        if isinstance(operation.body, dict) and "user_id" in operation.body:
            assert is_stopped(operation.call(api)), str(operation)
    for place in ("main", "daily", "daily/2026-03-04", "versions", "status", "config", "search"):
        further = {"search": "&q=tea", "versions": "&path=MEMORY.md"}.get(place, "")
        answer = api.get(f"/api/memory/{place}?user_id=ana{further}")
        assert is_stopped(answer), (place, answer.content)
    said = {"user_id": "ana", "messages": [{"role": "user", "content": "I like tea."}]}
    assert is_stopped(api.post("/api/auto-memory/sessions/chat/messages", said))


def test_a_key_whose_own_person_stopped_it_can_do_nothing(world: World) -> None:
    bounds = (Scope("ana", without=("ana",)), Scope("ana", "home", without=("ana",)))
    keys = [(bound, api_for(bound, reads=("ben",))) for bound in bounds]
    before = stored()
    for bound, api in keys:
        for operation in ABOUT_MEMORIES:
            answer = operation.call(api, world.memories[0].uuid)
            assert answer.status_code in {403, 405}, str(operation)
            assert world.leaked(bound, answer) == [], str(operation)
            assert is_stopped(answer) or operation.route.startswith(("api/rules", "api/sync")), str(operation)
    after = stored()
    assert {name for name in after if after[name] != before[name]} <= {"core_apikey"}


def test_an_owner_who_was_granted_stops_the_key_too(world: World) -> None:
    api = api_for(Scope("ben", without=("ana",)), reads=("ana", "cem"))
    theirs = [memory for memory in world.kept() if memory.user_id == "ana"]
    assert all(api.get(f"{MEMORIES}/{memory.uuid}").status_code == 404 for memory in theirs)
    found = api.post(SEARCH, {"query": "secret word", "include": ["ana", "cem"], "limit": 1000}).json()
    assert {item["memory"]["user_id"] for item in found["results"]} == {"ben"}
    own = [memory for memory in world.kept() if memory.user_id == "ben"]
    assert found["diagnostics"]["considered_count"] == len(own)


def test_an_operator_key_finds_no_way_around_a_stop(world: World) -> None:
    operator, other = api_for(Scope(without=("ana",)), Permission.OPERATOR), api_for(Scope("ben"))
    assert other.get(MEMORIES).status_code == 200
    assert is_stopped(operator.post("/api/keys", {"name": "new", "user_id": "ana"}))
    assert is_stopped(operator.post("/api/keys", {"name": "new", "user_id": "ben", "reads": ["ana"]}))
    made = operator.post("/api/keys", {"name": "new", "unbound": True}).json()
    assert made["stopped_by"] == ["ana"]
    assert is_stopped(Api(made["key"]).get(f"{MEMORIES}?user_id=ana"))
    there = next(key["id"] for key in operator.get("/api/keys").json()["results"] if key["user_id"] == "ben")
    assert is_stopped(operator.post(f"/api/keys/{there}/rotate", {"overlap_seconds": 0}))
    assert is_stopped(operator.patch(f"/api/keys/{there}", {"reads": ["ana"]}))
    assert is_stopped(operator.post("/api/erasures", {"user_id": "ana"}))
    everything = operator.get("/api/export")
    assert world.leaked(Scope(without=("ana",)), everything) == []
    assert sentinel(SCOPES[-1]) in everything.content.decode()


# --- what a key is granted besides its bound ------------------------------------------------------------

INSIDE_ONLY = ("/manifest", "/files", "/checkpoints", "/changes")
BY_ID = ("api/semantic/memories/<uuid:uuid>", "api/episodic/events/<uuid:uuid>")


@EACH_GRANT
def test_a_grant_lets_a_key_read_by_id_and_nothing_else(world: World, bound: Scope, reads: tuple[str, ...]) -> None:
    api = api_for(bound, reads=reads)
    before = stored()
    granted = [memory for memory in world.outside(bound) if memory not in world.outside(bound, reads)]
    assert granted
    for operation in WITH_MEMORY_ID:
        nothing = operation.call(api)
        for memory in world.outside(bound, reads):
            assert same(operation.call(api, memory.uuid), nothing)
        for memory in granted:
            answer = operation.call(api, memory.uuid)
            is_kept = memory in world.kept()
            if operation.route.startswith("api/sync/") and memory.uuid in world.sources:
                # Items and runs are shared, not how they are kept. The repository cannot be read here.
                expected = {200, 400, 503} if operation.method == "GET" else {403}
                if operation.route.endswith(INSIDE_ONLY):
                    expected = {403}
                if operation.route.startswith("api/sync/conflicts/"):
                    expected = {404}
                assert answer.status_code in expected, str(operation)
                assert world.leaked(bound, answer, reads) == []
            elif operation.method == "GET" and operation.route in BY_ID and is_kept:
                assert (answer.status_code, answer.json()["id"]) == (200, str(memory.uuid))
            else:
                assert same(answer, nothing)
    assert stored() == before


@EACH_GRANT
def test_a_grant_changes_no_byte_where_no_owner_is_included(world: World, bound: Scope, reads: tuple[str, ...]) -> None:
    plain, granted = api_for(bound), api_for(bound, reads=reads)
    for operation in ABOUT_MEMORIES:
        if not operation.has_id and not operation.is_write and operation.route != "api/export":
            one, other = operation.call(plain), operation.call(granted)
            assert (without_time(one), one.status_code) == (without_time(other), other.status_code), str(operation)
            assert world.leaked(bound, other) == []


@EACH_GRANT
@pytest.mark.parametrize("include", [("ana", "ben", "cem", "nobody"), ("ben",), ()])
def test_what_is_included_is_found_only_as_far_as_it_is_granted(
    world: World, bound: Scope, reads: tuple[str, ...], include: tuple[str, ...]
) -> None:
    api = api_for(bound, Permission.READ, reads=reads)
    granted = set(reads) & set(include) | ({"ana"} & set(include) if bound == Scope("ana") else set())
    seen = [memory for memory in world.readable(bound, granted) if memory in world.kept()]
    ids = {str(memory.uuid) for memory in seen}
    for mode in ("hybrid", "vector", "keyword"):
        answer = api.post(SEARCH, {"query": "secret word", "mode": mode, "include": include, "limit": 1000})
        assert {item["memory"]["id"] for item in answer.json()["results"]} == ids
        assert answer.json()["diagnostics"]["considered_count"] == len(seen)
        assert world.leaked(bound, answer, granted) == []
    for memory in world.outside(bound, granted)[::2]:
        assert api.search(sentinel(memory.scope), mode="keyword", include=include)["count"] == 0
    query = api.post("/api/episodic/query", {"include": include})
    assert {item["id"] for item in query.json()["results"]} == ids
    assert query.json()["diagnostics"]["considered_count"] == len(seen)
    if include:
        for path in (MEMORIES, EVENTS):
            page = api.get(f"{path}?include={','.join(include)}&count=true")
            assert {item["id"] for item in page.json()["results"]} == ids
            assert page.json()["total"] == len(seen)
            assert world.leaked(bound, page, granted) == []


@EACH_GRANT
def test_no_status_lists_what_is_deleted_or_expired_of_an_included_owner(
    world: World, bound: Scope, reads: tuple[str, ...]
) -> None:
    api = api_for(bound, Permission.READ, reads=reads)
    granted = [memory for memory in world.outside(bound) if memory.user_id in reads]
    expired, dropped = granted[:2]
    Memory.objects.filter(pk=expired.pk).update(expires_at=datetime(2020, 1, 1, tzinfo=UTC))
    readable = [memory for memory in world.readable(bound, reads) if memory.pk != expired.pk]
    lists = {f"status={status}": {status} for status in MemoryStatus.values}
    lists[f"filter={quote(json.dumps({'status': {'in': MemoryStatus.values}}))}"] = set(MemoryStatus.values)
    for asked, statuses in lists.items():
        page = api.get(f"{MEMORIES}?include={','.join(reads)}&count=true&limit=100&{asked}").json()
        kept = [memory for memory in readable if memory in world.kept() and "active" in statuses]
        own = [memory for memory in world.inside(bound) if memory not in world.kept() and "deleted" in statuses]
        assert {item["id"] for item in page["results"]} == {str(memory.uuid) for memory in (*kept, *own)}
        assert page["total"] == len(kept) + len(own)
    for hidden in (expired, dropped):
        gone = api.get(f"{MEMORIES}?include={','.join(reads)}&cursor={Cursor('older', hidden.uuid)}")
        unknown = api.get(f"{MEMORIES}?include={','.join(reads)}&cursor={Cursor('older', uuid4())}")
        assert (gone.status_code, same(gone, unknown)) == (404, True)


def without_time(response: HttpResponse) -> str:
    """The body of an answer without what changes by itself.

    That is what it took, a confidence, which fades while one looks, the boundary that a prompt draws, and the id of a
    context.
    """
    text = re.sub(r'"(took_ms|latency_ms|duration_ms|confidence)": ?[0-9.e-]+', "", response.content.decode())
    text = re.sub(r'"id":"[0-9a-f-]{36}","as_of":"[^"]+"', "", text)
    return re.sub(r"=====[0-9a-f]{32}=====", "", text)


# --- what others do changes nothing -------------------------------------------------------------------


def quiet(answer: dict[str, Any]) -> bytes:
    """An answer of a search without the time that it took."""
    answer["diagnostics"].pop("took_ms")
    return json.dumps(answer, sort_keys=True).encode()


def everything_seen(api: Api) -> list[bytes]:
    """The answers to all that a key can read, byte for byte."""
    vector = [float(number) for number in embed_texts(["green tea"])[0]]
    questions: list[dict[str, Any]] = [
        {"query": "green tea in the morning", "mode": mode, "explain": True} for mode in ("hybrid", "keyword", "vector")
    ]
    questions += [{"embedding": vector, "explain": True}, {"query": "tea", "min_similarity": 0.1, "last_days": 1}]
    questions += [{"query": "summer", "mode": "keyword", "explain": True}, {"query": "zebra", "explain": True}]
    seen = [quiet(api.search(**question)) for question in questions]
    lists = ["", "?limit=2", "?status=deleted", "?project=x", "?session_id=s"]
    seen += [api.get(MEMORIES + query).content for query in lists]
    for item in api.get(MEMORIES).json()["results"]:
        seen += [api.get(f"{MEMORIES}/{item['id']}{tail}").content for tail in ("", "/history")]
    return [*seen, api.get("/api/semantic/status").content]


OWN = ["Green tea in the morning", "Where did you spend the summer?", "In a hut by the lake", "Tea is better than milk"]


def fill(scope: Scope, texts: list[str]) -> None:
    drafts = [MemoryDraft(text, scope=scope, session_id="s", project="x") for text in texts]
    memory_save_many(access=SYSTEM, drafts=drafts)


def test_what_others_read_and_delete_changes_no_byte_of_any_answer(world: World) -> None:
    fill(Scope("eve"), OWN)
    api = api_for(Scope(user_id="eve"))
    before = everything_seen(api)
    everybody = api_for(Scope())
    for memory in world.kept():
        everybody.post(f"{MEMORIES}/{memory.uuid}/reinforce")
        everybody.delete(f"{MEMORIES}/{memory.uuid}")
    assert everything_seen(api) == before


def test_reads_without_bound_see_all_and_those_of_household_all_its_people(world: World) -> None:
    everybody, household = api_for(Scope()), api_for(Scope(household_id="home"))
    assert everybody.search("secret", top_k=1000)["count"] == len(SCOPES)
    answer = household.search("secret", top_k=1000)
    assert {item["memory"]["user_id"] for item in answer["results"]} == {"ana", "ben"}
    assert {item["memory"]["household_id"] for item in answer["results"]} == {"home"}
    assert household.search("secret", user_id="ben")["diagnostics"]["considered_count"] == 2


def test_search_without_match_tells_nothing_of_what_was_refused(world: World) -> None:
    api = api_for(Scope(user_id="cem"))
    answer = api.post(SEARCH, {"query": sentinel(SCOPES[0]), "explain": True}).json()
    assert answer["results"] == []
    assert answer["diagnostics"]["considered_count"] == 0
    assert answer["diagnostics"]["filtered"] == {}
