"""Bad input is a 4xx in the one error shape that names the field, and writes nothing (DESIGN D12)."""

import json
from typing import Any

import pytest
from django.http import HttpResponse

from apps.core.domain.scope import Permission, Scope
from apps.semantic.store.embedding_space import current_space
from tests.api import MEMORIES, SEARCH, Api, api_for
from tests.hostile.support import assert_refused, in_case, stored

pytestmark = pytest.mark.django_db

KEYS = "/api/keys"
BATCH = f"{MEMORIES}/batch"
UNIT = [1.0] + [0.0] * 383
NOWHERE = "00000000-0000-0000-0000-000000000000"
DEEP = 100_000
LONG = "x" * 201
INVISIBLE = ["", " ", "\t\n", "\u200b", "\ufeff\u00a0", "\x01", "\u00ad", "\u200b\u3164\u115f\u1160\uffa0"]
TEXT_FIELDS = ["agent", "personality", "project", "type", "session_id", "source", "context"]
SCOPE_FIELDS = ["user_id", "household_id", "persona_id"]


@pytest.fixture
def api() -> Api:
    """An operator of a hub that is prepared: nothing is refused for the key's sake."""
    current_space()
    return api_for(Scope(), Permission.OPERATOR)


def sample(**fields: Any) -> dict[str, Any]:
    return {"content": "tea", "user_id": "ana", **fields}


def question(**fields: Any) -> dict[str, Any]:
    return {"query": "tea", "user_id": "ana", **fields}


def key(**fields: Any) -> dict[str, Any]:
    return {"name": "an assistant", **fields}


def cases() -> dict[str, list[tuple[Any, str | None]]]:
    """Bodies and the field at fault, by path."""
    table: list[tuple[str, Any, str | None]] = [
        (MEMORIES, {"user_id": "ana"}, "content"),
        (MEMORIES, {"content": "whose?"}, "user_id"),
        (MEMORIES, sample(content="x" * 1_000_000), "content"),
        (MEMORIES, sample(content="x" * 100_001), "content"),
        (MEMORIES, sample(context="x" * 10_001), "context"),
        (MEMORIES, sample(source=""), "source"),
        (MEMORIES, sample(source="x" * 65), "source"),
        (MEMORIES, sample(decay_policy="forever"), "decay_policy"),
        (MEMORIES, sample(decay_policy="q" * 1_000_000), "decay_policy"),
        (MEMORIES, sample(decay_policy=["stable"]), "decay_policy"),
        (MEMORIES, sample(keywords="tea"), "keywords"),
        (MEMORIES, sample(keywords={"tea": 1}), "keywords"),
        (MEMORIES, sample(keywords=["tea", 1]), "keywords.1"),
        (MEMORIES, sample(keywords=["tea", ""]), "keywords.1"),
        (MEMORIES, sample(keywords=["x" * 101]), "keywords.0"),
        (MEMORIES, sample(keywords=["x"] * 51), "keywords"),
        (MEMORIES, sample(occurred_at="2023-05-08T13:56:00"), "occurred_at"),
        (MEMORIES, sample(occurred_at="2023-05-08"), "occurred_at"),
        (MEMORIES, sample(occurred_at="yesterday"), "occurred_at"),
        (MEMORIES, sample(occurred_at="2023-02-30T00:00:00Z"), "occurred_at"),
        (MEMORIES, sample(occurred_at="0001-01-01T00:00:00+23:59"), "occurred_at"),
        (MEMORIES, sample(occurred_at="9999-12-31T23:59:59-23:59"), "occurred_at"),
        (MEMORIES, sample(occurred_at=1683547000), "occurred_at"),
        (MEMORIES, sample(metadata=[1]), "metadata"),
        (MEMORIES, sample(metadata="{}"), "metadata"),
        (MEMORIES, sample(metadata={"a": "x" * 20_001}), "metadata"),
        (MEMORIES, sample(metadata={"x" * 20_001: 1}), "metadata"),
        (MEMORIES, sample(metadata={"a": list(range(20_000))}), "metadata"),
        (MEMORIES, sample(metadata={"a": "\x00"}), "metadata"),
        (MEMORIES, sample(metadata={"\x00": 1}), "metadata"),
        (MEMORIES, sample(metadata={"a": ["\ud800"]}), "metadata"),
        (MEMORIES, sample(**{"global": "yes"}), "global"),
        (MEMORIES, sample(**{"global": 1}), "global"),
        (MEMORIES, sample(embedding=UNIT[:-1]), "embedding"),
        (MEMORIES, sample(embedding=[*UNIT, 0.0]), "embedding"),
        (MEMORIES, sample(embedding=[]), "embedding"),
        (MEMORIES, sample(embedding=[0.0] * 384), "embedding"),
        (MEMORIES, sample(embedding=["1"] * 384), "embedding"),
        (MEMORIES, sample(embedding=[True] * 384), "embedding"),
        (MEMORIES, sample(embedding=[[1.0]] * 384), "embedding"),
        (MEMORIES, sample(embedding="AAAA"), "embedding"),
        (MEMORIES, sample(embedding={"0": 1}), "embedding"),
        (MEMORIES, sample(embedding=[10**400] * 384), "embedding"),
        (MEMORIES, sample(embedding=[0.5] * 20_000), "embedding"),
        (MEMORIES, sample(contents="tea"), "contents"),
        (MEMORIES, sample(id=NOWHERE), "id"),
        (MEMORIES, sample(status="deleted"), "status"),
        (MEMORIES, sample(is_global=True), "is_global"),
        (MEMORIES, sample(created_at="2023-05-08T13:56:00Z"), "created_at"),
        (MEMORIES, sample(**{"\x00": 1}), "\x00"),
        (MEMORIES, sample(**{"\ud800": 1}), "?"),
        (BATCH, {}, "memories"),
        (BATCH, {"memories": []}, "memories"),
        (BATCH, {"memories": {}}, "memories"),
        (BATCH, {"memories": None}, "memories"),
        (BATCH, {"memories": [sample()] * 1_001}, "memories"),
        (BATCH, {"memories": [sample()], "user_id": "ana"}, "user_id"),
        (SEARCH, {}, "query"),
        (SEARCH, {"user_id": "ana"}, "query"),
        (SEARCH, {"query": None}, "query"),
        (SEARCH, question(query=""), "query"),
        (SEARCH, question(query="  "), "query"),
        (SEARCH, question(query="x" * 10_001), "query"),
        (SEARCH, question(top_k=0), "top_k"),
        (SEARCH, question(top_k=-1), "top_k"),
        (SEARCH, question(top_k=10_000), "top_k"),
        (SEARCH, question(top_k=10**400), "top_k"),
        (SEARCH, question(top_k=1.5), "top_k"),
        (SEARCH, question(top_k="10"), "top_k"),
        (SEARCH, question(top_k=True), "top_k"),
        (SEARCH, question(top_k=None), "top_k"),
        (SEARCH, question(min_similarity=1.1), "min_similarity"),
        (SEARCH, question(min_similarity=-1.1), "min_similarity"),
        (SEARCH, question(min_similarity="0.5"), "min_similarity"),
        (SEARCH, question(min_confidence=2), "min_confidence"),
        (SEARCH, question(last_days=-1), "last_days"),
        (SEARCH, question(last_days=36_501), "last_days"),
        (SEARCH, question(last_days=7, time_window={"to": "2023-05-08T00:00:00Z"}), "last_days"),
        (SEARCH, question(time_window=[]), "time_window.non_field_errors"),
        (SEARCH, question(time_window="May"), "time_window.non_field_errors"),
        (SEARCH, question(time_window={"from": "2023-05-08T00:00:00"}), "time_window.from"),
        (SEARCH, question(time_window={"to": "2023-05-08"}), "time_window.to"),
        (
            SEARCH,
            question(time_window={"from": "2023-05-09T00:00:00Z", "to": "2023-05-08T00:00:00Z"}),
            "time_window.from",
        ),
        (SEARCH, question(time_window={"since": "2023-05-09T00:00:00Z"}), "time_window.since"),
        (SEARCH, question(mode="fuzzy"), "mode"),
        (SEARCH, question(mode=1), "mode"),
        (SEARCH, question(explain="true"), "explain"),
        (SEARCH, question(embedding=UNIT[:-1]), "embedding"),
        (SEARCH, question(embedding=[0] * 384), "embedding"),
        (SEARCH, {"embedding": UNIT, "mode": "hybrid"}, "query"),
        (SEARCH, {"embedding": UNIT, "mode": "keyword"}, "query"),
        (SEARCH, question(size=10), "size"),
        (KEYS, {}, "name"),
        (KEYS, key(name=""), "name"),
        (KEYS, key(name=" "), "name"),
        (KEYS, key(name="x" * 101), "name"),
        (KEYS, key(name=7), "name"),
        (KEYS, key(permissions=7), "permissions"),
        (KEYS, key(permissions={"read": True}), "permissions"),
        (KEYS, key(permissions=[]), "permissions"),
        (KEYS, key(permissions="admin"), "permissions.0"),
        (KEYS, key(permissions=["admin"]), "permissions.0"),
        (KEYS, key(permissions=["\ud800"]), "permissions.0"),
        (KEYS, key(permissions=["read"] * 4), "permissions"),
        (KEYS, key(permissions=["operator"], user_id="ana"), "permissions"),
        (KEYS, key(expires_at="2020-01-01T00:00:00Z", unbound=True), "expires_at"),
        (KEYS, key(expires_at="2099-01-01T00:00:00"), "expires_at"),
        (KEYS, key(key="k" * 40), "key"),
        (KEYS, key(), "unbound"),
        (KEYS, key(unbound=False), "unbound"),
        (KEYS, key(unbound="yes"), "unbound"),
        (f"{KEYS}/{NOWHERE}/rotate", {"overlap_seconds": -1}, "overlap_seconds"),
        (f"{KEYS}/{NOWHERE}/rotate", {"overlap_seconds": 2_592_001}, "overlap_seconds"),
        (f"{KEYS}/{NOWHERE}/rotate", {"key": "k" * 40}, "key"),
        (f"{MEMORIES}/{NOWHERE}/reinforce", {"by": 2}, "by"),
        (f"{MEMORIES}/{NOWHERE}/restore", {"force": True}, "force"),
    ]
    for path, body in ((MEMORIES, sample), (SEARCH, question), (KEYS, key)):
        for field in SCOPE_FIELDS:
            table += [(path, body(**{field: bad}), field) for bad in (*INVISIBLE, LONG, 7, ["ana"], {}, True)]
            table += [(path, body(**{field: bad}), field) for bad in ("a\x00", "a\ud800")]
    for field in TEXT_FIELDS:
        table += [(MEMORIES, sample(**{field: bad}), field) for bad in (1, None, [], {}, "a\x00", "a\ud800")]
    table += [(MEMORIES, sample(content=bad), "content") for bad in (*INVISIBLE, 1, None, [], {}, "a\x00", "a\ud800")]
    for field in ("agent", "personality", "project", "type", "session_id"):
        table += [(MEMORIES, sample(**{field: LONG}), field), (SEARCH, question(**{field: LONG}), field)]
    for field in ("importance", "confidence"):
        table += [(MEMORIES, sample(**{field: bad}), field) for bad in (-0.1, 1.1, "1", True, [], {}, 10**400)]
    for path in (MEMORIES, BATCH, SEARCH, KEYS):
        table += [(path, body, "non_field_errors") for body in ([], [sample()], "tea", 7, True)]
    found: dict[str, list[tuple[Any, str | None]]] = {}
    for path, body, field in table:
        found.setdefault(path, []).append((body, field))
    return found


@pytest.mark.parametrize(("path", "bad"), cases().items(), ids=cases())
def test_bad_input_names_field_and_writes_nothing(api: Api, path: str, bad: list[tuple[Any, str | None]]) -> None:
    before = stored()
    for number, (body, attr) in enumerate(bad):
        with in_case(f"{number}, {attr}: {str(body)[:200]}"):
            assert_refused(api.post(path, json.dumps(body)), 400, attr)
            assert stored() == before


RAW = [
    ("{", None),
    ("tea", None),
    ('{"content": "tea",}', None),
    ("{'content': 'tea'}", None),
    ('{"content": "tea"} {}', None),
    ('{"content": "a\nb"}', None),
    ('{"content": "\\x41"}', None),
    (b'\xff\xfe{"content": "tea"}', None),
    ('{"content": "tea"}'.encode("utf-16"), None),
    (b'{"content": "\xc3\x28"}', None),
    (b'{"content": "\xed\xa0\x80"}', None),
    ('{"importance": NaN}', None),
    ('{"importance": Infinity}', None),
    ('{"embedding": [NaN]}', None),
    ('{"embedding": [-Infinity]}', None),
    ('{"importance": 1' + "0" * 5_000 + "}", None),
    ("[" * DEEP, None),
    ("[" * DEEP + "]" * DEEP, None),
    ('{"a":' * DEEP + "1" + "}" * DEEP, None),
    ('{"content": "tea", "user_id": "ana", "metadata": ' + '{"a":' * DEEP + "1" + "}" * DEEP + "}", None),
    ('{"content": "tea", "content": "coffee", "user_id": "ana"}', "content"),
    ('{"content": "tea", "user_id": "ana", "user_id": "ben"}', "user_id"),
    ('{"content": "tea", "user_id": "ana", "metadata": {"a": 1, "a": 2}}', "a"),
    ('{"content": "tea", "user_id": "ana", "importance": 1e999}', "importance"),
    ('{"content": "tea", "user_id": "ana", "metadata": {"a": 1e999}}', "metadata"),
    ('{"content": "tea", "user_id": "ana", "metadata": {"a": [{"b": -1e999}]}}', "metadata"),
    ('{"content": "tea", "user_id": "ana", "embedding": [' + "1e999," * 383 + "1]}", "embedding"),
    ('{"content": "tea", "user_id": "ana", "embedding": [' + "1e-400," * 383 + "0]}", "embedding"),
    ('{"content": "tea", "user_id": "ana", "decay_policy": "\\ud800"}', "decay_policy"),
    ('{"content": "\\ud800", "user_id": "ana"}', "content"),
    ('{"content": "\\u0000", "user_id": "ana"}', "content"),
    ('{"query": "\\udfff"}', "query"),
    ('{"query": "tea", "mode": "\\ud800"}', "mode"),
    ("null", "non_field_errors"),
]


@pytest.mark.parametrize(("body", "attr"), RAW, ids=range(len(RAW)))
def test_a_body_that_is_no_good_json_is_refused(api: Api, body: str | bytes, attr: str | None) -> None:
    path = SEARCH if b"query" in (body if isinstance(body, bytes) else body.encode()) else MEMORIES
    before = stored()
    assert_refused(api.post(path, body), 400, attr)
    assert stored() == before


@pytest.mark.parametrize("field", ["decay_policy", "keywords", "metadata", "content", "global", "embedding", "user_id"])
def test_no_depth_of_nesting_gets_past_the_checks(api: Api, field: str) -> None:
    for depth in (21, 64, 200, 500, 700, *range(800, 1000, 5), 1100):
        body = f'{{"content": "tea", "user_id": "ana", "{field}": {"[" * depth}{"]" * depth}}}'
        assert api.post(MEMORIES, body).status_code == 400


@pytest.mark.parametrize(("path", "field"), [(MEMORIES, "content"), (SEARCH, "query"), (KEYS, "name")])
@pytest.mark.parametrize("body", ["", "{}"])
def test_an_empty_body_lacks_the_required_field(api: Api, path: str, field: str, body: str) -> None:
    before = stored()
    assert_refused(api.post(path, body), 400, field)
    assert stored() == before


@pytest.mark.parametrize(
    "content_type", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "nonsense"]
)
@pytest.mark.parametrize("path", [MEMORIES, BATCH, SEARCH, KEYS])
def test_another_content_type_is_refused(api: Api, path: str, content_type: str) -> None:
    before = stored()
    headers = {"Authorization": f"Bearer {api.key}"}
    response = api.client.post(path, json.dumps(sample()).encode(), content_type=content_type, headers=headers)
    assert_refused(response, 415, None)
    assert stored() == before


@pytest.mark.parametrize("charset", ["utf-16", "rot13", "zlib", "latin-1", "nonsense"])
def test_a_body_is_utf_8_whatever_its_header_says(api: Api, charset: str) -> None:
    headers = {"Authorization": f"Bearer {api.key}"}
    kind = f"application/json; charset={charset}"
    body = json.dumps(sample(content="Łódź"), ensure_ascii=False).encode()
    response = api.client.generic("POST", MEMORIES, body, content_type=kind, headers=headers)
    assert response.status_code == 201
    assert response.json()["memory"]["content"] == "Łódź"


def test_a_body_beyond_the_limit_is_refused(api: Api, settings: Any) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 1_000
    before = stored()
    assert_refused(api.post(MEMORIES, sample(context="x" * 1_000)), 413, None)
    assert stored() == before
    assert api.post(MEMORIES, sample(context="x" * 800)).status_code == 201


QUERIES = [
    ("nonsense=1", "nonsense"),
    ("content=tea", "content"),
    ("user_id=", "user_id"),
    ("user_id=%20", "user_id"),
    ("user_id=%00", "user_id"),
    ("user_id=" + LONG, "user_id"),
    ("user_id=ana&user_id=ben", "user_id"),
    ("household_id=%E2%80%8B", "household_id"),
    ("persona_id=" + LONG, "persona_id"),
    ("agent=" + LONG, "agent"),
    ("project=%00", "project"),
    ("source=" + "x" * 65, "source"),
    ("decay_policy=forever", "decay_policy"),
    ("status=gone", "status"),
    ("status=", "status"),
    ("global=perhaps", "global"),
    ("limit=0", "limit"),
    ("limit=-1", "limit"),
    ("limit=201", "limit"),
    ("limit=1000000", "limit"),
    ("limit=" + "9" * 5_000, "limit"),
    ("limit=ten", "limit"),
    ("limit=1.5", "limit"),
    ("cursor=", "cursor"),
    ("cursor=zzz", "cursor"),
    ("cursor=%00", "cursor"),
    ("cursor=cD1hYmM=", "cursor"),
    ("cursor=older-", "cursor"),
    ("cursor=older-1", "cursor"),
    ("cursor=sideways-" + NOWHERE, "cursor"),
    ("cursor=older-" + NOWHERE + "0", "cursor"),
]


@pytest.mark.parametrize(("query", "attr"), QUERIES, ids=[query[:30] for query, _ in QUERIES])
def test_a_bad_query_string_names_the_parameter(api: Api, query: str, attr: str) -> None:
    assert_refused(api.get(f"{MEMORIES}?{query}"), 400, attr)


def test_a_cursor_of_nothing_is_not_found(api: Api) -> None:
    assert_refused(api.get(f"{MEMORIES}?cursor=older-{NOWHERE}"), 404, "cursor")


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", MEMORIES),
        ("POST", BATCH),
        ("POST", SEARCH),
        ("GET", f"{MEMORIES}/{NOWHERE}"),
        ("DELETE", f"{MEMORIES}/{NOWHERE}"),
        ("GET", f"{MEMORIES}/{NOWHERE}/history"),
        ("POST", f"{MEMORIES}/{NOWHERE}/reinforce"),
        ("POST", f"{MEMORIES}/{NOWHERE}/restore"),
        ("GET", "/api/semantic/status"),
        ("GET", KEYS),
        ("POST", KEYS),
        ("GET", f"{KEYS}/{NOWHERE}"),
        ("DELETE", f"{KEYS}/{NOWHERE}"),
    ],
)
def test_query_string_where_there_is_none_is_refused(api: Api, method: str, path: str) -> None:
    before = stored()
    assert_refused(api.call(method, f"{path}?user_id=ana", sample() if method == "POST" else None), 400, "user_id")
    assert stored() == before


def test_bad_items_of_batch_fail_alone_with_field_they_would_name_alone(api: Api) -> None:
    bad = [
        (sample(content=""), "content"),
        (sample(content="\ud800"), "content"),
        (sample(embedding=[0.0] * 384), "embedding"),
        (sample(embedding=UNIT[:-1]), "embedding"),
        (sample(nonsense=1), "nonsense"),
        (sample(occurred_at="2023-05-08T13:56:00"), "occurred_at"),
        ({"content": "whose?"}, "user_id"),
        (None, "non_field_errors"),
        ([sample()], "non_field_errors"),
        (7, "non_field_errors"),
    ]
    items = [sample(content="good"), *(item for item, _ in bad)]
    response = api.post(BATCH, json.dumps({"memories": items}))
    results = response.json()["results"]
    assert response.status_code == 200
    assert results[0]["status"] == 201
    assert [item["status"] for item in results[1:]] == [400] * len(bad)
    assert [item["errors"][0]["attr"] for item in results[1:]] == [attr for _, attr in bad]
    assert len(stored()["semantic_memory"]) == 1


def test_a_batch_of_bad_items_writes_nothing(api: Api) -> None:
    before = stored()
    response = api.post(BATCH, {"memories": [sample(content=""), sample(top_k=1), 7]})
    assert [item["status"] for item in response.json()["results"]] == [400, 400, 400]
    assert stored() == before


@pytest.mark.parametrize(
    "path", ["/api/nothing", f"{MEMORIES}/not-an-id", f"{MEMORIES}/1", f"{KEYS}/../x", "/api/nothing/"]
)
def test_address_that_does_not_exist_is_refused_in_same_shape(api: Api, path: str) -> None:
    assert_refused(api.get(path), 404, None)


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE", "TRACE", "NONSENSE"])
@pytest.mark.parametrize("path", [MEMORIES, SEARCH, BATCH, KEYS, "/api/semantic/status"])
def test_a_method_that_is_not_there_is_refused(api: Api, method: str, path: str) -> None:
    response: HttpResponse = api.call(method, path, sample())
    assert_refused(response, 405, None)
    assert "Allow" in response.headers
