"""Ask: what an assistant would get, what it would not, and why."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from apps.core.domain.scope import Permission, Scope, system_access
from apps.core.models import ApiKey
from apps.core.services import key_create
from apps.retrieval.domain.query import SearchQuery
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.models import Conflict, Memory
from apps.semantic.services import Absence, conflict_accept, memories_missing, memory_delete, memory_save, memory_search
from tests.integration.cockpit.bounds import bound_client
from tests.integration.llm.rerank_server import configured_server, running_rerank_server

pytestmark = pytest.mark.django_db

Remember = Callable[..., Memory]
HUB = system_access("test")
HOSTILE = "<script>alert(1)</script> tea <img src=x onerror=alert(1)> \" onmouseover='x'"


def save(content: str, scope: Scope) -> Memory:
    return memory_save(access=HUB, draft=MemoryDraft(content, scope=scope)).memory


def ask(client: Client, question: str, **fields: str) -> str:
    response = client.post(reverse("cockpit_ask"), {"question": question, **fields})
    assert response.status_code == 200
    return response.content.decode()


def make_key(name: str = "kitchen", **bound: str) -> ApiKey:
    key_create(name=name, scope=Scope(**bound), permission=Permission.READ, actor="test")
    return ApiKey.objects.get(name=name)


def absences(question: str, scope: Scope, **fields: object) -> dict[str, Absence]:
    """Why each memory is missing in the search of a key for a scope, as the hub sees it."""
    query = SearchQuery(query=question, scope=scope, **fields)
    found = [one.memory.pk for one in memory_search(HUB, query).found]
    return {one.memory.content: one.absence for one in memories_missing(HUB, query, found, HUB).found}


def test_ask_shows_what_key_would_get(operator: Client, remember: Remember) -> None:
    remember("Ana drinks green tea")
    remember("Ben drinks black tea", user="ben")
    text = ask(operator, "Who drinks tea?", key=str(make_key(user_id="ana").uuid))
    found, missing = text.split("What was left out, and why")
    assert "Ana <mark>drinks</mark> green <mark>tea</mark>" in found
    assert "for the key kitchen" in found
    assert "Ben" not in found
    assert "It belongs to user ben, which the key kitchen may not read." in missing


def test_a_reranker_that_does_not_answer_is_said(operator: Client, remember: Remember, settings: Any) -> None:
    for text in ("Ana drinks green tea", "Ana drinks black tea"):
        remember(text)
    with running_rerank_server() as server, configured_server(settings, server):
        server.say({}, status=503)
        text = ask(operator, "Who drinks tea?")
        assert "The reranker did not answer" in text
        server.score([2, 1])
        assert "The reranker did not answer" not in ask(operator, "Who drinks tea?")


def test_each_missing_memory_has_its_reason(remember: Remember) -> None:
    memory_delete(access=HUB, uuid=remember("Ana drinks cold tea").uuid)
    remember("Ana drinks hot tea", expires_at=datetime.now(UTC) + timedelta(seconds=60))
    Memory.objects.filter(content="Ana drinks hot tea").update(expires_at=datetime.now(UTC) - timedelta(days=1))
    remember("Ana drinks mint tea", occurred_at=datetime(2020, 1, 1, tzinfo=UTC))
    remember("Ben drinks black tea", user="ben")
    window = {"start": datetime(2025, 1, 1, tzinfo=UTC)}
    assert absences("Who drinks tea?", Scope("ana"), **window) == {
        "Ana drinks cold tea": Absence.DELETED,
        "Ana drinks hot tea": Absence.EXPIRED,
        "Ana drinks mint tea": Absence.FILTERED,
        "Ben drinks black tea": Absence.SCOPE,
    }


def test_what_ranks_too_low_is_next_in_order(remember: Remember) -> None:
    for number in range(6):
        remember(f"Ana drinks tea number {number}, never before {number + 6} o'clock")
    found = absences("tea", Scope("ana"), top_k=2)
    assert list(found.values()) == [Absence.RANK] * 3


def test_superseded_memory_says_by_which_and_by_what_decision(operator: Client, remember: Remember) -> None:
    remember("Ana lives in Lisbon.")
    remember("Ana does not live in Lisbon.")
    receipt = Conflict.objects.get()
    given = ask(operator, "Does Ana live in Lisbon?", user_id="ana")
    assert "The rules replaced it with the one above." in given
    conflict_accept(access=HUB, uuid=receipt.uuid)
    missing = ask(operator, "Does Ana live in Lisbon?", user_id="ana").split("What was left out, and why")[1]
    loser = Memory.objects.exclude(status="active").get()
    assert reverse("admin:semantic_memory_change", args=[loser.superseded_by.pk]) in missing
    assert reverse("admin:semantic_conflict_change", args=[receipt.uuid]) in missing


def test_candidates_of_large_hub_are_near_ones_and_those_with_words(
    remember: Remember, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("apps.semantic.search.every_status.MAX_ROWS", 4)
    gone = remember("Ana keeps an armadillo")
    memory_delete(access=HUB, uuid=gone.uuid)
    for number in range(8):
        remember(f"Fact number {number}")
    assert absences("armadillo", Scope("ana")) == {"Ana keeps an armadillo": Absence.DELETED}


def test_bound_account_sees_nothing_of_others_and_asks_as_keys_within(remember: Remember) -> None:
    save("Ana drinks green tea", Scope("ana", "home"))
    save("Zoe hides black tea", Scope("zoe", "work"))
    inside, outside = make_key("inside", household_id="home"), make_key("outside", household_id="work")
    whole = make_key("whole")
    client = bound_client(("view_memory",), household_id="home")
    page = client.get(reverse("cockpit_ask")).content.decode()
    assert (str(inside.uuid) in page, str(outside.uuid) in page, str(whole.uuid) in page) == (True, False, False)
    for fields in ({}, {"key": str(inside.uuid)}, {"household_id": "work"}, {"user_id": "zoe"}):
        text = ask(client, "Who drinks tea?", **fields)
        assert "Zoe" not in text
        assert "zoe" not in text.split("What was left out, and why")[1].replace("asked for user zoe", "")
    assert "green <mark>tea" in ask(client, "Who drinks tea?")
    assert "Select a valid choice" in ask(client, "tea", key=str(outside.uuid))


def test_keys_with_further_grants_are_not_offered_to_bound_accounts() -> None:
    key_create(name="far", scope=Scope("ana"), permission=Permission.READ, actor="test", reads=("zoe",))
    assert "far" not in bound_client(("view_memory",), user_id="ana").get(reverse("cockpit_ask")).content.decode()


def test_contents_and_question_are_escaped(operator: Client, remember: Remember) -> None:
    remember(HOSTILE)
    memory_delete(access=HUB, uuid=remember(f"{HOSTILE} again").uuid)
    text = ask(operator, f"tea {HOSTILE}", user_id='"><script>alert(2)</script>')
    assert "<mark>tea</mark>" in ask(operator, "tea")
    for page in (text, ask(operator, "tea script alert")):
        for tag in ("<script>alert", "<img src=x", "onmouseover='x'"):
            assert tag not in page


def test_ask_needs_permission(staff: Callable[..., Client]) -> None:
    assert staff("view_conflict").get(reverse("cockpit_ask")).status_code == 403


def test_empty_hub_answers(operator: Client) -> None:
    assert "Nothing was found: there is no memory in that scope." in ask(operator, "anything", top_k="5")
    assert "before the start" in ask(operator, "tea", start="2026-02-01T00:00", end="2026-01-01T00:00")


def test_question_is_saved_for_evaluate_which_finds_its_answer(
    operator: Client, remember: Remember, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    memory, other = remember("Ana drinks green tea"), remember("Ben drinks coffee", user="ben")
    address = reverse("cockpit_ask_question")
    saved = operator.post(address, {"question": 'Which "tea"?\n', "evidence": [str(memory.uuid), "nonsense"]})
    assert "attachment" in saved.headers["Content-Disposition"]
    file = tmp_path / "questions.jsonl"
    file.write_bytes(saved.content)
    call_command("evaluate", str(file), "--json")
    figures = json.loads(capsys.readouterr().out)
    assert (figures["overall"]["questions"], figures["overall"]["mrr"]) == (1, 1.0)
    for evidence in ([], [str(memory.uuid), str(other.uuid)]):
        assert operator.post(address, {"question": "tea", "evidence": evidence}).status_code == 302
    bound = bound_client(("view_memory",), user_id="ben")
    assert bound.post(address, {"question": "tea", "evidence": [str(memory.uuid)]}).status_code == 302
