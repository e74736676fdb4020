"""The pipeline of extraction with a chat model behind a real HTTP server (spec 001, LLM settings)."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from apps.core.domain.scope import Scope
from apps.notes.files.config import config_change
from apps.notes.models import Compaction
from tests.api import Api, api_for
from tests.integration.llm.chat_server import ChatServer, Reply, running_chat_server
from tests.integration.llm.configuring import MODEL, configured, price
from tests.integration.notes.conversations.test_pipeline import TALK, main_text, memories, states, talk

# A model is never asked inside of a transaction, so there must be none of the test's.
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def ana() -> Api:
    """A caller with a key of ana's."""
    return api_for(Scope("ana"))


@pytest.fixture
def server(settings: Any) -> Iterator[ChatServer]:
    """The provider of the chat model gpt-5, with a price."""
    with (
        running_chat_server() as server,
        configured(settings, replace(MODEL, base_url=server.base_url("openai")), budget="10"),
    ):
        price(provider=f"openai@{server.address.removeprefix('http://')}")
        yield server


def switch_on(**values: Any) -> None:
    config_change("ana", values, author="test")


def found(*contents: str) -> Reply:
    """Return an answer with memories, each of the message of its number."""
    memories = [
        {"content": content, "type": "preference", "importance": 0.6, "confidence": 0.8, "messages": [number]}
        for number, content in enumerate(contents, 1)
    ]
    return Reply(chunks=(json.dumps({"memories": memories}),), usage=(1_000, 100), model="gpt-5")


def decided(*decisions: str) -> Reply:
    """Return an answer of the gate."""
    verdicts = [{"fact": number, "decision": each, "reason": "so"} for number, each in enumerate(decisions, 1)]
    return Reply(chunks=(json.dumps({"decisions": verdicts}),), usage=(500, 50), model="gpt-5")


def test_model_extracts_where_it_is_enabled(ana, server):
    """Spec 001, LLM 智慧提取."""
    switch_on(llmExtractionEnabled=True, llmExtractionModel="gpt-5")
    server.say(found("Ana prefers green tea to coffee."))
    run = talk(ana, "Green tea rather than coffee, for me.", "How are you?")
    [fact] = run["results"]
    assert (fact["content"], fact["pattern"], fact["state"]) == ("Ana prefers green tea to coffee.", "model", "applied")
    assert fact["message_number"] == 1
    assert "- Ana prefers green tea to coffee.\n" in main_text()
    extract = run["steps"][0]
    assert (extract["how"], extract["by_model"]["model"]["code"], run["model"]) == ("model", "", "gpt-5")
    assert float(run["cost_usd"]) == float(extract["by_model"]["model"]["cost_usd"]) > 0


def test_patterns_extract_where_the_model_fails(ana, server):
    """Spec 001, LLM 智慧提取: the fallback."""
    switch_on(llmExtractionEnabled=True, llmExtractionModel="gpt-5")
    server.say(Reply(status=401))
    run = talk(ana, *TALK)
    assert (run["steps"][0]["how"], run["applied"], run["model"]) == ("patterns", 3, "")
    assert run["steps"][0]["by_model"]["model"]["code"]


def test_patterns_extract_what_the_model_has_not_read(ana, server):
    switch_on(llmExtractionEnabled=True, llmExtractionModel="gpt-5", llmExtractionMaxMessages=1)
    server.say(found("Ana prefers green tea to coffee."))
    run = talk(ana, "I was born in Bergen.", "Green tea rather than coffee, for me.")
    assert [(fact["content"], fact["message_number"]) for fact in run["results"]] == [
        ("I was born in Bergen.", 1), ("Ana prefers green tea to coffee.", 2),
    ]  # fmt: skip


def test_gate_is_asked_after_reconcile_and_before_apply(ana, server):
    """Spec 001, LLM 品質閘門."""
    talk(ana, "I was born in Bergen.")
    switch_on(llmGatingEnabled=True, llmGatingModel="gpt-5")
    server.say(decided("keep", "drop"))
    run = talk(ana, "I was born in Bergen.", "I really like green tea.", "We decided to paint the boat blue.")
    assert [each["step"] for each in run["steps"]] == ["extract", "reconcile", "gate", "apply", "finish"]
    assert states(run) == [("dropped", "in_notes"), ("applied", ""), ("dropped", "gate: so")]
    assert run["steps"][2]["dropped"] == {"gate": 1}
    assert float(run["cost_usd"]) > 0
    assert "blue" not in main_text()
    assert sorted(memories()) == ["I really like green tea.", "I was born in Bergen."]


def test_compaction_is_asked_for_when_it_is_due(ana):
    """Spec 001, 壓縮觸發."""
    switch_on(llmCompactionEnabled=True, llmCompactionFactThreshold=2)
    run = talk(ana, *TALK)
    compaction = Compaction.objects.get(user_id="ana")
    assert run["steps"][-1]["compaction"] == str(compaction.uuid)
    assert compaction.automatic
    switch_on(llmCompactionEnabled=False)
    assert talk(ana, "I was born in Bergen.")["steps"][-1]["compaction"] is None
