"""Searching notes over REST and by a tool (spec 001, search API and tools)."""

import pytest
from django.core.management import call_command

from apps.core.domain.scope import Scope
from apps.notes.index.disk import place_of
from apps.notes.tools import SEARCH_MEMORY
from memoryhub.tools import TOOLS
from tests.api import Api, api_for

pytestmark = pytest.mark.django_db
SEARCH = "/api/memory/search"


@pytest.fixture
def ana() -> Api:
    """A caller with a key of ana's."""
    return api_for(Scope("ana"))


def append(api, entry, **fields):
    assert api.post("/api/memory/main/entries", {"entry": entry, **fields}).status_code == 201


def test_search_api(ana):
    """Spec 001, 搜尋 API: GET /api/memory/search?q=query returns results."""
    append(ana, "likes green tea", category="Preferences")
    answer = ana.get(f"{SEARCH}?q=tea").json()
    hit = answer["results"][0]
    assert (answer["count"], answer["mode"] in {"keyword", "hybrid"}) == (1, True)
    assert (hit["path"], hit["first_line"], hit["last_line"]) == ("MEMORY.md", 3, 3)
    assert (hit["heading"], hit["text"]) == ("Preferences", "- likes green tea")
    assert 0 < hit["score"] <= 1
    status = ana.get("/api/memory/status").json()
    assert (status["files"], status["chunks"], status["skipped"]) == (1, 1, {})
    assert status["looked_at"]


@pytest.mark.parametrize(
    ("query", "attr"),
    [("", "q"), ("?q=", "q"), ("?q=tea&limit=51", "limit"), ("?q=tea&limit=0", "limit"), ("?q=tea&other=1", "other")],
)
def test_wrong_searches_are_refused(ana, query, attr):
    refused = ana.get(f"{SEARCH}{query}")
    assert (refused.status_code, refused.json()["errors"][0]["attr"]) == (400, attr)


def test_limit_is_ten_and_at_most_fifty(ana, notes_dir):
    folder = notes_dir / "users" / "ana"
    folder.mkdir(parents=True)
    for number in range(60):
        (folder / f"{number}.md").write_text(f"- tea {number}\n")
    assert ana.get(f"{SEARCH}?q=tea").json()["count"] == 10
    assert ana.get(f"{SEARCH}?q=tea&limit=50").json()["count"] == 50


def test_search_memory_tool(ana, notes_dir):
    """Spec 001, search_memory tool: at most 10 relevant results."""
    from apps.core.domain.scope import system_access

    assert "apps.notes.tools.SEARCH_MEMORY" in TOOLS
    folder = notes_dir / "users" / "ana"
    folder.mkdir(parents=True)
    (folder / "MEMORY.md").write_text("\n\n".join(f"green tea {number} " + "x" * 250 for number in range(30)))
    found = SEARCH_MEMORY.handler(system_access("test"), {"query": "tea", "user_id": "ana"})
    assert found["count"] == len(found["results"]) == 10


def test_what_a_tool_appends_is_in_the_index():
    """Spec 001, append_memory tool: the fact is added to MEMORY.md, and the index is brought up to it.

    Of someone who has written nothing before: soon after a write, a further one leaves the index to the next search.
    """
    from apps.core.domain.scope import system_access
    from apps.notes.tools import append_memory

    append_memory(system_access("test"), {"fact": "rows on Sundays", "user_id": "rower"})
    assert place_of("rower").database.exists()
    rower = api_for(Scope("rower"))
    assert rower.get("/api/memory/status").json()["chunks"] == 1
    assert rower.get(f"{SEARCH}?q=rowing").json()["results"][0]["bm25_score"] > 0


def test_key_of_a_part_of_a_person_is_refused():
    assert api_for(Scope("ana", household_id="home")).get(f"{SEARCH}?q=tea").status_code == 403


def test_command_makes_indexes_again(ana, capsys):
    append(ana, "likes tea")
    append(api_for(Scope("ben")), "likes rice")
    place_of("ana").database.write_bytes(b"damaged")
    call_command("rebuild_notes_index")
    assert "2 indexes were rebuilt." in capsys.readouterr().out
    assert ana.get(f"{SEARCH}?q=tea").json()["count"] == 1
    call_command("rebuild_notes_index", "--user", "ben")
    assert "Index 1 of 1: 1/1" in capsys.readouterr().err
