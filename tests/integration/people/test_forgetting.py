"""A person is forgotten: no word and no id is left anywhere, nothing of others is touched, as a certificate says."""

from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from apps.core.domain.errors import ConflictError
from apps.core.domain.scope import Permission, Scope
from apps.core.models import LockedUser
from apps.episodic.domain.window import EventQuery
from apps.episodic.models import Segment
from apps.episodic.queries.query import events_query
from apps.episodic.store.files import list_files
from apps.people.erasure.run import erasure_run, erasures_continue
from apps.people.models import Erasure
from apps.people.services import erasure_request, user_digest
from apps.semantic.models import Memory
from tests.api import MEMORIES, Api, api_for
from tests.integration.episodic.timeline import Timeline
from tests.integration.people.person import OTHERS, PERSON, SYSTEM, WORD, fill, kept_of_others, traces
from tests.segments import segment_path

pytestmark = pytest.mark.django_db(transaction=True)
STORES = {"admin": 3, "bridge": 2, "consolidations": 1, "conversations": 5, "events": 16, "keys": 2, "memories": 5}


@pytest.fixture(autouse=True)
def hub(settings: Any, tmp_path: Any, timeline_dir: Any) -> None:
    settings.SEMANTIC_INDEX_DIR = tmp_path / "semantic-index"
    timeline = Timeline()
    for number, other in enumerate(OTHERS):
        fill(other, f"other{number}word", archive=timeline)
    fill(PERSON, WORD, archive=timeline)


@pytest.fixture
def operator() -> Api:
    return api_for(Scope(), Permission.OPERATOR)


def events_of(user: str) -> list[str]:
    return [event.content for event in events_query(SYSTEM, EventQuery(scope=Scope(user), top_k=1000)).events]


def test_nothing_of_the_person_is_left_and_nothing_of_others_is_touched(operator: Api) -> None:
    assert api_for(Scope()).search("likes tea", user_id=PERSON)["count"] == 4
    before, events = kept_of_others(), {other: events_of(other) for other in OTHERS}
    assert traces(PERSON, WORD)

    answer = operator.post("/api/erasures", {"user_id": PERSON})
    assert answer.status_code == 202
    erasure = erasure_run(erasure_id=Erasure.objects.get().pk)

    assert erasure.problems == []
    shown = operator.get(answer.headers["Location"]).json()
    certificate = shown["certificate"]
    assert shown["state"] == "finished"
    assert certificate["user_digest"] == user_digest(PERSON)
    assert {name: certificate["removed"][name] for name in STORES} == STORES
    assert certificate["scan"]["found"] == 0
    assert PERSON not in str(shown)
    assert traces(PERSON, WORD) == []
    assert kept_of_others() == before
    assert {other: events_of(other) for other in OTHERS} == events
    assert not LockedUser.objects.exists()
    [listed] = operator.get(f"/api/erasures?user_id={PERSON}").json()["results"]
    assert listed == shown


def sampled(word: str) -> list[str]:
    """The columns of which PostgreSQL has kept a value with a word for its plans."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT tablename || '.' || attname FROM pg_stats WHERE schemaname = current_schema()"
            " AND (most_common_vals::text LIKE %s OR histogram_bounds::text LIKE %s)",
            [f"%{word}%"] * 2,
        )
        return [name for (name,) in cursor.fetchall()]


@pytest.mark.parametrize("others", [OTHERS, ()], ids=["others", "alone"])
def test_nothing_of_the_person_is_left_in_what_plans_are_made_of(others: tuple[str, ...]) -> None:
    forgotten = (*(other for other in OTHERS if other not in others), PERSON)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    assert sampled(PERSON)
    assert sampled(WORD)
    for user in forgotten:
        erasure = erasure_request(user_id=user, actor="test")
        assert erasure_run(erasure_id=erasure.pk).problems == []
    assert sampled(PERSON) == sampled(WORD) == []


def test_a_dry_run_says_how_much_there_is_and_removes_nothing(operator: Api) -> None:
    before = traces(PERSON, WORD)
    answer = operator.post("/api/erasures", {"user_id": PERSON, "dry_run": True}).json()
    assert {name: answer["found"][name] for name in STORES} == STORES
    assert answer["problems"] == []
    # That an operator asked is an act as well.
    assert traces(PERSON, WORD) == sorted({*before, "audit_auditentry"})
    assert not Erasure.objects.exists()


@pytest.mark.parametrize("word", ["true", "false", 1, 0, None])
def test_a_dry_run_that_is_not_true_or_false_is_refused(operator: Api, word: object) -> None:
    answer = operator.post("/api/erasures", {"user_id": PERSON, "dry_run": word})
    assert answer.status_code == 400
    assert [error["attr"] for error in answer.json()["errors"]] == ["dry_run"]
    assert not Erasure.objects.exists()


def test_nothing_is_written_for_a_person_who_is_being_forgotten(operator: Api) -> None:
    api = api_for(Scope())
    event = {"timestamp": "2026-03-04T12:00:00Z", "event_type": "message", "content": "new", "user_id": PERSON}
    erasure_request(user_id=PERSON, actor="test", enqueue=False)
    for path, body in (
        (MEMORIES, {"content": "new", "user_id": PERSON}),
        ("/api/episodic/events", event),
    ):
        refused = api.post(path, body)
        assert (refused.status_code, refused.json()["errors"][0]["code"]) == (409, "being_forgotten")
    refused = operator.post("/api/keys", {"name": "new", "user_id": PERSON})
    assert refused.status_code == 409
    assert api.post(MEMORIES, {"content": "new", "user_id": OTHERS[0]}).status_code == 201
    erasure_run(erasure_id=Erasure.objects.get().pk)
    assert traces(PERSON, WORD) == []


def test_a_person_who_comes_back_is_found_with_what_is_new_only(operator: Api) -> None:
    api = api_for(Scope())
    assert api.search("likes tea", user_id=PERSON)["count"] == 4
    for content in ("I am back", "and well"):
        erasure_run(erasure_id=erasure_request(user_id=PERSON, actor="test", enqueue=False).pk)
        api.save(content, user_id=PERSON)
        found = api.search("likes tea", user_id=PERSON, mode="vector")
        assert [item["memory"]["content"] for item in found["results"]] == [content]


def test_a_damaged_segment_is_in_the_way_and_named(operator: Api) -> None:
    segment = Segment.objects.filter(state="archived").first()
    assert segment is not None
    path = segment_path(segment.file_name)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2] + b"\0\0\0\0" + whole[len(whole) // 2 + 4 :])
    erasure = erasure_run(erasure_id=erasure_request(user_id=PERSON, actor="test", enqueue=False).pk)
    assert erasure.state == "refused"
    assert str(segment.uuid) in erasure.problems[0]
    assert Memory.objects.filter(user_id=PERSON).count() == 5
    assert not LockedUser.objects.exists()
    Segment.objects.filter(pk=segment.pk).update(state="quarantined", damage="checksum")
    refused = operator.post("/api/erasures", {"user_id": PERSON})
    assert (refused.status_code, refused.json()["errors"][0]["code"]) == (409, "erasure_blocked")
    assert str(segment.uuid) in refused.json()["errors"][0]["detail"]


def test_a_file_that_was_set_aside_is_in_the_way() -> None:
    aside = segment_path(list_files().segments[0]).parent / "quarantine"
    aside.mkdir()
    (aside / "20260101T000000-old.segment").write_bytes(b"damaged")
    with pytest.raises(ConflictError, match="20260101T000000-old"):
        erasure_request(user_id=PERSON, actor="test", enqueue=False)


def test_one_that_fails_says_so_and_does_not_hold_up_the_next(caplog: pytest.LogCaptureFixture) -> None:
    failing = erasure_request(user_id=PERSON, actor="test", enqueue=False)
    other = erasure_request(user_id="ben", actor="test", enqueue=False)
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS "
            f"$$ BEGIN IF OLD.user_id = '{PERSON}' THEN RAISE 'kept: %', OLD.user_id; END IF; RETURN OLD; END $$"
        )
        cursor.execute("CREATE TRIGGER refuse BEFORE DELETE ON core_apikey FOR EACH ROW EXECUTE FUNCTION refuse()")
    try:
        erasures_continue()
    finally:
        with connection.cursor() as cursor:
            cursor.execute("DROP FUNCTION refuse CASCADE")
    failing.refresh_from_db()
    other.refresh_from_db()
    assert (failing.state, other.state) == ("removing", "finished")
    assert "ProgrammingError" in failing.problems[0]
    assert "failed with ProgrammingError" in caplog.text
    assert PERSON not in caplog.text
    erasures_continue()
    failing.refresh_from_db()
    assert (failing.state, failing.problems) == ("finished", [])


def test_the_command_asks_for_the_id_again(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setattr("builtins.input", lambda _: "another")
    with pytest.raises(CommandError, match="Nothing was removed"):
        call_command("forget", PERSON)
    assert Memory.objects.filter(user_id=PERSON).exists()
    call_command("forget", PERSON, "--yes")
    assert user_digest(PERSON) in capsys.readouterr().out
    assert traces(PERSON, WORD) == []


def test_one_of_whom_there_is_nothing_is_not_found(operator: Api) -> None:
    assert operator.post("/api/erasures", {"user_id": "unknown"}).status_code == 404


def test_only_operators_forget() -> None:
    api = api_for(Scope())
    assert api.post("/api/erasures", {"user_id": PERSON}).status_code == 403
    assert api.get("/api/erasures").status_code == 403


def test_an_id_of_odd_characters_is_forgotten(operator: Api) -> None:
    odd = "a.b*(c)[d]|\\^$ é\"'%s?+{2}"
    operator.post("/api/keys", {"name": f"of {odd}", "user_id": odd})
    api_for(Scope()).save(f"{WORD} for {odd}", user_id=odd)
    erasure = erasure_run(erasure_id=erasure_request(user_id=odd, actor="test", enqueue=False).pk)
    assert (erasure.state, erasure.problems) == ("finished", [])
    assert erasure.found["memories"] == erasure.found["keys"] == 1
    assert not Memory.objects.filter(user_id=odd).exists()
    assert Memory.objects.filter(user_id=PERSON).count() == 5
