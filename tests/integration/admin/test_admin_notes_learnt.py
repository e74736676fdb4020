"""What was learnt from conversations, and compactions, in the admin; search and settings of a person."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from apps.notes.files.config import config_change
from apps.notes.models import Compaction, CompactionState, ExtractedFact, ExtractionRun, FactState
from apps.notes.selectors import config_of
from apps.semantic.models import Memory
from tests.integration.admin.conversations import learn
from tests.integration.admin.pages import address, run, text_of
from tests.integration.notes.compactions import SHORTER, TEXT, answer, memory, written
from tests.integration.notes.compactions import run as compact

pytestmark = pytest.mark.django_db

PERSON = "/admin/notes/noteversion/person/"


@pytest.fixture(autouse=True)
def folder(notes_dir: Path) -> Path:
    """Notes below a folder of the test."""
    return notes_dir


@pytest.fixture
def learnt() -> ExtractionRun:
    """A conversation of ana's from which was learnt."""
    found = learn("I live in Bergen.", "I <b>love</b> green tea.")
    assert ExtractedFact.objects.filter(state=FactState.APPLIED).exists()
    return found


def home() -> ExtractedFact:
    return ExtractedFact.objects.get(content__contains="Bergen")


def test_runs_are_listed_with_what_was_learnt(operator: Client, learnt: ExtractionRun) -> None:
    text = text_of(operator, "/admin/notes/extractionrun/", q="ana")
    assert "The conversation ended" in text
    assert "2 messages" in text
    assert "0 results" in text_of(operator, "/admin/notes/extractionrun/", q="ben")


def test_page_of_a_run_shows_each_step_and_each_fact(operator: Client, learnt: ExtractionRun) -> None:
    text = text_of(operator, address(ExtractionRun, "change", learnt.pk))
    for words in ("patterns", "extract", "reconcile", "apply", "I live in Bergen.", "Applied"):
        assert words in text


def test_page_of_a_fact_leads_to_what_was_written(operator: Client, learnt: ExtractionRun) -> None:
    fact = home()
    text = text_of(operator, address(ExtractedFact, "change", fact.pk))
    memory = Memory.objects.get(uuid=fact.memory)
    assert address(Memory, "change", memory.pk) in text
    assert "/admin/notes/noteversion/" in text
    assert "I live in Bergen." in text


def test_what_was_written_is_shown_to_those_who_may_see_memories(
    staff: Callable[..., Client], learnt: ExtractionRun
) -> None:
    """Without the permission to view memories there is only the id of the memory."""
    fact = home()
    Memory.objects.filter(uuid=fact.memory).update(content="A secret of Ana's.")
    page = address(ExtractedFact, "change", fact.pk)
    hidden = text_of(staff("view_extractedfact"), page)
    assert "A secret" not in hidden
    assert str(fact.memory) in hidden
    assert "/admin/semantic/" not in hidden


def test_a_fact_is_undone_on_its_page(operator: Client, learnt: ExtractionRun) -> None:
    url = address(ExtractedFact, "undo_this", home().pk)
    assert "Undo this fact?" in text_of(operator, url)
    assert operator.post(url, {"_form_submitted": "True"}).status_code == 302
    assert home().state == FactState.UNDONE
    assert "Bergen" not in written()
    assert "admin:operator" in text_of(operator, address(ExtractedFact, "change", home().pk))


def test_several_facts_are_undone_at_once(operator: Client, learnt: ExtractionRun) -> None:
    applied = list(ExtractedFact.objects.filter(state=FactState.APPLIED))
    run(operator, "undo_chosen", applied)
    assert not ExtractedFact.objects.filter(state=FactState.APPLIED).exists()


def test_undoing_needs_the_permission_to_change(staff: Callable[..., Client], learnt: ExtractionRun) -> None:
    reader = staff("view_extractedfact", "view_extractionrun")
    assert reader.post(address(ExtractedFact, "undo_this", home().pk), {"_form_submitted": "True"}).status_code == 403
    assert home().state == FactState.APPLIED


def test_a_draft_is_shown_applied_and_undone(operator: Client) -> None:
    memory()
    row = compact(answer())
    text = text_of(operator, address(Compaction, "change", row.pk))
    assert '<span class="mh-diff-removed">-- Ana likes green tea.</span>' in text
    assert "merged" in text
    assert operator.post(address(Compaction, "apply_this", row.pk), {"_form_submitted": "True"}).status_code == 302
    assert written() == SHORTER
    assert operator.post(address(Compaction, "undo_this", row.pk), {"_form_submitted": "True"}).status_code == 302
    assert written() == TEXT
    row.refresh_from_db()
    assert (row.state, row.decided_by) == (CompactionState.UNDONE, "admin:operator")


def test_a_draft_is_discarded_and_then_has_no_buttons(operator: Client) -> None:
    memory()
    row = compact(answer())
    assert operator.post(address(Compaction, "discard_this", row.pk), {"_form_submitted": "True"}).status_code == 302
    text = text_of(operator, address(Compaction, "change", row.pk))
    assert "apply_this" not in text
    assert "undo_this" not in text


def test_notes_of_a_person_are_searched(operator: Client) -> None:
    memory()
    text = text_of(operator, PERSON, user_id="ana", q="green tea")
    assert "MEMORY.md, line" in text
    assert "Ana likes green tea" in text
    assert "Nothing in these notes" in text_of(operator, PERSON, user_id="ben", q="zebra")


def test_settings_of_a_person_are_changed_and_only_those(operator: Client, folder: Path) -> None:
    memory()
    page: Any = operator.get(PERSON, {"user_id": "ana"})
    sent = sent_by(page)
    answer: Any = operator.post(f"{PERSON}?user_id=ana", {**sent, "minNewMessages": "9", "llmGatingEnabled": "on"})
    assert answer.status_code == 302
    config = config_of("ana")
    assert (config.min_new_messages, config.llm_gating_enabled, config.enabled) == (9, True, True)
    saved = next(folder.rglob("memory-config.json")).read_text()
    assert "flushThreshold" not in saved


def test_an_old_page_does_not_undo_what_was_changed_since(operator: Client) -> None:
    page: Any = operator.get(PERSON, {"user_id": "ana"})
    shown = sent_by(page)
    config_change("ana", {"enabled": False, "minNewMessages": 7}, author="test")
    operator.post(f"{PERSON}?user_id=ana", {**shown, "flushThreshold": "0.5"})
    config = config_of("ana")
    assert (config.enabled, config.min_new_messages, config.flush_threshold) == (False, 7, 0.5)


def sent_by(page: Any) -> dict[str, str]:
    """Return what a browser sends of the form of settings that a page shows."""
    found: dict[str, str] = {}
    for tag in re.findall(r"<input[^>]*>", page.content.decode().split("mh-settings")[2]):
        attributes = dict(re.findall(r'([a-z]+)="([^"]*)"', tag))
        if "name" in attributes and (attributes.get("type") != "checkbox" or " checked" in tag):
            found[attributes["name"]] = attributes.get("value", "on")
    return found


def test_settings_that_are_not_valid_say_why(operator: Client) -> None:
    page: Any = operator.get(PERSON, {"user_id": "ana"})
    sent = sent_by(page)
    refused = operator.post(f"{PERSON}?user_id=ana", {**sent, "flushThreshold": "3"})
    assert refused.status_code == 200
    assert "less than or equal to 1" in refused.content.decode()


def test_settings_cannot_be_changed_by_readers(staff: Callable[..., Client]) -> None:
    reader = staff("view_noteversion")
    assert "Save" not in text_of(reader, PERSON, user_id="ana").split("mh-settings")[1]
    reader.post(f"{PERSON}?user_id=ana", {"minNewMessages": "9"})
    assert config_of("ana").min_new_messages == 4
