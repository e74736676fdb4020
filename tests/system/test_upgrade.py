"""A data directory of 0.1.0 starts with the present code, which goes on with everything in it.

`upgrade/make_dump.py` made the stored one. What it knew of it is in `facts`.
"""

import contextlib
import http.client
import io
import json
import os
import re
import shutil
import tarfile
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
import zstandard

from memoryhub.postgres.lease import DatabaseLease
from memoryhub.postgres.server import EmbeddedDatabase
from memoryhub.roles import ROLES
from tests.system.hub import Hub, wait_for

pytestmark = pytest.mark.xdist_group("hub")

ARCHIVE = Path(__file__).parent / "upgrade" / "hub-0.1.0.tar.zst"
MEMORIES, CONFLICTS, SEARCH = "/api/semantic/memories", "/api/semantic/conflicts", "/api/semantic/search"
PATIENCE = 120.0


@dataclass
class Upgraded:
    """A restored hub. facts: what was noted when it was made. report: what a process found before the start."""

    hub: Hub
    facts: dict[str, Any]
    report: dict[str, Any]

    def call(self, method: str, path: str, body: Any = None, key: str | None = None) -> Any:
        """Call the API, as the operator unless another key is given; return the answer of a call that succeeds."""
        headers = {"Authorization": f"Bearer {key or self.facts['operator_key']}", "Content-Type": "application/json"}
        status, text = self.send(method, path, None if body is None else json.dumps(body), headers)
        assert status < 300, text
        return json.loads(text) if text else None

    def send(self, method: str, path: str, body: str | None, headers: dict[str, str]) -> tuple[int, str]:
        """Send a request; return status and text."""
        connection = http.client.HTTPConnection("127.0.0.1", self.hub.port, timeout=30)
        try:
            connection.request(method, path, body, headers)
            response = connection.getresponse()
            return response.status, response.read().decode()
        finally:
            connection.close()

    def page(self, path: str, form: list[tuple[str, str]] | None = None) -> str:
        """Open a page of the admin in the session that was begun under 0.1.0, or send a form to it."""
        token = "t" * 32
        headers = {"Cookie": f"sessionid={self.facts['session']}; csrftoken={token}"}
        if form is None:
            status, text = self.send("GET", path, None, headers)
            assert status == 200, (status, text)
            return text
        headers["Content-Type"] = "application/x-www-form-urlencoded"
        status, text = self.send("POST", path, urlencode([*form, ("csrfmiddlewaretoken", token)]), headers)
        assert status == 302, (status, text)
        return text

    def rows(self, sql: str, *parameters: Any) -> list[tuple[Any, ...]]:
        """Ask the database."""
        with self.hub.database.connect() as connection:
            return connection.execute(sql.encode(), parameters).fetchall()

    def contents(self, user: str) -> set[str]:
        """Return what the list of a user's active memories says."""
        return {memory["content"] for memory in self.call("GET", f"{MEMORIES}?user_id={user}&limit=200")["results"]}

    def receipt(self, uuid: str) -> Any:
        """Return the receipt of a decision."""
        return self.call("GET", f"{CONFLICTS}/{uuid}")


@pytest.fixture(scope="module")
def upgraded() -> Iterator[Upgraded]:
    """The stored hub, migrated and looked into by a process of its own; it is not started."""
    # Below pytest's own directories no account but the owner's can reach a place, and the database may be another.
    place = Path(tempfile.mkdtemp(prefix=f"memoryhub-tests-{os.getpid()}-"))
    hub = Hub(place / "hub")
    try:
        with DatabaseLease(EmbeddedDatabase(hub.data_dir, durable=False)):
            facts = restore(hub)
            code = f"from tests.system.upgrade.probe import report; report({facts!r})"
            answer = hub.command("shell", "-v", "0", "-c", code)
            assert answer.returncode == 0, answer.stderr
            yield Upgraded(hub, facts, json.loads(answer.stdout.splitlines()[-1]))
            hub.end()
    finally:
        hub.end()
        shutil.rmtree(place, ignore_errors=True)


@pytest.fixture(scope="module")
def started(upgraded: Upgraded) -> Upgraded:
    """The same, up and running, once the worker has done all that was asked for under 0.1.0."""
    upgraded.hub.start()
    # Runs ask for their next task until they end, and none of what a schedule asks for takes long.
    waiting = (
        "SELECT (SELECT count(*) FROM django_q_ormq)"
        " + (SELECT count(*) FROM events_delivery WHERE status = 'pending')"
        " + (SELECT count(*) FROM semantic_ingestion WHERE status IN ('pending', 'unlinking'))"
    )
    # Of what never ends the tests say more than this wait could.
    with contextlib.suppress(AssertionError):
        wait_for(lambda: upgraded.rows(waiting) == [(0,)], "the worker", PATIENCE)
    return upgraded


def restore(hub: Hub) -> dict[str, Any]:
    """Put the stored files and rows into an empty data directory whose database runs; return the facts."""
    content = zstandard.ZstdDecompressor().decompress(ARCHIVE.read_bytes())
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        archive.extractall(hub.data_dir, filter="data")
    sql, facts = hub.data_dir / "database.sql", hub.data_dir / "facts.json"
    with hub.database.connect() as connection:
        connection.execute(sql.read_bytes())
    known: dict[str, Any] = json.loads(facts.read_text())
    for path in (sql, facts):
        path.unlink()
    return known


# --- before the start -----------------------------------------------------------------------------


def test_all_rows_are_there_after_the_migrations(upgraded: Upgraded) -> None:
    assert upgraded.report["migrations"] == []
    roles = {"auth_group": upgraded.facts["rows"]["auth_group"] + len(ROLES)}
    assert upgraded.report["rows"] == {**upgraded.facts["rows"], **roles}


@pytest.mark.parametrize("names", ["schedules", "queued", "recorded", "subscribers"])
def test_every_stored_path_resolves(upgraded: Upgraded, names: str) -> None:
    found = upgraded.report[names]
    assert found
    assert set(found) == {""}


def test_every_stored_payload_is_read(upgraded: Upgraded) -> None:
    found = upgraded.report["payloads"]
    assert len(found) > 100
    assert set(found) == {""}


def test_a_finished_run_is_still_shown(upgraded: Upgraded) -> None:
    run = upgraded.report["run"]
    assert (run["finished"], run["failed"], run["kind"]) == (True, False, "verify")
    assert [tone for tone, _ in run["lines"]] == ["good", "good"]


def test_people_keep_their_permissions(upgraded: Upgraded) -> None:
    assert upgraded.facts["permissions"]
    assert set(upgraded.facts["permissions"]) <= set(upgraded.report["permissions"])
    assert upgraded.report["content_types"] == []


def test_a_graph_is_taken_from_its_snapshot(upgraded: Upgraded) -> None:
    graph = upgraded.report["graph"]
    # The snapshot is older than the last memories and knows one that was deleted since.
    assert graph["memories"] - 10 <= graph["known"] <= graph["memories"]
    files = {path.suffix for path in (upgraded.hub.data_dir / "semantic-index").glob("*/*.*")}
    assert files == {".graph", ".json"}


# --- what waited ----------------------------------------------------------------------------------


def test_no_queued_task_fails(started: Upgraded) -> None:
    failed = started.rows("SELECT id, func, name FROM django_q_task WHERE NOT success")
    assert [task for task, _, _ in failed] == [started.facts["failed_task"]], failed


def test_every_pending_delivery_is_made(started: Upgraded) -> None:
    states = started.rows("SELECT status, count(*) FROM events_delivery WHERE status <> 'delivered' GROUP BY status")
    assert states == [("failed", len(started.facts["dead_letters"]))]


def test_waiting_events_become_memories(started: Upgraded) -> None:
    assert set(started.facts["made"]) <= started.contents("dora")


def test_memories_of_purged_events_leave(started: Upgraded) -> None:
    purged = "Ana promised to feed the geese"
    assert purged in started.facts["memories"]
    assert set(started.facts["memories"]) - {purged} <= started.contents("ana")
    assert purged not in started.contents("ana")


def test_a_queued_revert_is_carried_out(started: Upgraded) -> None:
    assert [started.receipt(uuid)["state"] for uuid in started.facts["emil"]] == ["reverted"] * 3
    [[parts]] = started.rows("SELECT count(*) FROM django_q_task WHERE position(%s in \"group\") > 0 AND success",
                             started.facts["revert_run"])  # fmt: skip
    assert parts == 1


def test_a_queued_consolidation_decides(started: Upgraded) -> None:
    found = started.call("GET", f"{CONFLICTS}?user_id=cleo&origin=consolidation&limit=200")["results"]
    outcomes = {receipt["outcome"] for receipt in found}
    assert outcomes == {"noticed", "superseded_existing"}


def test_a_queued_run_ends_on_its_page(started: Upgraded) -> None:
    text = started.page(f"/admin/episodic/segment/run/{started.facts['verify_later_run']}/")
    assert re.search(r"<h2[^>]*>[^<]*: done", text), text
    assert "stopped before it finished" not in text


# --- what is used again ---------------------------------------------------------------------------


def test_an_open_conflict_is_accepted(started: Upgraded) -> None:
    uuid = started.facts["open"]
    listed = started.call("GET", f"{CONFLICTS}?user_id=ben&state=open&limit=200")["results"]
    assert {uuid, started.facts["noticed"]} <= {receipt["id"] for receipt in listed}
    assert started.call("POST", f"{CONFLICTS}/{uuid}/accept")["state"] == "accepted"


def test_noticed_conflict_is_decided_by_person(started: Upgraded) -> None:
    answer = started.call("POST", f"{CONFLICTS}/{started.facts['noticed']}/override", {"winner": "existing"})
    assert (answer["origin"], answer["outcome"]) == ("override", "kept_existing")


@pytest.mark.parametrize("name", ["decided", "merged"])
def test_a_decision_is_reverted(started: Upgraded, name: str) -> None:
    before = started.receipt(started.facts[name])
    assert before["existing"]["status"] in {"superseded", "merged"}
    answer = started.call("POST", f"{CONFLICTS}/{started.facts[name]}/revert")
    assert (answer["outcome"], answer["about"]) == ("reverted", started.facts[name])
    after = started.receipt(started.facts[name])
    assert (after["state"], after["existing"]["status"]) == ("reverted", "active")


def test_events_of_every_segment_are_found(started: Upgraded) -> None:
    window = {"user_id": "ana", "from": "2026-02-01T00:00:00Z", "event_types": ["chore"], "top_k": 200}
    answer = started.call("POST", "/api/episodic/query", window)
    facts = started.facts
    assert sorted(event["content"] for event in answer["results"]) == sorted(
        [*facts["archived"], *facts["sealed"], *facts["hot"]]
    )
    assert answer["diagnostics"]["complete"]
    assert answer["diagnostics"]["archived"] >= len(facts["archived"])


def test_an_archived_event_is_found_by_its_words(started: Upgraded) -> None:
    question = {"user_id": "ana", "query": "who moved the telescope on day 1", "from": "2026-02-01T00:00:00Z"}
    answer = started.call("POST", "/api/episodic/query", question)
    assert answer["results"][0]["content"] == "telescope moved on day 1"


def test_memories_are_found_by_words_and_vector(started: Upgraded) -> None:
    key = started.facts["ana_key"]
    by_words = started.call("POST", SEARCH, {"query": "telescope in the shed"}, key)["results"]
    assert by_words[0]["memory"]["content"] == "The telescope is in the shed."
    by_vector = started.call("POST", SEARCH, {"embedding": [1.0] + [0.0] * 383, "top_k": 1}, key)["results"]
    assert by_vector[0]["memory"]["content"] == "A memory with its own vector."


def test_a_deleted_memory_is_restored(started: Upgraded) -> None:
    deleted = started.facts["deleted"]
    restored = started.call("POST", f"{MEMORIES}/{deleted['id']}/restore")
    assert (restored["content"], restored["status"]) == (deleted["content"], "active")


def test_dead_letters_are_delivered_again(started: Upgraded) -> None:
    """One of them becomes a memory; the event of the other one was removed before it was delivered."""
    chosen = [("_selected_action", str(delivery)) for delivery in started.facts["dead_letters"]]
    started.page("/admin/events/delivery/", [("action", "redeliver"), *chosen])
    wait_for(lambda: started.facts["redelivered"] in started.contents("dora"), "a memory", PATIENCE)
    assert started.facts["withdrawn"] not in started.contents("dora")
    left = "SELECT count(*) FROM events_delivery WHERE status <> 'delivered'"
    wait_for(lambda: started.rows(left) == [(0,)], "the deliveries", PATIENCE)
    assert started.facts["withdrawn"] not in started.contents("dora")


def test_tools_answer(started: Upgraded) -> None:
    names = {tool["name"] for tool in started.call("GET", "/api/llm/tools")["results"]}
    assert {"memory_save", "memory_search", "memory_reinforce", "event_record", "event_query"} <= names
    text = '[[ABP_TOOL:memory_search]]{"query": "telescope in the shed"}[[END_ABP_TOOL]]'
    answer = started.call("POST", "/api/llm/tools/execute", {"text": text}, started.facts["ana_key"])
    assert [result["outcome"] for result in answer["results"]] == ["done"]


def test_the_start_makes_no_new_credentials(started: Upgraded) -> None:
    assert "First start" not in started.hub.said()


def test_each_schedule_is_there_once(started: Upgraded) -> None:
    names = [name for (name,) in started.rows("SELECT name FROM django_q_schedule")]
    assert len(names) == len(set(names)) >= started.facts["rows"]["django_q_schedule"]
