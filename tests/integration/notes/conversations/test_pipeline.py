"""The pipeline of extraction: extract, reconcile, gate, apply (spec 001, automatic extraction)."""

import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone
from django_q.models import OrmQ

from apps.core.db.user_locks import lock_user, unlock_user
from apps.core.domain.clock import DeterministicClock
from apps.core.domain.errors import UnavailableError
from apps.core.domain.origin import WriteOrigin
from apps.core.domain.scope import Access, Permission, Scope, system_access
from apps.notes.conversations import runs as runs_module
from apps.notes.conversations import steps
from apps.notes.files.config import config_change
from apps.notes.files.owner import folder_of
from apps.notes.models import ExtractedFact, ExtractionRun, NoteVersion
from apps.notes.services import runs_continue
from apps.rules.services import rule_register
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.models import Memory
from apps.semantic.services import memory_save
from tests.api import Api, api_for

pytestmark = pytest.mark.django_db
SESSIONS = "/api/auto-memory/sessions"
SAID_AT = datetime(2026, 3, 5, 12, tzinfo=UTC)
TALK = ("I really like green tea.", "I live in Bergen.", "We decided to paint the boat blue.", "How are you?")


@pytest.fixture
def ana() -> Api:
    """A caller with a key of ana's."""
    return api_for(Scope("ana"))


def talk(api: Api, *texts: str, kind: str = "session.end", session: str = "chat", **fields: Any) -> dict[str, Any]:
    """Say something, have it extracted, and return the run as the API shows it."""
    said = [{"role": "user", "content": text} for text in texts]
    assert api.post(f"{SESSIONS}/{session}/messages", {"messages": said, **fields}).status_code == 201
    event = {"type": kind, **({"ratio": 0.8} if kind == "session.usage_info" else {})}
    answer = api.post(f"{SESSIONS}/{session}/events", event).json()
    runs_continue()
    shown: dict[str, Any] = api.get(f"/api/auto-memory/runs/{answer['runs'][0]}").json()
    return shown


def talk_messages(api: Api, *said: dict[str, Any]) -> dict[str, Any]:
    """Send messages as they are, have them extracted at the end, and return the run as the API shows it."""
    assert api.post(f"{SESSIONS}/chat/messages", {"messages": list(said)}).status_code == 201
    answer = api.post(f"{SESSIONS}/chat/events", {"type": "session.end"}).json()
    runs_continue()
    shown: dict[str, Any] = api.get(f"/api/auto-memory/runs/{answer['runs'][0]}").json()
    return shown


def main_text(user: str = "ana") -> str:
    path = folder_of(user).path / "MEMORY.md"
    return path.read_text() if path.exists() else ""


def memories(user: str = "ana") -> dict[str, Memory]:
    return {memory.content: memory for memory in Memory.objects.filter(user_id=user, status="active")}


def make_due() -> None:
    """Let the time pass until runs are tried again."""
    ExtractionRun.objects.update(next_try_at=timezone.now() - timedelta(seconds=1))


def states(run: dict[str, Any]) -> list[tuple[str, str]]:
    return [(fact["state"], fact["reason"]) for fact in run["results"]]


def test_result_of_extraction(ana):
    """Spec 001, 提取結果 and MEMORY.md 持久化: facts are in MEMORY.md by category, in the memories and in the index."""
    run = talk(ana, *TALK)
    assert (run["state"], run["error"], run["messages"]) == ("finished", "", 4)
    facts = {fact["content"]: fact for fact in run["results"]}
    assert len(facts) == run["facts"] == run["applied"] == 3
    text = main_text()
    for content, fact in facts.items():
        assert f"## {fact['category']}\n" in text
        assert f"- {content}\n" in text
        memory = memories()[content]
        assert (memory.source, memory.session_id) == ("conversation", "chat")
        assert memory.metadata["conversation"]["message"] == fact["message"]
        assert str(memory.uuid) == fact["memory"]
        version = NoteVersion.objects.get(uuid=fact["note_version"])
        assert version.author == run["actor"]
    assert [each["step"] for each in run["steps"]] == ["extract", "reconcile", "gate", "apply", "finish"]
    assert (run["steps"][0]["how"], run["model"], run["cost_usd"]) == ("patterns", "", "0")
    assert run["steps"][3]["actions"] == {"inserted": 3}
    assert run["steps"][4]["index"] == "refreshed"


def test_extraction_runs_once_for_each_message(ana):
    talk(ana, *TALK)
    before = main_text()
    assert runs_continue() == 0
    again = ana.post(f"{SESSIONS}/chat/events", {"type": "session.end"}).json()
    assert again["reason"] == "nothing_new"
    assert main_text() == before


def test_what_is_in_the_notes_is_not_added_again(ana):
    folder_of("ana").create()
    (folder_of("ana").path / "MEMORY.md").write_text("# Mine\n* I LIVE in Bergen\n")
    run = talk(ana, "I live in Bergen.")
    assert states(run) == [("dropped", "in_notes")]
    assert run["steps"][1]["dropped"] == {"in_notes": 1}
    assert main_text() == "# Mine\n* I LIVE in Bergen\n"


def test_what_is_a_memory_already_is_not_learnt_again(ana):
    content = talk(ana, "I live in Bergen.")["results"][0]["content"]
    base = ana.get("/api/memory/main").json()["sha256"]
    ana.call("PUT", "/api/memory/main", {"text": "# Mine\n", "base_sha256": base})
    run = talk(ana, "I live in Bergen.")
    assert states(run) == [("dropped", "in_memory")]
    assert (list(memories()), main_text()) == ([content], "# Mine\n")


def test_memory_of_another_persona_or_user_does_not_count(ana):
    content = talk(api_for(Scope("ben")), "I live in Bergen.")["results"][0]["content"]
    draft = MemoryDraft(content, scope=Scope("ana", persona_id="cook"))
    memory_save(access=system_access("test"), draft=draft)
    assert states(talk(ana, "I live in Bergen.")) == [("applied", "")]


def test_newer_value_is_decided_by_the_rules(ana):
    first = talk(ana, "I live in Bergen.")["results"][0]
    run = talk(ana, "I moved to Oslo.", session="later")
    [fact] = run["results"]
    assert (fact["state"], fact["memory_action"]) == ("applied", "superseded_existing")
    assert fact["receipt"]
    assert first["content"] not in memories()
    assert first["content"] in main_text(), "nothing is replaced in the notes"


def test_what_is_true_again_is_learnt_again(ana):
    oslo = "I live in Oslo."
    for said, session in ((oslo, "one"), ("I live in Bergen.", "two"), (oslo, "three")):
        [fact] = talk(ana, said, session=session)["results"]
        assert fact["state"] == "applied"
    assert list(memories()) == [oslo]
    assert [line for line in main_text().splitlines() if line.startswith("- ")][-1] == f"- {oslo}"
    assert states(talk(ana, oslo, session="four")) == [("dropped", "in_memory")]


@pytest.mark.parametrize(
    ("strategy", "action"), [("keep-existing", "kept_existing"), ("reject", "rejected")], ids=["kept", "rejected"]
)
def test_fact_that_loses_to_what_is_known_is_not_noted(ana, strategy, action):
    rule_register(document={"name": "careful", "arbitration": {"default_strategy": strategy}}, actor="test")
    draft = MemoryDraft("I do not live in Oslo.", scope=Scope("ana"), source="conversation", occurred_at=SAID_AT)
    memory_save(access=system_access("test"), draft=draft)
    said = {"role": "user", "content": "I live in Oslo.", "at": SAID_AT.isoformat()}
    run = talk_messages(ana, said)
    [fact] = run["results"]
    assert (fact["state"], fact["reason"], fact["memory_action"]) == ("dropped", action, action)
    assert fact["receipt"]
    assert (main_text(), list(memories())) == ("", ["I do not live in Oslo."])


def test_what_was_recalled_and_comes_back_is_not_learnt_again(ana):
    run = talk(ana, "I live in Bergen.", recalled=["I live in Bergen."])
    assert [state for state, _ in states(run)] in ([], ["dropped"])
    assert (main_text(), memories()) == ("", {})
    marked = {"role": "system", "content": "I really like green tea.", "recalled": True}
    ana.post(f"{SESSIONS}/chat/messages", {"messages": [marked]})
    assert not [state for state, _ in states(talk(ana, "I really like green tea.")) if state == "applied"]


def test_dates_are_meant_in_the_offset_of_the_message(ana):
    said = {"role": "user", "content": "I am going to the dentist tomorrow.", "at": "2026-03-05T00:30:00+13:00"}
    [fact] = talk_messages(ana, said)["results"]
    assert "2026-03-06" in fact["content"], "in UTC it was the fourth"
    memory = Memory.objects.get(uuid=fact["memory"])
    assert memory.occurred_at is not None
    assert memory.occurred_at.isoformat() == "2026-03-05T00:30:00+13:00"


@pytest.mark.parametrize(
    ("said", "content", "category"),
    [("我住在台北。", "我住在台北。", "About"), ("請記得我對花生過敏。", "我對花生過敏。", "About")],
)
def test_chinese_is_learnt_in_the_words_of_the_speaker(ana, said, content, category):
    [fact] = talk(ana, said)["results"]
    assert (fact["content"], fact["category"], fact["state"]) == (content, category, "applied")
    assert f"- {content}\n" in main_text()
    assert states(talk(ana, said)) == [("dropped", "in_notes")]


def test_task_is_enqueued_in_the_transaction_of_the_event(ana):
    before = OrmQ.objects.count()
    ana.post(f"{SESSIONS}/chat/messages", {"messages": [{"role": "user", "content": "I live in Bergen."}]})
    assert OrmQ.objects.count() == before
    ana.post(f"{SESSIONS}/chat/events", {"type": "session.end"})
    [task] = OrmQ.objects.all()[before:]
    assert task.func() == "apps.notes.tasks.extract_facts"


def test_flush_adds_and_says_so_in_the_daily_log(ana, notes_dir):
    folder_of("ana").create()
    (folder_of("ana").path / "MEMORY.md").write_text("# Mine\n")
    said = [{"role": "user", "content": text, "at": "2026-03-05T00:30:00+13:00"} for text in TALK]
    ana.post(f"{SESSIONS}/chat/messages", {"messages": said})
    answer = ana.post(f"{SESSIONS}/chat/events", {"type": "session.usage_info", "ratio": 0.75}).json()
    assert answer["action"] == "flushing"
    evening = (datetime.now(UTC) + timedelta(days=1)).replace(hour=23, minute=5)
    day = f"{evening + timedelta(days=1):%Y-%m-%d}"
    assert runs_continue(clock=DeterministicClock(round(evening.timestamp() * 1000))) == 1
    assert main_text().startswith("# Mine\n")
    run = ana.get(f"/api/auto-memory/runs/{answer['runs'][0]}").json()
    assert run["steps"][-1]["daily_log"] == f"daily/{day}.md", "the day of the conversation"
    log = (folder_of("ana").path / "daily" / f"{day}.md").read_text()
    assert log.startswith("- 12:05 Kept before the context was compacted: ")
    assert log.count("\n") == 1


def test_turn_leaves_no_line_in_the_daily_log(ana):
    run = talk(ana, *TALK, kind="stream:idle")
    assert (run["trigger"], run["applied"]) == ("idle", 3)
    assert not (folder_of("ana").path / "daily").exists()


def test_model_extraction_falls_back_to_patterns(ana):
    """Spec 001, LLM 智慧提取: preferred when it is enabled; without an answer facts are found by patterns."""
    config_change("ana", {"llmExtractionEnabled": True}, author="test")
    run = talk(ana, *TALK)
    assert run["applied"] == 3
    extract = run["steps"][0]
    assert (extract["how"], extract["by_model"]["model"]["code"]) == ("patterns", "model_not_available")


def test_gate_that_is_not_available_lets_everything_pass(ana):
    config_change("ana", {"llmGatingEnabled": True}, author="test")
    run = talk(ana, *TALK)
    assert run["applied"] == 3
    assert run["steps"][2]["by_model"]["model"]["code"] == "model_not_available"


def test_run_waits_while_memories_cannot_be_saved(ana, monkeypatch):
    def unavailable(**_: Any) -> Any:
        raise UnavailableError("Not now.", code="embedding_unavailable")

    monkeypatch.setattr(steps, "memory_save", unavailable)
    run = talk(ana, "I live in Bergen.")
    assert (run["state"], run["error"], run["tries"], main_text()) == ("waiting", "embedding_unavailable", 0, "")
    assert runs_continue() == 0, "not due yet"
    monkeypatch.undo()
    make_due()
    assert runs_continue() == 1
    assert main_text() != ""
    assert ExtractionRun.objects.get().error == ""


def test_run_that_always_fails_is_given_up_and_stops_no_other(ana, monkeypatch, caplog):
    def fail(*_: Any, **__: Any) -> Any:
        raise ValueError("a secret")

    with monkeypatch.context() as patch:
        patch.setattr(steps, "extract", fail)
        run = talk(ana, "I live in Bergen.")
        for _ in range(runs_module.MAX_TRIES):
            make_due()
            runs_continue()
    shown = ana.get(f"/api/auto-memory/runs/{run['id']}").json()
    assert (shown["state"], shown["error"], shown["tries"]) == ("failed", "ValueError", runs_module.MAX_TRIES)
    assert "secret" not in caplog.text
    assert talk(ana, "I live in Oslo.")["state"] == "finished"


def test_run_in_which_workers_die_is_given_up(ana):
    ana.post(f"{SESSIONS}/chat/messages", {"messages": [{"role": "user", "content": "I live in Bergen."}]})
    ana.post(f"{SESSIONS}/chat/events", {"type": "session.end"})
    ExtractionRun.objects.update(state="running", tries=runs_module.MAX_TRIES)
    assert runs_continue() == 1
    assert (ExtractionRun.objects.get().state, ExtractionRun.objects.get().error) == ("failed", "worker_lost")


def test_run_writes_only_for_its_user(ana):
    run = ExtractionRun.objects.create(
        user_id="ana", session_id="x", trigger="end", cycle=1, actor="key:phone",
        requested_at=timezone.now(), next_try_at=timezone.now(),
    )  # fmt: skip
    derived = WriteOrigin.DERIVED
    assert steps.access_of(run) == Access(Scope("ana"), Permission.WRITE, "key:phone", origin=derived)


def test_fact_against_what_a_person_said_waits(ana):
    """It is a memory that a person decides about, and no line of MEMORY.md (DESIGN D20)."""
    api_for(Scope("ana"), origin=WriteOrigin.PERSON, name="person").save("I live in Oslo.")
    run = talk(ana, "I live in Bergen.", "I really like green tea.")
    assert ("dropped", "lower_origin") in states(run)
    assert "Bergen" not in main_text()
    assert "green tea" in main_text()
    assert {one.origin for text, one in memories().items() if text != "I live in Oslo."} == {"derived"}
    assert memories()["I live in Oslo."].origin == "person"


def test_deleted_conversation_ends_its_waiting_run(ana):
    ana.post(f"{SESSIONS}/chat/messages", {"messages": [{"role": "user", "content": "I live in Bergen."}]})
    ana.post(f"{SESSIONS}/chat/events", {"type": "session.end"})
    ana.delete(f"{SESSIONS}/chat")
    assert runs_continue() == 1
    assert (ExtractionRun.objects.get().state, ExtractedFact.objects.count()) == ("finished", 0)


@pytest.mark.parametrize("step", ["begun", "extract", "reconcile", "remember", "remembered", "apply"])
def test_run_stops_when_its_person_is_being_forgotten(ana, step):
    ana.post(f"{SESSIONS}/chat/messages", {"messages": [{"role": "user", "content": "I live in Bergen."}]})
    ana.post(f"{SESSIONS}/chat/events", {"type": "session.end"})

    def lock(name: str) -> None:
        if name == step:
            lock_user("ana", timezone.now())

    assert runs_continue(step=lock) == 0
    assert ExtractionRun.objects.get().state == "running"
    assert runs_continue() == 0, "it is left alone"
    noted = step == "apply"
    assert bool(main_text()) == noted
    assert Memory.objects.exists() == (step in {"remembered", "apply"})
    unlock_user("ana")
    assert runs_continue() == 1
    assert (len(memories()), main_text().count("I live in Bergen.")) == (1, 1)


def request(user: str, *texts: str, session: str = "chat") -> str:
    """Say something and have a run requested; return its id."""
    api = api_for(Scope(user))
    said = [{"role": "user", "content": text} for text in texts]
    assert api.post(f"{SESSIONS}/{session}/messages", {"messages": said}).status_code == 201
    run: str = api.post(f"{SESSIONS}/{session}/events", {"type": "session.end"}).json()["runs"][0]
    return run


def test_facts_of_a_run_are_limited_and_the_rest_is_counted(ana, monkeypatch):
    monkeypatch.setattr(runs_module, "MAX_FACTS", 2)
    run = talk(ana, *TALK)
    assert (run["facts"], run["steps"][0]["facts"], run["steps"][0]["beyond_limit"]) == (2, 3, 1)


@pytest.mark.django_db(transaction=True)
def test_long_run_goes_on_in_another_task(ana):
    run = request("ana", *TALK)
    noted = []

    def slow(name: str) -> None:
        if name == "noted":
            noted.append(name)
            time.sleep(1.1)

    before = OrmQ.objects.count()
    OrmQ.objects.all().delete()
    assert runs_continue(step=slow, seconds=1) == 0
    assert (len(noted), ExtractionRun.objects.get().tries, before) == (1, 0, 1)
    assert OrmQ.objects.count() == 1, "another task is requested"
    assert runs_continue() == 1
    shown = ana.get(f"/api/auto-memory/runs/{run}").json()
    assert (shown["state"], shown["applied"], main_text().count("- ")) == ("finished", 3, 3)


def test_users_take_turns():
    """One run of each user in a round, whoever has how many."""
    for number in range(3):
        request("ana", f"I live in town {number}.", session=f"chat{number}")
    request("ben", "I live in Bergen.")
    begun: list[str] = []

    def look(name: str) -> None:
        if name == "begun":
            begun.append(ExtractionRun.objects.get(state="running").user_id)

    assert runs_continue(step=look) == 4
    assert begun == ["ana", "ben", "ana", "ana"]


def test_run_of_a_person_who_was_forgotten_stops_no_other():
    request("ana", "I live in Bergen.")
    request("ben", "I live in Oslo.")

    def forget(name: str) -> None:
        if name == "reconcile":
            ExtractionRun.objects.filter(user_id="ana").delete()

    assert runs_continue(step=forget) == 1
    assert ExtractionRun.objects.get().state == "finished"
    assert main_text("ben") != ""
