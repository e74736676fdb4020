"""Workers that extract facts are killed at every step, and beside each other: each fact is written once."""

from collections import Counter
from typing import Any

import pytest

from apps.core.domain.scope import Scope
from apps.notes.conversations.runs import RUN_STEPS, STAGES
from apps.notes.files.owner import folder_of
from apps.notes.models import ConversationMessage, ExtractedFact, ExtractionRun, NoteVersion
from apps.notes.services import runs_continue
from apps.semantic.models import Memory
from tests.api import api_for
from tests.system.notes_process import PATIENCE, begin, extract_and_die, extract_until_done, killed

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("notes_dir"),
    pytest.mark.xdist_group("killed"),
]
SESSIONS = "/api/auto-memory/sessions"
TALK = ("I really like green tea.", "I was born in Bergen.", "We decided to paint the boat blue.")


def flush(user: str, texts: Any = TALK, session: str = "chat") -> None:
    """Send messages, and an event that has them flushed."""
    api = api_for(Scope(user))
    said = [{"role": "user", "content": text} for text in texts]
    assert api.post(f"{SESSIONS}/{session}/messages", {"messages": said}).status_code == 201
    answer = api.post(f"{SESSIONS}/{session}/events", {"type": "session.usage_info", "ratio": 0.9}).json()
    assert answer["action"] == "flushing"


def items(user: str) -> Counter[str]:
    text = (folder_of(user).path / "MEMORY.md").read_text()
    return Counter(line.removeprefix("- ") for line in text.splitlines() if line.startswith("- "))


@pytest.mark.parametrize("step", RUN_STEPS)
def test_run_whose_worker_was_killed_is_continued_and_writes_once(step: str) -> None:
    flush("ana")
    killed(extract_and_die, step)
    assert runs_continue() == (step != "finished"), "at once: the lock went with the process"
    run = ExtractionRun.objects.get()
    assert (run.state, run.error) == ("finished", "")
    assert [each["step"] for each in run.steps] == list(STAGES)
    facts = list(ExtractedFact.objects.order_by("number"))
    assert [fact.content for fact in facts] == list(TALK)
    assert {fact.state for fact in facts} == {"applied"}
    assert {fact.memory_action for fact in facts} == {"inserted"}
    assert items("ana") == Counter(TALK)
    saved = Memory.objects.filter(status="active")
    assert sorted(saved.values_list("content", flat=True)) == sorted(TALK)
    assert {fact.memory for fact in facts} == {memory.uuid for memory in saved}
    assert {fact.note_version for fact in facts} <= set(NoteVersion.objects.values_list("uuid", flat=True))
    [log] = (folder_of("ana").path / "daily").iterdir()
    assert log.read_text().count("Kept before") == 1
    assert runs_continue() == 0


def test_workers_beside_each_other_write_each_fact_once() -> None:
    """Three workers take the runs of three users, four conversations each, in which the same is said."""
    users = ("ana", "ben", "cem")
    for number in range(4):
        for user in users:
            flush(user, (f"I have visited Japan {number + 2} times.", *TALK), session=f"chat {number}")
    workers = [begin(extract_until_done) for _ in range(3)]
    for worker in workers:
        worker.join(PATIENCE)
    assert {worker.exitcode for worker in workers} == {0}
    assert set(ExtractionRun.objects.values_list("state", flat=True)) == {"finished"}
    assert not ConversationMessage.objects.filter(run=None).exists()
    for user in users:
        found = items(user)
        assert {text: found[text] for text in TALK} == dict.fromkeys(TALK, 1)
        assert max(found.values()) == 1
        contents = list(Memory.objects.filter(user_id=user, status="active").values_list("content", flat=True))
        assert len(contents) == len(set(contents))
