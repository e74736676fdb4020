"""A person's pages hear of what is theirs, and of nothing else."""

import contextlib
import time
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction
from websockets.sync.client import ClientConnection

from apps.accounts.models import Account
from apps.accounts.services import account_create, account_set_person, person_create
from apps.core.db.watch import connect_plainly
from apps.core.domain.scope import Permission, Scope, system_access
from apps.core.services import key_create
from apps.episodic.domain.event import EventDraft
from apps.episodic.services import event_record
from apps.live import listener
from apps.live.domain.coalescer import Coalescer
from apps.live.domain.topics import MINE, OWN_KNOWN, OWN_TOPICS, TOPICS, own_note, person_digest, read_own_note
from apps.live.process import MANY, REMEMBERED_MS, OwnTopics, live_process
from apps.live.services import person_changed
from apps.live.triggers import OWN_CHANNEL, install_triggers
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.models import Memory
from apps.semantic.services import memory_save
from memoryhub.topics import OWN
from memoryhub.topics import TOPICS as TABLES
from tests.integration.live.browsers import (
    Browser,
    in_its_loop,
    live_server,
    next_topic,
    sign_in,
    topics_until,
    wait_for_topic,
    wait_until,
)
from tests.integration.memoryhub.web import WebServer

pytestmark = pytest.mark.django_db(transaction=True)

SYSTEM = system_access("key:kitchen")


@pytest.fixture(scope="module")
def server(django_db_setup: None, django_db_blocker: Any) -> Iterator[WebServer]:
    """Serve sockets that say a topic twenty times a second, so that tests need not wait."""
    with pytest.MonkeyPatch.context() as patch, django_db_blocker.unblock():
        patch.setattr(listener, "Coalescer", lambda: Coalescer(0.05))
        with live_server() as server:
            yield server


@pytest.fixture
def pages(server: WebServer) -> Iterator[dict[str, ClientConnection]]:
    """The sockets of two people."""
    with ExitStack() as stack:
        yield {
            name: stack.enter_context(Browser(server, sign_in(person_create(username=name, person_id=name))).socket())
            for name in ("ana", "ben")
        }
    wait_until(lambda: not live_process().sockets)


def remember(person: str, content: str) -> Memory:
    return memory_save(access=SYSTEM, draft=MemoryDraft(content, scope=Scope(person))).memory


def hears_only(socket: ClientConnection, *expected: str) -> bool:
    """Wait until all of these topics came, however long that takes; return whether no other one comes besides beats."""
    found: set[str] = set()
    while not found >= set(expected):
        found.add(next_topic(socket))
    with contextlib.suppress(TimeoutError):
        while True:  # beats that are here already say nothing of what is still to come
            found.add(next_topic(socket, 0))
    found.update(topics_until(socket, "alive", 3))
    return found - {"alive"} == set(expected)


def record(person: str) -> None:
    event_record(access=SYSTEM, draft=EventDraft(datetime(2026, 11, 2, tzinfo=UTC), "visit", "-", Scope(person)))


# --- what comes through the socket ------------------------------------------------------------------------


def test_a_person_hears_of_their_own_memories_only(pages: dict[str, ClientConnection]) -> None:
    remember("ana", "Ana drinks tea")
    frame = wait_for_topic(pages["ana"], "memories")
    assert set(frame) == {"topic", "version"}
    wait_for_topic(pages["ana"], MINE)
    assert hears_only(pages["ben"])


@pytest.mark.parametrize(
    ("change", "topic"),
    [
        (lambda: record("ana"), "timeline"),
        (lambda: Memory.objects.filter(user_id="ana").update(importance=0.5), "memories"),
        (lambda: Memory.objects.filter(user_id="ana").delete(), "memories"),
        (lambda: key_create(name="a", scope=Scope("ana"), permission=Permission.READ, actor="t"), "keys"),
    ],
    ids=["event", "update", "delete", "key"],
)
def test_each_change_of_a_person_is_theirs_alone(pages: dict[str, ClientConnection], change: Any, topic: str) -> None:
    Memory.objects.bulk_create([Memory(user_id="ana", content="x", created_at=NOW, updated_at=NOW)])
    assert hears_only(pages["ana"], "memories", MINE)
    assert hears_only(pages["ben"])
    change()
    assert hears_only(pages["ana"], topic, MINE)
    assert hears_only(pages["ben"])


def test_one_statement_about_two_people_tells_each(pages: dict[str, ClientConnection]) -> None:
    remember("ana", "Ana drinks tea")
    remember("ben", "Ben drinks tea")
    remember("cleo", "Cleo drinks tea")
    for socket in pages.values():
        assert hears_only(socket, "memories", MINE)
    assert Memory.objects.filter(user_id__in=["ana", "ben", "cleo"]).update(importance=0.4) == 3
    for socket in pages.values():
        assert hears_only(socket, "memories", MINE)


def test_a_person_hears_nothing_of_the_hub(pages: dict[str, ClientConnection]) -> None:
    key_create(name="app", scope=Scope("cleo"), permission=Permission.READ, actor="test")
    remember("cleo", "Cleo drinks tea")
    record("cleo")
    for socket in pages.values():
        assert hears_only(socket)


def test_a_service_says_that_something_is_mine(pages: dict[str, ClientConnection]) -> None:
    with transaction.atomic():
        person_changed("ana")
        assert hears_only(pages["ana"])
    assert hears_only(pages["ana"], MINE)
    assert hears_only(pages["ben"])


def test_own_changes_since_the_page_was_made_come(server: WebServer) -> None:
    browsers = {name: Browser(server, sign_in(person_create(username=name, person_id=name))) for name in ("ana", "ben")}
    before = time.time_ns() // 1_000_000
    remember("ana", "Ana drinks tea")
    wait_until(lambda: live_process().own.since(person_digest("ana"), before))
    with (
        browsers["ana"].socket(f"/live?since={before}") as mine,
        browsers["ben"].socket(f"/live?since={before}") as his,
    ):
        assert hears_only(mine, "memories", MINE)
        assert hears_only(his)


def test_an_account_that_loses_its_pages_hears_no_more(server: WebServer) -> None:
    login = person_create(username="ana", person_id="ana")
    with Browser(server, sign_in(login)).socket() as socket:
        Account.objects.filter(login=login).update(person_id="ben")
        User.objects.filter(pk=login.pk).update(first_name="A")
        viewer = next(iter(live_process().sockets))
        wait_until(lambda: viewer.viewer.person == person_digest("ben"))
        remember("ana", "Ana drinks tea")
        assert hears_only(socket)


def test_an_owner_with_pages_hears_of_both(server: WebServer) -> None:
    login = account_create(username="olga", role="Owner")
    account_set_person(login=login, person_id="ana")
    with Browser(server, sign_in(login)).socket() as socket:
        remember("ben", "Ben drinks tea")
        assert wait_for_topic(socket, "memories")
        remember("ana", "Ana drinks tea")
        assert wait_for_topic(socket, MINE)


def test_who_has_pages_gets_beats_that_refresh_nothing(pages: dict[str, ClientConnection]) -> None:
    assert {*topics_until(pages["ana"], "alive", 4)} == {"alive"}


def test_all_people_hear_after_a_lost_connection(pages: dict[str, ClientConnection]) -> None:
    in_its_loop(lambda live: live.hear({"own": {own_note("*", "memories"): 5}}))
    for socket in pages.values():
        assert hears_only(socket, "memories", MINE)


# --- what is notified -------------------------------------------------------------------------------------

NOW = datetime(2026, 11, 2, tzinfo=UTC)


def test_a_notification_names_no_user_and_no_content() -> None:
    with connect_plainly({}) as session:
        session.execute(f"LISTEN {OWN_CHANNEL}")
        remember("ana+\N{HIRAGANA LETTER A}", "Ana drinks tea")
        heard = {one.payload for one in session.notifies(timeout=5, stop_after=1)}
    assert heard == {own_note(person_digest("ana+\N{HIRAGANA LETTER A}"), "memories")}


def test_a_statement_without_rows_notifies_no_person() -> None:
    with connect_plainly({}) as session:
        session.execute(f"LISTEN {OWN_CHANNEL}")
        Memory.objects.filter(user_id="ana").update(importance=0.5)
        assert list(session.notifies(timeout=0.1)) == []


def test_triggers_of_people_are_installed_once() -> None:
    assert install_triggers() == 0
    with connection.cursor() as cursor:
        cursor.execute("DROP TRIGGER memoryhub_own_update ON semantic_memory")
        cursor.execute("ALTER TABLE semantic_memory DISABLE TRIGGER memoryhub_own_insert")
    assert install_triggers() == 2
    assert install_triggers() == 0


def test_topics_of_people_are_among_those_of_their_tables() -> None:
    assert {topic for named in OWN.values() for topic in named} == set(OWN_TOPICS) <= set(TOPICS)
    assert all(set(named) <= set(TABLES[table]) for table, named in OWN.items())


@pytest.mark.parametrize("note", ["", "ana memories", "* keys2", f"{'a' * 32} samples", f"{'a' * 31}' memories", "*"])
def test_other_notifications_are_no_notes(note: str) -> None:
    assert read_own_note(note) is None


def test_what_is_remembered_of_people_is_bounded() -> None:
    own = OwnTopics()
    own.hear({own_note(person_digest(str(number)), "notes"): 1 for number in range(MANY)})
    own.hear({own_note(person_digest("ana"), "memories"): REMEMBERED_MS + 2})
    assert own.since(person_digest("7"), 0) == {}
    assert set(own.since(person_digest("ana"), 0)) == {"memories", MINE} <= OWN_KNOWN
    assert own.since("", 0) == {}
