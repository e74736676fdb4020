"""Behind a real PgBouncer: what needs a session has one, or the hub says which setting is missing."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest
from django.conf import settings as django_settings
from django.db import OperationalError, connection, connections, transaction
from psycopg import sql

from apps.core.db.session_locks import try_session_lock
from apps.core.db.sessions import (
    DIRECT,
    NO_DIRECT,
    OTHER_DATABASE,
    WRONG_DIRECT,
    find_session_fault,
    session_connection,
)
from apps.core.domain.scope import Scope
from apps.core.models import LockedUser
from apps.events import services as events
from apps.events.models import Delivery
from apps.live.listener import DeafError, Listener, listener_facts, require_hearing
from apps.notes.domain.places import MAIN
from apps.notes.files.changes import note_append, note_read
from apps.semantic.store.unit_of_work import copy_into
from apps.sync.runs.lock import LockLostError, is_locked, require_lock, source_lock
from memoryhub.postgres.server import EmbeddedDatabase
from memoryhub.process import prepare
from tests.api import MEMORIES, api_for
from tests.integration.events import support
from tests.pgbouncer import PgBouncer, needs_pgbouncer, through
from tests.threads import at_once, outcomes_at_once

pytestmark = [needs_pgbouncer, pytest.mark.django_db(transaction=True)]

Past = Callable[..., AbstractContextManager[None]]
BOTH = pytest.mark.parametrize("pooled", [("session", False), ("transaction", True)], indirect=True)


@pytest.fixture(scope="module")
def server(django_db_setup: None) -> EmbeddedDatabase:
    return EmbeddedDatabase(django_settings.MEMORYHUB.data_dir)


@pytest.fixture(scope="module")
def poolers(server: EmbeddedDatabase) -> Iterator[dict[str, PgBouncer]]:
    """A pooler of each mode."""
    made = {mode: PgBouncer(server, mode=mode) for mode in ("session", "transaction")}
    for pooler in made.values():
        pooler.start("template1")
    yield made
    for pooler in made.values():
        pooler.end()


@pytest.fixture
def past(poolers: dict[str, PgBouncer], django_db_blocker: Any) -> Past:
    """Goes through the pooler of a mode, for sessions past it."""
    return lambda mode, direct=True: through(poolers[mode], django_db_blocker, direct=direct)


@pytest.fixture
def pooled(request: pytest.FixtureRequest, past: Past) -> Iterator[None]:
    """Go through the pooler of a mode, and past it for sessions where the second value says so."""
    mode, direct = request.param
    with past(mode, direct=direct):
        yield


def locks_left() -> int:
    """Count the advisory locks of all connections to the database of the test."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_locks JOIN pg_database ON pg_database.oid = database "
            "WHERE locktype = 'advisory' AND datname = current_database()"
        )
        count: int = cursor.fetchone()[0]
        return count


# --- what the hub finds out --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pooled", "fault"),
    [
        (("session", False), None),
        (("session", True), None),
        (("transaction", False), NO_DIRECT),
        (("transaction", True), None),
    ],
    indirect=["pooled"],
)
@pytest.mark.usefixtures("pooled")
def test_sessions_are_proved_or_the_missing_setting_is_named(fault: str | None) -> None:
    assert find_session_fault() == fault
    assert locks_left() == 0


def test_direct_address_of_a_pooler_is_refused(past: Past, poolers: dict[str, PgBouncer]) -> None:
    with past("transaction"):
        connections.settings[DIRECT].update(HOST="127.0.0.1", PORT=str(poolers["transaction"].port), OPTIONS={})
        assert find_session_fault() == WRONG_DIRECT


def test_direct_address_of_another_database_is_refused(past: Past, poolers: dict[str, PgBouncer]) -> None:
    with past("transaction"):
        connections.settings[DIRECT]["NAME"] = "template1"
        assert find_session_fault() == OTHER_DATABASE


# --- locks -------------------------------------------------------------------------------------------------


@BOTH
@pytest.mark.usefixtures("pooled")
def test_lock_is_kept_from_others_across_transactions_and_released() -> None:
    def is_free() -> bool:
        with try_session_lock(7, 7) as is_held:
            return is_held

    with try_session_lock(7, 7) as is_held:
        assert is_held
        for _ in range(5):
            with transaction.atomic():
                assert outcomes_at_once(is_free, is_free) == [False, False]
    assert outcomes_at_once(is_free) == [True]
    assert locks_left() == 0


@BOTH
@pytest.mark.usefixtures("pooled")
def test_drains_at_once_deliver_each_event_once(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    support.seen.clear()
    monkeypatch.setitem(support.TABLE, support.Happened.name, (support.RECORD,))
    settings.EVENT_SUBSCRIPTIONS = support.TABLE_PATH
    emitted = support.emit(60)
    at_once(events.drain, events.drain)
    events.drain()
    assert sorted(one.event_id for one in support.seen) == sorted(emitted)
    assert not Delivery.objects.exclude(status="delivered").exists()
    assert locks_left() == 0


@BOTH
@pytest.mark.usefixtures("pooled")
def test_writer_that_lost_its_lock_to_another_writes_nothing() -> None:
    def lose() -> None:
        with session_connection().cursor() as cursor:
            cursor.execute("SELECT pg_advisory_unlock_all()")

    def take(then: threading.Event, end: threading.Event) -> None:
        with source_lock(5):
            then.set()
            assert end.wait(30)

    with source_lock(5):
        with transaction.atomic():
            require_lock(5)
            assert outcomes_at_once(lambda: is_locked(5)) == [True]
            lose()
            [refused] = outcomes_at_once(lambda: source_lock(5).__enter__())
            assert getattr(refused, "code", None) == "sync_running", "before the transaction ends"
        taken, over = threading.Event(), threading.Event()
        other = threading.Thread(target=lambda: outcomes_at_once(lambda: take(taken, over)))
        other.start()
        assert taken.wait(30)
        with pytest.raises(LockLostError), transaction.atomic():
            require_lock(5)
        over.set()
        other.join(30)
    assert locks_left() == 0


@BOTH
@pytest.mark.usefixtures("notes_dir", "pooled")
def test_appends_of_many_hosts_are_all_there(settings: Any) -> None:
    settings.MEMORYHUB = replace(settings.MEMORYHUB, database_url="postgresql://db.example/hub")

    def append(name: str) -> None:
        for number in range(5):
            note_append("ana", MAIN, f"entry {name}{number}", author="test")

    at_once(*[lambda name=name: append(name) for name in "abcd"])
    text = (note_read("ana", MAIN).text or b"").decode()
    assert sorted(line.split("entry ")[1] for line in text.splitlines() if "entry " in line) == sorted(
        f"{name}{number}" for name in "abcd" for number in range(5)
    )
    assert locks_left() == 0


@BOTH
@pytest.mark.usefixtures("pooled")
def test_rows_are_read_in_parts_outside_a_transaction() -> None:
    LockedUser.objects.bulk_create(LockedUser(user_id=f"u{n:04}", since="2026-11-28T00:00:00Z") for n in range(1_000))

    def read() -> list[str]:
        return [row.user_id for row in LockedUser.objects.order_by("user_id").iterator(10)]

    expected = [f"u{n:04}" for n in range(1_000)]
    assert at_once(read, read, read) == [expected] * 3


# --- the preparation ---------------------------------------------------------------------------------------


def preparation_fails() -> prepare.PreparationBusyError:
    """Wait for the lock in vain, and return the error."""
    with pytest.raises(prepare.PreparationBusyError) as caught, prepare.preparation_lock(0.2):
        pass
    return caught.value


@BOTH
@pytest.mark.usefixtures("pooled")
def test_second_preparation_says_whom_it_waits_for(capsys: pytest.CaptureFixture[str]) -> None:
    with prepare.preparation_lock():
        caught = preparation_fails()
    said = str(caught)
    assert "memoryhub prepare, process " in said
    assert "since 20" in said
    assert "waited for 0.2 s" in said
    assert "Waiting: the database is being prepared by memoryhub prepare" in capsys.readouterr().out
    with prepare.preparation_lock(0.2):
        pass
    assert locks_left() == 0


def test_lock_that_was_left_on_a_pooled_connection_is_named(past: Past, poolers: dict[str, PgBouncer]) -> None:
    """What the versions before left behind: nobody prepares, and the next one would wait for ever."""
    with past("transaction"):
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid(), pg_advisory_lock(%s)", [prepare.PREPARATION_LOCK])
            holder = cursor.fetchone()[0]
        connection.close()
        assert f"connection {holder} of the server" in str(preparation_fails())
        with session_connection().cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(%s, 10000)", [holder])
        with prepare.preparation_lock(5):
            pass


# --- live pages --------------------------------------------------------------------------------------------


class Ears:
    """What a listener says."""

    def __init__(self) -> None:
        self.topics: set[str] = set()
        self.states: list[bool] = []

    def announce(self, topics: Any) -> None:
        self.topics.update(topics)

    def announce_own(self, notes: Any) -> None:
        pass

    def note_hearing(self, is_hearing: bool) -> None:
        self.states.append(is_hearing)


def wait_until(condition: Any) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.parametrize(
    ("pooled", "hears"),
    [(("session", False), True), (("transaction", True), True), (("transaction", False), False)],
    indirect=["pooled"],
)
@pytest.mark.usefixtures("pooled")
def test_live_pages_hear_or_the_process_says_why_not(hears: bool, settings: Any) -> None:
    settings.MEMORYHUB = replace(settings.MEMORYHUB, database_url="postgresql://db.example/hub")
    ears = Ears()
    listener = Listener(ears)
    listener.begin()
    try:
        wait_until(lambda: ears.states)
        if not hears:
            assert ears.states == [False]
            wait_until(lambda: listener_facts()["fault"] == NO_DIRECT)
            with pytest.raises(DeafError, match="MEMORYHUB_DIRECT_DATABASE_URL"):
                require_hearing()
            return
        assert ears.states == [True]
        assert listener_facts() == {"fault": ""}
        wait_until(lambda: "health" in ears.topics)  # all topics, as after every start
        time.sleep(1.1)  # and what the coalescer holds back
        ears.topics.clear()
        for _ in range(3):  # whichever connection of the server the pooler chooses
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_notify('memoryhub_live', 'memories')")
        wait_until(lambda: "memories" in ears.topics)
    finally:
        listener.end()


# --- a database that is gone -------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["direct", "pooled"])
def test_connection_that_ends_within_a_copy_is_an_operational_error(way: str, past: Past) -> None:
    def copy() -> None:
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_backend_pid()")
                pid = cursor.fetchone()[0]
            table = sql.Identifier(LockedUser._meta.db_table)
            with copy_into(sql.SQL("COPY {} (user_id, since) FROM STDIN").format(table)) as rows:
                rows.write_row(("ana", "2026-11-28T00:00:00Z"))
                outcomes_at_once(lambda: end_backend(pid))
                for number in range(2_000):
                    rows.write_row((f"u{number}" * 20, "2026-11-28T00:00:00Z"))

    def end_backend(pid: int) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(%s, 10000)", [pid])

    def check() -> None:
        for _ in range(5):
            with pytest.raises(OperationalError):
                copy()
            connection.close()

    if way == "direct":
        check()
    else:
        with past("transaction"):
            check()
    assert not LockedUser.objects.exists()


@pytest.mark.parametrize("way", ["direct", "pooled"])
def test_save_whose_database_goes_away_within_a_copy_is_503(way: str, past: Past) -> None:
    api = api_for(Scope())
    warm = api.save("a first one", user_id="ana")
    assert warm

    def save() -> Any:
        return api.post(MEMORIES, {"content": f"tea {uuid4()}", "user_id": "ana"})

    def cut() -> None:
        """End the connection whose COPY waits for a table that this one has locked."""
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("LOCK TABLE semantic_memory IN EXCLUSIVE MODE")
            ready.set()
            deadline = time.monotonic() + 30
            while time.monotonic() < deadline:
                cursor.execute("SELECT pg_stat_clear_snapshot()")
                cursor.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() "
                    "AND query LIKE 'COPY%%' AND wait_event_type = 'Lock'"
                )
                if cursor.fetchone():
                    return
                time.sleep(0.01)
            raise AssertionError("no COPY waited")

    def check() -> None:
        for _ in range(3):
            ready.clear()
            answer, _none = at_once(lambda: ready.wait(30) and save(), cut)
            assert answer.status_code == 503, answer.content
            [error] = answer.json()["errors"]
            assert error["detail"] == "The database cannot be reached. Try again shortly."
            assert answer.headers["Retry-After"]

    ready = threading.Event()
    if way == "direct":
        check()
    else:
        with past("transaction"):
            check()
    assert save().status_code == 201
