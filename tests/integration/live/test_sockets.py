"""Sockets over real connections: who may open one, what comes through it, and when it ends."""

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from django.contrib.auth.models import Permission as AccountPermission
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.db import connection

from apps.accounts.models import Account
from apps.core.domain.scope import Permission, Scope
from apps.core.models import ProcessKind
from apps.core.processes import publish
from apps.core.services import key_create
from apps.live import application, process
from apps.live.domain.coalescer import COALESCE_SECONDS
from apps.live.domain.topics import TOPICS
from apps.live.listener import APPLICATION_NAME
from apps.live.process import live_process
from tests.integration.live.browsers import (
    Browser,
    code_of_close,
    frames,
    in_its_loop,
    live_server,
    sign_in,
    topics_until,
    wait_for_topic,
    wait_until,
)
from tests.integration.memoryhub.web import WebServer

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(scope="module")
def server(django_db_setup: None, django_db_blocker: Any) -> Iterator[WebServer]:
    with django_db_blocker.unblock(), live_server() as server:
        yield server


@pytest.fixture
def user() -> User:
    return colleague("rita")


def colleague(name: str) -> User:
    """An account that sees some page of the hub."""
    made = User.objects.create_user(name, is_staff=True)
    made.user_permissions.add(AccountPermission.objects.get(codename="view_memory"))
    return made


@pytest.fixture
def browser(server: WebServer, user: User) -> Iterator[Browser]:
    yield Browser(server, sign_in(user))
    wait_until(lambda: not live_process().sockets)


def make_key() -> None:
    key_create(name="app", scope=Scope("ana"), permission=Permission.READ, actor="test")


# --- who may open one ---------------------------------------------------------------------------------


@pytest.mark.parametrize("cookie", [None, "sessionid=", "sessionid=0123456789abcdef0123456789abcdef", "sessionid=\xff"])
def test_who_is_signed_out_is_refused(server: WebServer, cookie: str | None) -> None:
    assert Browser(server, cookie).refusal() == "signed_out"


@pytest.mark.parametrize(
    "origin",
    ["", "null", "http://evil.example.org", "http://localhost", "http://localhost:1", "https://localhost:{port}"],
)
def test_a_foreign_origin_is_refused(browser: Browser, origin: str) -> None:
    assert browser.refusal(Origin=origin.format(port=browser.server.port)) == "origin"


def test_a_trusted_origin_may_open_one(browser: Browser, settings: Any) -> None:
    settings.CSRF_TRUSTED_ORIGINS = ["https://hub.example.org"]
    with browser.socket(Origin="https://hub.example.org"):
        pass
    assert browser.refusal(Origin="http://hub.example.org") == "origin"


@pytest.mark.parametrize("path", ["/", "/live/", "/live/x", "/api/semantic/search"])
def test_there_is_no_socket_anywhere_else(browser: Browser, path: str) -> None:
    assert browser.refusal(path) == "path"


def test_an_account_has_no_more_sockets_than_allowed(browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(application, "MAX_OF_ACCOUNT", 2)
    other = Browser(browser.server, sign_in(colleague("ben")))
    with browser.socket(), browser.socket():
        assert browser.refusal() == "account"
        with other.socket():
            pass
    wait_until(lambda: not live_process().sockets)
    with browser.socket():
        pass


def test_a_process_has_no_more_sockets_than_allowed(browser: Browser, settings: Any) -> None:
    settings.MEMORYHUB = replace(settings.MEMORYHUB, live_sockets=1)
    with browser.socket():
        assert browser.refusal() == "full"


# --- what comes through it ----------------------------------------------------------------------------


def test_a_change_is_a_topic_and_a_version_and_no_more(browser: Browser) -> None:
    with browser.socket() as socket:
        before = time.time_ns() // 1_000_000
        make_key()
        frame = wait_for_topic(socket, "keys")
        assert set(frame) == {"topic", "version"}
        assert before <= frame["version"] <= time.time_ns() // 1_000_000
        make_key()
        assert wait_for_topic(socket, "keys")["version"] >= frame["version"] + 900, "one a second"


def test_what_changed_since_the_page_was_made_comes_at_once(browser: Browser) -> None:
    before = time.time_ns() // 1_000_000
    with browser.socket() as socket:
        make_key()
        changed = wait_for_topic(socket, "keys")["version"]
    with browser.socket(f"/live?since={before}") as socket:
        assert wait_for_topic(socket, "keys")["version"] >= changed
    for since in (changed + 60_000, "", "x", "9" * 90, "-1"):
        with browser.socket(f"/live?since={since}") as socket:
            assert "keys" not in {frame["topic"] for frame in frames(socket, 0.05)}


def test_a_process_that_says_otherwise_is_a_change_of_health(browser: Browser) -> None:
    with browser.socket() as socket:
        publish(ProcessKind.WEB, {"index": "ok"}, {"index": {"level": 0}})
        wait_for_topic(socket, "health")
        time.sleep(COALESCE_SECONDS)  # after which a change of health is not held back behind others
        publish(ProcessKind.WEB, {"index": "ok"}, {"index": {"level": 0}})
        make_key()
        assert "health" not in topics_until(socket, "keys")
        publish(ProcessKind.WEB, {"index": "ok"}, {"index": {"level": 1}})
        wait_for_topic(socket, "health")


@pytest.mark.parametrize("kind", ["bound", "no staff", "without a permission"])
def test_who_sees_nothing_of_the_hub_hears_beats_only(server: WebServer, kind: str) -> None:
    user = User.objects.create_user("ana", is_staff=True) if kind == "without a permission" else colleague("ana")
    User.objects.filter(pk=user.pk).update(is_staff=kind != "no staff")
    if kind == "bound":
        Account.objects.create(login=user, household_id="home")
    with Browser(server, sign_in(user)).socket("/live?since=0") as socket:
        make_key()
        assert set(topics_until(socket, "tick", 4)) == {"tick"}


def test_an_account_that_gets_a_bound_hears_no_more(browser: Browser, user: User) -> None:
    with browser.socket() as socket:
        Account.objects.create(login=user, household_id="home")
        wait_for_topic(socket, "tick")
        make_key()
        assert set(topics_until(socket, "tick", 3)) == {"tick"}


# --- when it ends -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("message", "code"), [("{}", 1008), (b"\x00", 1008), ("x" * 1_024, 1008), ("x" * 2_000, 1009)])
def test_who_sends_anything_loses_the_socket(browser: Browser, message: str | bytes, code: int) -> None:
    with browser.socket() as socket:
        socket.ping().wait(5)
        socket.send(message)
        assert code_of_close(socket) == code


def test_a_disabled_account_loses_its_socket(browser: Browser, user: User) -> None:
    with browser.socket() as socket:
        began = time.monotonic()
        User.objects.filter(pk=user.pk).update(is_active=False)
        assert code_of_close(socket) == 4401
        assert time.monotonic() - began < 10
    assert browser.refusal() == "signed_out"


def test_a_session_that_has_ended_loses_its_socket(
    browser: Browser, server: WebServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Browser(server, sign_in(colleague("ben")))
    with browser.socket() as ended, other.socket() as going_on:
        Session.objects.filter(session_key=str(browser.cookie).partition("=")[2]).delete()
        monkeypatch.setattr(process, "CHECK_SECONDS", 0.0)
        assert code_of_close(ended) == 4401
        make_key()
        wait_for_topic(going_on, "keys")


def test_a_session_is_looked_at_however_many_knock(
    browser: Browser, user: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "MAX_WAITING", 0)
    assert browser.refusal() == "unavailable"
    monkeypatch.undo()
    with browser.socket() as socket:
        monkeypatch.setattr(process, "MAX_WAITING", 0)
        User.objects.filter(pk=user.pk).update(is_active=False)
        assert code_of_close(socket) == 4401


def test_a_new_password_ends_the_sockets_of_other_sessions(browser: Browser, user: User) -> None:
    with browser.socket() as socket:
        user.set_password("another long enough password")
        user.save()
        assert code_of_close(socket) == 4401


def test_all_topics_come_after_the_connection_was_lost(browser: Browser) -> None:
    with browser.socket() as socket:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE application_name = %s AND datname = current_database()",
                [APPLICATION_NAME],
            )
            assert cursor.rowcount == 1
        found: set[str] = set()
        wait_until(lambda: found.update(frame["topic"] for frame in frames(socket, 0.1)) or found >= set(TOPICS))


def test_sockets_end_while_changes_are_not_heard_of(browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "DEAF_SECONDS", 0.1)
    with browser.socket() as socket:
        in_its_loop(lambda live: live._note(None, False))
        assert code_of_close(socket) == 1013
    assert browser.refusal() == "unavailable"
    in_its_loop(lambda live: live._note(None, True))
    with browser.socket():
        pass
