"""The Python client against a hub with a real HTTP server."""

import asyncio
import subprocess
import sys

import pytest

from apps.core.domain.scope import Permission, Scope
from memoryhub_client import AsyncClient, Client, Conflict, InvalidRequest, NotAuthenticated, NotFound, NotPermitted
from tests.api import api_for

pytestmark = pytest.mark.django_db(transaction=True)


def test_memories_are_saved_found_and_forgotten(url: str, key: str) -> None:
    with Client(url, key, project="atlas") as hub:
        saved = hub.save("Ana prefers tea to coffee.", type="preference")
        assert (saved["action"], saved["memory"]["user_id"]) == ("inserted", "ana")
        assert hub.save("Ana prefers tea to coffee.", type="preference")["action"] == "skipped"
        first, second = hub.save_many([{"content": "Ana rows on Sundays."}, {"content": "", "project": "x"}])
        assert (first["status"], second["status"], second["errors"][0]["attr"]) == (201, 400, "content")

        memory = hub.get(saved["memory"]["id"])
        assert memory["project"] == "atlas"
        hub.update(memory["id"], version=memory["version"], importance=0.9)
        with pytest.raises(Conflict):
            hub.update(memory["id"], version=memory["version"], importance=0.1)
        assert hub.search("does Ana prefer tea?", limit=1)["results"][0]["memory"]["importance"] == 0.9

        known = hub.context("does Ana prefer tea?", max_tokens=500)
        assert [(one["kind"], one["id"]) for one in known["items"]][:1] == [("memory", memory["id"])]
        assert "Ana prefers tea to coffee." in known["text"]

        hub.forget(memory["id"])
        assert [one["memory"]["content"] for one in hub.search("tea")["results"]] == ["Ana rows on Sundays."]
        assert hub.forget_many(filter={"project": "atlas"}, dry_run=True)["matched"] == 1
        assert hub.forget_many(filter={"project": "atlas"})["deleted"] == 1


def test_events_and_notes(url: str, key: str) -> None:
    with Client(url, key) as hub:
        recorded = hub.record("message", "Ana cancelled the dinner", importance=0.9)
        again = hub.record("message", "Ana cancelled the dinner", timestamp=recorded["event"]["timestamp"])
        assert (recorded["action"], again["action"]) == ("recorded", "duplicate")
        assert [one["status"] for one in hub.record_many([{"event_type": "visit", "content": "Dentist"}])] == [201]
        assert hub.query_events(event_types=["message"])["results"][0]["content"] == "Ana cancelled the dinner"

        assert hub.append_note("Ana likes green tea.", category="Preferences", operation_id="1")["action"] == "added"
        assert hub.append_note("Ana likes green tea.", category="Preferences", operation_id="1")["action"] == "known"
        hub.append_daily("Ana was at the dentist.", timezone="Europe/Oslo")
        assert "green tea" in hub.read_note()["text"]
        assert hub.search_notes("green tea")["results"][0]["path"] == "MEMORY.md"


def test_refusals_are_said_in_the_words_of_the_hub(url: str, key: str) -> None:
    reader = str(api_for(Scope("ben"), Permission.READ).key)
    with Client(url, key) as hub, Client(url, reader) as other, Client(url, "mh_wrong") as stranger:
        memory = hub.save("Ana's bicycle is green.")["memory"]["id"]
        with pytest.raises(InvalidRequest, match="importance: Ensure this value is less than") as refused:
            hub.save("Ana", importance=70)
        assert (refused.value.status, refused.value.code, refused.value.attr) == (400, "max_value", "importance")
        assert refused.value.request_id
        with pytest.raises(NotFound):
            other.get(memory)
        with pytest.raises(NotPermitted):
            other.save("Ben was here.")
        with pytest.raises(NotAuthenticated, match="Bearer"):
            stranger.search("anything")


def test_the_asynchronous_client_does_the_same(url: str, key: str) -> None:
    async def work() -> list[str]:
        async with AsyncClient(url, key) as hub:
            await asyncio.gather(*(hub.save(f"Ana has {count} bees.") for count in ("four", "forty")))
            assert "bees" in (await hub.context("bees"))["text"]
            assert (await hub.context("quantum chromodynamics"))["sentence"]
            return sorted(one["memory"]["content"] for one in (await hub.search("bees"))["results"])

    assert asyncio.run(work())


def test_the_package_needs_no_django() -> None:
    code = "import sys, memoryhub_client; sys.exit('django' in sys.modules or 'apps' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=30).returncode == 0
