"""Undecided pairs of memories, and a model on a real server that judges them."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from apps.core.domain.randomness import DeterministicRNG
from apps.core.domain.scope import Scope, system_access
from apps.llm.models import BudgetReservation
from apps.rules.services import rule_delete, rule_register
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.judge.run import JudgeReport
from apps.semantic.judge.services import judge_run
from apps.semantic.models import Conflict, Memory
from apps.semantic.services import memory_save
from tests.integration.llm.chat_server import ChatServer, Received, Reply, running_chat_server
from tests.integration.llm.configuring import MODEL, configured

# Under it every two memories that are near each other are noticed, and none is decided.
CURIOUS = {"semantic_threshold": 0.0, "contradiction_threshold": 1.0, "restate_threshold": 1.0}
ANA = Scope("ana")


def verdict(word: str, holds: str = "both", confidence: float = 0.95, reason: str = "As the notes say.") -> Reply:
    """The answer of a model."""
    answer = {"verdict": word, "holds": holds, "confidence": confidence, "reason": reason}
    return Reply(chunks=(json.dumps(answer),), usage=(400, 40))


UPDATE, COEXIST, SAME = verdict("update", "later"), verdict("coexist"), verdict("same")


def notice(*texts: str, scope: Scope = ANA, **fields: Any) -> Conflict:
    """Save texts of which the last one is noticed as a conflict with those before it."""
    rule_register(document={"name": "curious", "priority": 9, "detection": CURIOUS}, actor="test")
    for text in texts:
        draft = MemoryDraft(text, scope=scope, **fields)
        saved = memory_save(access=system_access("test"), draft=draft)
    rule_delete(name="curious", actor="test")
    receipt = Conflict.objects.get(uuid=saved.conflict)
    assert (receipt.outcome, receipt.state) == ("noticed", "open")
    return receipt


@pytest.fixture
def chat_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    """A server that speaks the format of a chat model."""
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    with running_chat_server() as server:
        yield server


@pytest.fixture
def chat_model(chat_server: ChatServer, settings: Any) -> Iterator[ChatServer]:
    """The server is the configured chat model; what is set aside of a budget is handed back."""
    with model_of(settings, chat_server):
        yield chat_server
    assert not BudgetReservation.objects.exists()


@contextmanager
def model_of(settings: Any, server: ChatServer, name: str = "some-model", **guards: Any) -> Iterator[None]:
    """The configured chat model is this server."""
    model = replace(MODEL, model=name, base_url=server.base_url("openai"))
    with configured(settings, model, **guards):
        yield


def judge(**options: Any) -> JudgeReport:
    """Run the judge without pauses."""
    return judge_run(**{"rng": DeterministicRNG(1), "sleep": lambda _: None, **options})


def notes_in(received: Received) -> dict[str, Any]:
    """The two notes of a question."""
    asked = received.body["messages"][-1]["content"].split("\n")
    notes: dict[str, Any] = json.loads(asked[2])
    return notes


def active() -> list[str]:
    return list(Memory.objects.active().order_by("id").values_list("content", flat=True))
