"""Settings > Memory: each part is saved by itself, with and without a script, into the person's file (spec 001)."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from apps.notes.domain.settings import MemoryConfig
from apps.notes.files.owner import folder_of
from apps.notes.models import Compaction
from apps.notes.selectors import config_of
from apps.webui.memory_settings.parts import PARTS
from tests.integration.llm.chat_server import ChatServer, Reply, running_chat_server
from tests.integration.llm.configuring import MODEL, configured
from tests.integration.notes.compactions import CATS, SHORTER, TEA, TEXT, answer, memory, run, settings_of, written
from tests.integration.webui.person import ANA, BEN
from tests.integration.webui.test_notes import page

pytestmark = pytest.mark.django_db

PAGE = reverse("webui:memory_settings")
SCRIPT = {"HX-Request": "true"}
OFFERED = ("gpt-4o-mini", "small-model", "large-model")


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.fixture
def provider(settings: Any) -> Iterator[ChatServer]:
    """A provider of models, which is asked over HTTP."""
    with running_chat_server() as server:
        server.say(Reply(models=OFFERED))
        with configured(settings, replace(MODEL, model="gpt-4o-mini", base_url=server.base_url("openai"))):
            yield server


def save(browser: Client, part: str, *, script: bool = False, **sent: str) -> str:
    """Post the form of a part as the page has it, with some fields changed; return what is answered."""
    shown = page(browser, PAGE)
    found = re.search(rf'<section id="part-{part}".*?</section>', shown, re.DOTALL)
    assert found is not None
    was = dict(re.findall(r'name="(was\.\w+)" value="([^"]*)"', found[0]))
    fields = {name.removeprefix("was."): value for name, value in was.items() if value} | sent
    url = reverse("webui:memory_settings_save", args=[part])
    data = {**was, **{name: value for name, value in fields.items() if value}}
    answer = browser.post(url, data, headers=SCRIPT if script else {}, follow=True)
    assert answer.status_code == 200
    return answer.content.decode()


def stored(person: str = ANA) -> dict[str, Any]:
    return json.loads((folder_of(person).path / "memory-config.json").read_text())


def test_a_file_without_the_new_settings_has_their_defaults(ana: Client) -> None:
    settings_of(ANA, enabled=True, flushThreshold=0.5)
    before = stored()
    shown = page(ana, PAGE)
    for name in ("llmGatingEnabled", "llmExtractionEnabled", "llmCompactionEnabled"):
        assert re.search(rf'name="{name}" value="on"(?! checked)', shown.replace("\n", " "))
        assert f'name="was.{name}" value=""' in shown
    assert stored() == before
    assert "<select" not in shown


@pytest.mark.parametrize("script", [True, False])
@pytest.mark.parametrize(
    ("part", "name"),
    [("gate", "llmGatingEnabled"), ("extraction", "llmExtractionEnabled"), ("compaction", "llmCompactionEnabled")],
)
def test_a_switch_is_saved_alone_and_shows_its_model(ana: Client, part: str, name: str, script: bool) -> None:
    shown = save(ana, part, script=script, **{name: "on"})
    assert stored() == {name: True}
    assert "<select" in shown
    assert "gpt-4o-mini" in shown
    assert ("<html" in shown) is not script
    assert ">Saved<" in shown if script else "Saved." in shown
    shown = save(ana, part, script=script, **{name: ""})
    assert stored() == {name: False}
    assert "<select" not in shown


def test_automatic_memory_is_switched_on_as_a_whole(ana: Client) -> None:
    settings_of(ANA, enabled=False, autoExtract=True)
    assert 'name="was.autoExtract" value=""' in page(ana, PAGE)
    save(ana, "auto", autoExtract="on")
    assert stored() == {"enabled": True, "autoExtract": True}
    save(ana, "auto", autoExtract="")
    assert stored() == {"enabled": True, "autoExtract": False}


def test_what_else_is_in_the_file_stays(ana: Client) -> None:
    folder_of(ANA).create()
    path = folder_of(ANA).path / "memory-config.json"
    path.write_text('{"mine": [1,  2],\n "llmGatingEnabled": true}\n')
    save(ana, "gate", llmGatingModel="gpt-4o-mini")
    assert path.read_text() == '{"mine": [1,  2],\n "llmGatingEnabled": true}\n'
    save(ana, "gate", llmGatingEnabled="")
    assert path.read_text() == '{"mine": [1,  2],\n "llmGatingEnabled": false}\n'


def test_a_page_that_was_open_for_long_undoes_nothing(ana: Client) -> None:
    settings_of(ANA, llmExtractionEnabled=True, llmExtractionModel="chosen-elsewhere")
    url = reverse("webui:memory_settings_save", args=["extraction"])
    sent = {
        "was.llmExtractionEnabled": "on", "llmExtractionEnabled": "on",
        "was.llmExtractionModel": "gpt-4o-mini", "llmExtractionModel": "gpt-4o-mini",
        "was.llmExtractionMaxMessages": "20", "llmExtractionMaxMessages": "40",
    }  # fmt: skip
    ana.post(url, sent)
    assert stored() == {
        "llmExtractionEnabled": True,
        "llmExtractionModel": "chosen-elsewhere",
        "llmExtractionMaxMessages": 40,
    }


@pytest.mark.parametrize("wrong", ["0", "201", "x", "1.5", "", "-3", "9" * 30, "١٢"])
def test_a_limit_that_cannot_be_is_refused_in_words(ana: Client, wrong: str) -> None:
    settings_of(ANA, llmExtractionEnabled=True)
    before = stored()
    shown = save(ana, "extraction", script=True, llmExtractionMaxMessages=wrong, llmExtractionEnabled="")
    assert "A whole number from 1 to 200." in shown
    assert ">Saved<" not in shown
    assert stored() == before
    assert "A whole number from 1 to 200." in save(ana, "extraction", llmExtractionMaxMessages=wrong)


def test_a_share_is_entered_as_percent(ana: Client) -> None:
    assert 'name="flushThreshold" value="75" min="1" max="100"' in page(ana, PAGE)
    save(ana, "times", flushThreshold="60", minNewMessages="6", extractIntervalSeconds="0")
    assert stored() == {"flushThreshold": 0.6, "minNewMessages": 6, "extractIntervalSeconds": 0}


def test_models_of_the_provider_are_offered_and_stored(ana: Client, provider: ChatServer) -> None:
    settings_of(ANA, llmGatingEnabled=True)
    shown = page(ana, PAGE)
    for name in OFFERED:
        assert f'<option value="{name}"' in shown
    assert 'value="gpt-4o-mini" selected' in shown
    shown = save(ana, "gate", script=True, llmGatingModel="large-model")
    assert stored()["llmGatingModel"] == "large-model"
    assert 'value="large-model" selected' in shown
    assert {request.path for request in provider.received} == {"/v1/models"}


def test_a_stored_model_that_is_not_offered_stays_choosable(ana: Client, provider: ChatServer) -> None:
    settings_of(ANA, llmGatingEnabled=True, llmGatingModel="of-last-year")
    shown = page(ana, PAGE)
    assert '<option value="of-last-year" selected>of-last-year (not offered now)</option>' in shown
    save(ana, "gate", llmGatingModel="small-model")
    assert stored()["llmGatingModel"] == "small-model"


def test_without_a_provider_the_page_says_so_and_keeps_the_model(ana: Client) -> None:
    settings_of(ANA, llmCompactionEnabled=True, llmCompactionModel="mine")
    shown = page(ana, PAGE)
    assert "No chat model is set up in this hub" in shown
    assert '<option value="mine" selected>mine</option>' in shown


def test_a_provider_that_does_not_answer_is_said(ana: Client, provider: ChatServer) -> None:
    provider.say(Reply(status=503))
    settings_of(ANA, llmGatingEnabled=True, llmGatingModel="mine")
    shown = page(ana, PAGE)
    assert "The provider is not answering" in shown
    assert '<option value="mine" selected>mine</option>' in shown


def test_no_provider_is_asked_while_all_is_off(ana: Client, provider: ChatServer) -> None:
    page(ana, PAGE)
    assert provider.received == []


def test_a_broken_file_is_said_and_not_overwritten_at_once(ana: Client) -> None:
    folder_of(ANA).create()
    (folder_of(ANA).path / "memory-config.json").write_text("{")
    assert "Your settings file cannot be read" in page(ana, PAGE)
    settings_of(ANA, llmExtractionMaxMessages="many")
    assert "One of your settings has an invalid value" in page(ana, PAGE)


def test_settings_of_another_person_stay(ana: Client) -> None:
    settings_of(BEN, llmGatingModel="quinceother")
    memory(f"{TEXT}\n- quinceother\n", BEN)
    for part in PARTS:
        url = reverse("webui:memory_settings_save", args=[part])
        for one in PARTS[part].settings:
            ana.post(url, {f"was.{one.name}": "x", one.name: "on", "user_id": BEN, "person": BEN})
    assert "quinceother" not in page(ana, PAGE)
    assert config_of(BEN) == MemoryConfig(llm_gating_model="quinceother")
    theirs = run((answer(),), user=BEN)
    for step in ("apply", "discard", "undo"):
        url = reverse("webui:memory_compaction_decide", args=[theirs.uuid])
        assert ana.post(url, {"step": step}).status_code == 404
    theirs.refresh_from_db()
    assert theirs.state == "drafted"


@pytest.mark.parametrize("part", ["none", "llm"])
def test_there_is_no_other_part(ana: Client, part: str) -> None:
    assert ana.post(reverse("webui:memory_settings_save", args=[part])).status_code == 404


def test_notes_are_searched_in_the_page_and_for_a_script(ana: Client) -> None:
    memory("- Ana learns the accordion\n")
    url = reverse("webui:memory_settings_search")
    whole = ana.post(url, {"words": "accordion"}).content.decode()
    assert "Ana learns the accordion" in whole
    assert "LLM Intelligence" in whole
    part = ana.post(url, {"words": "accordion"}, headers=SCRIPT).content.decode()
    assert "Ana learns the accordion" in part
    assert "<html" not in part


def test_the_file_is_edited_where_the_settings_are(ana: Client) -> None:
    memory(TEXT)
    shown = page(ana, PAGE)
    base = re.search(r'name="base" value="(\w+)"', shown)
    assert base is not None
    sent = {"text": TEXT + "- more\n", "base": base[1], "back": "settings"}
    answer = ana.post(reverse("webui:note_edit", args=["MEMORY.md"]), sent, follow=True)
    assert answer.request["PATH_INFO"] == PAGE
    assert "MEMORY.md is saved." in answer.content.decode()
    assert written() == TEXT + "- more\n"


def part_of(browser: Client) -> str:
    return page(browser, reverse("webui:memory_compaction"))


def test_a_compaction_is_asked_for_once_and_shows_its_progress(ana: Client) -> None:
    memory(TEXT)
    shown = page(ana, PAGE)
    assert "MEMORY.md has 6 facts now." in shown
    assert "The model is <strong>gpt-4o-mini</strong>." in shown
    for _ in range(2):
        shown = ana.post(reverse("webui:memory_compact"), headers=SCRIPT).content.decode()
        assert "A model is reading MEMORY.md." in shown
        assert 'hx-trigger="every 2s"' in shown
    row = Compaction.objects.get()
    assert (row.state, row.actor) == ("asked", "person:ana")
    assert "Check again" in page(ana, PAGE)


def test_a_proposal_is_used_and_undone(ana: Client) -> None:
    memory(TEXT)
    row = run((answer(),))
    shown = part_of(ana)
    assert "6 facts before, 4 after." in shown
    for words in (TEA, CATS, "Ana likes green tea.", "Ana has 2 cats."):
        assert words in shown
    assert 'hx-trigger="every 2s"' not in shown
    decide = reverse("webui:memory_compaction_decide", args=[row.uuid])
    shown = ana.post(decide, {"step": "apply"}, headers=SCRIPT).content.decode()
    assert "6 facts before, 4 now." in shown
    assert written() == SHORTER
    before = re.search(r'href="(/notes/version/[^"]+)"', shown)
    assert before is not None
    assert "Ana has 2 cats." in page(ana, before[1])
    shown = ana.post(decide, {"step": "undo"}, follow=True).content.decode()
    assert "MEMORY.md is back to what it was before." in shown
    assert written() == TEXT


def test_a_proposal_is_given_up(ana: Client) -> None:
    memory(TEXT)
    row = run((answer(),))
    ana.post(reverse("webui:memory_compaction_decide", args=[row.uuid]), {"step": "discard"})
    assert "Proposal discarded." in part_of(ana)
    assert written() == TEXT


def test_a_proposal_for_a_text_that_changed_is_not_used(ana: Client) -> None:
    memory(TEXT)
    row = run((answer(),))
    memory(TEXT + "- more\n")
    assert "MEMORY.md has changed since the proposal was made." in part_of(ana)
    url = reverse("webui:memory_compaction_decide", args=[row.uuid])
    assert "MEMORY.md has changed since" in ana.post(url, {"step": "apply"}, headers=SCRIPT).content.decode()
    assert written() == TEXT + "- more\n"


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("model_not_available", "No provider of this hub offers"),
        ("budget_exceeded", "is used up"),
        ("?", "did not work"),
    ],
)
def test_a_compaction_that_failed_says_why(ana: Client, code: str, words: str) -> None:
    memory(TEXT)
    row = run((answer(),))
    Compaction.objects.filter(pk=row.pk).update(state="failed", code=code)
    shown = part_of(ana)
    assert words in shown
    assert "Compact now" in shown


def test_without_a_provider_compaction_fails_in_words(ana: Client) -> None:
    memory(TEXT)
    run(providers=())
    assert "No provider of this hub offers the chosen model" in part_of(ana)
    memory("no list\n")
    Compaction.objects.all().delete()
    run((answer(),))
    assert "no list of facts that could be shorter" in part_of(ana)
