"""No key writes into, or reads from, a household or persona that its user does not belong to (DESIGN D24).

The write walk: every operation that takes a scope, every kind of key that is bound to no stranger, and every way to
name what is foreign, what does not exist, what looks alike, and what mixes one's own with another's.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any
from urllib.parse import urlencode

import pytest
from django.http import HttpResponse
from django.test import Client

from apps.accounts.services import person_create
from apps.core.db.memberships import ties_make
from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.scope import Permission, Scope
from apps.core.models import Membership
from apps.people.services import connection_answer, connection_fetch, connection_request
from tests.api import MEMORIES, Api, Lines, api_for, contents
from tests.hostile.support import stored

pytestmark = pytest.mark.django_db

# What there is of others, who live in `h1` and speak with `p1`; and what there is not.
FOREIGN, UNKNOWN = {"household_id": "h1", "persona_id": "p1"}, {"household_id": "h0", "persona_id": "p0"}
LOOKALIKES = (
    "{}\u200b", "\ufeff{}", "{}\u00ad", "{}\u0301", "\uff48{}", "{} ", " {}", "{}\n", "{}\t", "{}/", "./{}", "{}%00",
    "{}'--", "*", "%", "_", "{}*", "h\uff11", "H1", "P1", "h1,h2", "[\"h1\"]", "null", "",
)  # fmt: skip
MOMENT = "2026-03-04T12:00:00Z"


@dataclass(frozen=True)
class Write:
    """An operation that takes a scope: how it is called with one."""

    name: str
    method: str
    path: str
    body: Any = None
    in_query: bool = False
    lines: bool = False
    tool: str = ""
    items: str = ""

    def call(self, api: Api, named: dict[str, Any]) -> HttpResponse:
        """Call it with identifiers in the place where the operation takes them."""
        if self.in_query:
            return api.call(self.method, f"{self.path}?{urlencode(named)}", self.body)
        if self.tool:
            return api.post(self.path, {"text": f"[[ABP_TOOL:{self.tool}]]{json.dumps({**self.body, **named})}"})
        body = {**(self.body or {}), **named}
        if self.lines:
            return api.call(self.method, self.path, Lines([body]))
        return api.call(self.method, self.path, {self.items: [body]} if self.items else body)


CODE = "The front door code of the house is 0000"
EVENT = {"timestamp": MOMENT, "event_type": "message", "content": CODE}
SAID = {"messages": [{"role": "user", "content": f"Remember that {CODE}"}]}
WRITES = (
    Write("save", "POST", MEMORIES, {"content": CODE}),
    Write("save a global one", "POST", MEMORIES, {"content": CODE, "global": True}),
    Write("save a batch", "POST", f"{MEMORIES}/batch", {"content": CODE}, items="memories"),
    Write("record", "POST", "/api/episodic/events", EVENT),
    Write("record a batch", "POST", "/api/episodic/events/batch", EVENT, items="events"),
    Write("import events", "POST", "/api/episodic/events/import", EVENT, lines=True),
    Write("tool memory_save", "POST", "/api/llm/tools/execute", {"content": CODE}, tool="memory_save"),
    Write("tool event_record", "POST", "/api/llm/tools/execute", EVENT, tool="event_record"),
    Write("say", "POST", "/api/auto-memory/sessions/chat-7/messages", SAID),
    Write("end a session", "POST", "/api/auto-memory/sessions/chat-7/events", {"type": "session.end"}),
    Write("note", "POST", "/api/memory/main/entries", {"entry": CODE}),
    Write("note of a day", "POST", "/api/memory/daily/entries", {"entry": CODE}),
    Write("write MEMORY.md", "PUT", "/api/memory/main", {"text": CODE}),
    Write("settings of notes", "PATCH", "/api/memory/config", {"enabled": False}),
    Write("compact", "POST", "/api/auto-memory/compact", {}),
    Write("belong", "POST", "/api/memberships", {}),
    Write("delete by filter", "POST", f"{MEMORIES}/delete", {"filter": {"type": {"exists": True}}}),
    Write("make a key", "POST", "/api/keys", {"name": "mine"}),
    Write("make a rule", "POST", "/api/rules", {"name": "mine"}),
    Write(
        "make a source", "POST", "/api/sync/sources", {"name": "s", "kind": "git", "location": "https://h.test/a.git"}
    ),
    Write("forget a person", "POST", "/api/erasures", {}),
)
READS = (
    Write("search", "POST", "/api/semantic/search", {"query": "code"}),
    Write("query", "POST", "/api/episodic/query", {}),
    Write("prompt", "POST", "/api/memory/prompt", {"message": "code", "include_memories": True}),
    Write("list", "GET", MEMORIES, in_query=True),
    Write("list events", "GET", "/api/episodic/events", in_query=True),
    Write("list receipts", "GET", "/api/semantic/conflicts", in_query=True),
    Write("list memberships", "GET", "/api/memberships", in_query=True),
    Write("households", "GET", "/api/households", in_query=True),
    Write("personas", "GET", "/api/personas", in_query=True),
    Write("users", "GET", "/api/users", in_query=True),
    Write("export", "GET", "/api/export", in_query=True),
    Write("tool memory_search", "POST", "/api/llm/tools/execute", {"query": "code"}, tool="memory_search"),
    Write("tool event_query", "POST", "/api/llm/tools/execute", {}, tool="event_query"),
)


def connected_app(user: str) -> Api:
    """An app that a person connected by a code, without an operator."""
    codes = connection_request(name="app of mal", permission=Permission.WRITE, address="::1")
    connection_answer(uuid=codes.request.uuid, user_id=user, permission=Permission.WRITE)
    return Api(connection_fetch(device_code=codes.device_code)[1])


KEYS: dict[str, Any] = {
    "a user": partial(api_for, Scope("mal")),
    "a user in a household": partial(api_for, Scope("mal", "h2")),
    "a user with a persona": partial(api_for, Scope("mal", None, "p2")),
    "all three": partial(api_for, Scope("mal", "h2", "p2")),
    "another household": partial(api_for, Scope(household_id="h2")),
    "another persona": partial(api_for, Scope(persona_id="p2")),
    "a household with a persona": partial(api_for, Scope(household_id="h2", persona_id="p2")),
    "a user who may read the owner": partial(api_for, Scope("mal"), reads=("ana",)),
    "a reader": partial(api_for, Scope("mal"), Permission.READ),
}


def foreign_scopes() -> Iterator[dict[str, Any]]:
    """Yield what a key of `mal`, `h2` or `p2` names that is not theirs, and what does not exist beside it."""
    for names in ({"household_id"}, {"persona_id"}, {"household_id", "persona_id"}):
        for known in (FOREIGN, UNKNOWN):
            named = {name: known[name] for name in sorted(names)}
            yield named
            for user in ("mal", "ana"):
                yield {"user_id": user, **named}
    yield {"household_id": "h1", "persona_id": "p2"}
    yield {"household_id": "h2", "persona_id": "p1"}
    yield {"user_id": "ana", "household_id": "h2"}
    yield {"user_id": "ana", "persona_id": "p2"}
    for form, name in product(LOOKALIKES, FOREIGN):
        yield {name: form.format(FOREIGN[name])}


@pytest.fixture
def home() -> Api:
    """The key of a household in which Ana lives, who speaks with p1; Mal lives in h2, and speaks with p2."""
    operator = api_for(Scope(), Permission.OPERATOR)
    for user, household, persona in (("ana", "h1", "p1"), ("mal", "h2", "p2")):
        for named in ({"household_id": household}, {"persona_id": persona}):
            operator.save(f"{user} drinks tea in {named}", user_id=user, **named)
            operator.post("/api/episodic/events", {**EVENT, "content": f"{user} came home", "user_id": user, **named})
    return api_for(Scope(household_id="h1"), name="kitchen of h1")


def others() -> dict[str, list[Any]]:
    """All that is stored in the household and with the persona of others."""
    return {
        table: [row for row in rows if re.search(r'"household_id": "h1"|"persona_id": "p1"', row)]
        for table, rows in stored().items()
        if table not in {"core_keyday", "core_apikey"}
    }


def seen(api: Api) -> list[bytes]:
    """What the household's own key reads."""
    paths = (MEMORIES, "/api/episodic/events", "/api/households", "/api/personas", "/api/users", "/api/memberships")
    return [api.get(path).content for path in paths]


def refusal(answer: HttpResponse, named: dict[str, Any]) -> tuple[int, str]:
    """An answer without what the caller said itself."""
    said = answer.content.decode()
    for value in sorted((str(value) for value in named.values() if value), key=len, reverse=True):
        said = said.replace(json.dumps(value)[1:-1], "…").replace(value, "…")
    # How long it took, and the records of the caller's own calls.
    return answer.status_code, re.sub(r'"took_ms":[0-9.]+|{"kind":"audit_entry".*|{"kind":"end".*', "", said).strip()


@pytest.mark.parametrize("kind", KEYS)
def test_no_key_writes_where_its_user_does_not_belong(home: Api, kind: str) -> None:
    api = KEYS[kind]()
    before, shown = others(), seen(home)
    requests = list(product(WRITES, foreign_scopes()))
    assert len(requests) > 1_000  # of each kind of key, so that all of them are more than 9,000
    for write, named in requests:
        answer = write.call(api, named)
        assert answer.status_code < 500, (write.name, named)
    assert others() == before
    assert seen(home) == shown
    assert not Membership.objects.filter(user_id="mal", household_id="h1").exists()
    assert not Membership.objects.filter(user_id="mal", persona_id="p1").exists()


@pytest.mark.parametrize("kind", KEYS)
def test_what_is_foreign_is_answered_like_what_does_not_exist(home: Api, kind: str) -> None:
    api = KEYS[kind]()
    for operation in (*WRITES, *READS):
        for names in (["household_id"], ["persona_id"], ["household_id", "persona_id"]):
            for user in ({}, {"user_id": "mal"}):
                both = [{**user, **{name: known[name] for name in names}} for known in (FOREIGN, UNKNOWN)]
                foreign, unknown = (refusal(operation.call(api, named), named) for named in both)
                assert foreign == unknown, (operation.name, names)


def test_a_connected_app_writes_into_no_household_of_others(home: Api) -> None:
    app = connected_app("mal")
    assert app.post(MEMORIES, {"content": CODE}).status_code == 201
    refused = app.post(MEMORIES, {"content": CODE, "household_id": "h1"})
    assert refused.status_code == 403
    assert CODE not in contents(home.search("front door code"))
    assert app.post(MEMORIES, {"content": f"{CODE}!", "household_id": "h2"}).status_code == 201


def test_pages_of_a_writer_show_no_key_of_others(home: Api) -> None:
    login = person_create(username="mallory", person_id="mal")
    operator = api_for(Scope(), Permission.OPERATOR, name="operator of the hub")
    operator.save(CODE, user_id="mal", household_id="h1")
    Membership.objects.filter(user_id="mal", household_id="h1").update(state="foreign")
    browser = Client()
    browser.force_login(login)
    for path in ("/apps/", "/household/"):
        page = browser.get(path, follow=True).content.decode()
        assert "kitchen of h1" not in page, path
        assert ">ana<" not in page


def test_a_foreign_write_that_is_there_reaches_no_one(home: Api) -> None:
    api_for(Scope(), Permission.OPERATOR).save(CODE, user_id="mal", household_id="h1", persona_id="p1")
    Membership.objects.filter(user_id="mal").update(state="foreign")
    for api in (home, api_for(Scope(persona_id="p1")), api_for(Scope(household_id="h1", persona_id="p1"))):
        for operation in READS:
            assert b"front door" not in operation.call(api, {}).content, operation.name
    assert contents(api_for(Scope("mal")).search("door code"))[:1] == [CODE]


def test_a_tie_of_one_person_is_none_of_another(home: Api) -> None:
    ties_make([Scope("ana", "h2")], made_by="test", made_at=utcnow(SYSTEM_CLOCK))
    assert api_for(Scope("ana")).post(MEMORIES, {"content": "hello", "household_id": "h2"}).status_code == 201
    assert api_for(Scope("mal")).post(MEMORIES, {"content": "hello", "household_id": "h1"}).status_code == 403
    assert api_for(Scope("ben")).post(MEMORIES, {"content": "hello", "household_id": "h2"}).status_code == 403
