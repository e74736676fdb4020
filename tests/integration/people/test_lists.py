"""Lists of users and of what their memories are tagged with, in pages, with the counts of memories and events."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.core.domain.scope import Scope, system_access
from apps.episodic.services import events_record
from apps.people import selectors
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.services import memory_delete, memory_save_many
from tests.api import Api, api_for
from tests.integration.episodic.timeline import Timeline, draft

pytestmark = pytest.mark.django_db
SYSTEM = system_access("test")
NAMES = ["Zoë", "ana", "ben", "zed", "éva", "中"]


@pytest.fixture
def api() -> Api:
    return api_for(Scope())


def save(*drafts: MemoryDraft) -> list[Any]:
    return [outcome.memory for outcome in memory_save_many(access=SYSTEM, drafts=drafts)]  # type: ignore[union-attr]


def walk(api: Api, path: str) -> list[dict[str, Any]]:
    """Follow `next` to the end, and `previous` back to the beginning."""
    page = api.get(path).json()
    pages = [page]
    while page["next"]:
        page = api.get(page["next"]).json()
        pages.append(page)
    back = page
    for earlier in reversed(pages[:-1]):
        back = api.get(back["previous"]).json()
        assert back["results"] == earlier["results"]
    assert back["previous"] is None
    return [item for one in pages for item in one["results"]]


def test_users_are_listed_in_order_with_memories_and_events(api: Api) -> None:
    memories = save(*(MemoryDraft(f"number {n}", scope=Scope(NAMES[n % 4])) for n in range(10)))
    memory_delete(access=SYSTEM, uuid=memories[0].uuid)
    timeline = Timeline()
    timeline.record(*(draft(f"archived {n}", scope=Scope(NAMES[2 + n % 3])) for n in range(6)))
    timeline.archive()
    timeline.record(*(draft(f"row {n}", scope=Scope(NAMES[3 + n % 3])) for n in range(7)))
    events = Counter([NAMES[2 + n % 3] for n in range(6)] + [NAMES[3 + n % 3] for n in range(7)])
    active = Counter(NAMES[n % 4] for n in range(1, 10))
    expected = [
        {"id": name, "memories": active[name], "inactive_memories": int(name == NAMES[0]), "events": events[name]}
        for name in sorted(NAMES)
    ]
    for limit in (1, 2, 3, 6, 50):
        assert walk(api, f"/api/users?limit={limit}") == expected
    assert api.get("/api/users?count=true&limit=2").json()["total"] == len(NAMES)


def test_a_page_reads_its_own_names_only(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    read = Counter[str]()

    def counting(select: Callable[..., list[Any]]) -> Callable[..., list[Any]]:
        def count(*arguments: Any) -> list[Any]:
            found = select(*arguments)
            read[select.__name__] += len(found)
            return found

        return count

    for select in (selectors.memory_counts, selectors.event_counts):
        monkeypatch.setattr(selectors, select.__name__, counting(select))
    save(*(MemoryDraft(f"number {n}", scope=Scope(f"user-{n:02}"), project=f"project-{n:02}") for n in range(30)))
    events_record(access=SYSTEM, drafts=[draft(scope=Scope(f"user-{n:02}")) for n in range(15, 45)])
    for path, total in (("/api/users", 45), ("/api/projects", 30)):
        first = api.get(f"{path}?limit=3&count=true").json()
        assert first["total"] == total
        read.clear()
        with CaptureQueriesContext(connection) as queries:
            second = api.get(first["next"].replace("count=true&", "").replace("&count=true", "")).json()
        assert [one["id"][-2:] for one in second["results"]] == ["03", "04", "05"]
        # Those of the page, one more, which says that there is a next one, and the one of the cursor.
        assert read["memory_counts"] == 5
        assert read["event_counts"] <= 5
        assert len(queries) < 20


def test_tags_and_sessions_are_listed_of_a_scope(api: Api) -> None:
    save(
        MemoryDraft("one", scope=Scope("ana"), project="atlas", type="fact", session_id="s1"),
        MemoryDraft("two", scope=Scope("ana"), project="atlas", type="preference"),
        MemoryDraft("three", scope=Scope("ben"), project="beta"),
    )
    assert walk(api, "/api/projects?user_id=ana") == [{"id": "atlas", "memories": 2, "inactive_memories": 0}]
    assert [one["id"] for one in walk(api, "/api/projects?limit=1")] == ["atlas", "beta"]
    assert [one["id"] for one in walk(api, "/api/types?limit=1")] == ["fact", "preference"]
    assert [one["id"] for one in walk(api, "/api/sessions")] == ["s1"]


def test_an_id_with_slashes_and_spaces_has_figures(api: Api) -> None:
    events_record(access=SYSTEM, drafts=[draft(scope=Scope("a/b c", "home"))])
    answer = api.get("/api/users/a%2Fb%20c")
    assert answer.status_code == 200
    assert (answer.json()["id"], answer.json()["events"]) == ("a/b c", 1)


def test_a_cursor_that_names_nothing_is_not_found(api: Api) -> None:
    answer = api.get("/api/users?cursor=older-00000000-0000-4000-8000-000000000000")
    assert (answer.status_code, answer.json()["errors"][0]["attr"]) == (404, "cursor")
