"""Settings > Memory in a real browser: each scenario of spec 001's settings UI, in English and Traditional Chinese.

The words are those of the catalogs, so that a page that is not translated fails. What is stored is read from the files.
"""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import pytest
from django.urls import reverse
from django.utils import translation
from playwright.sync_api import Locator, Page, expect
from pytest_django.live_server_helper import LiveServer

from apps.notes.files.owner import folder_of
from apps.notes.models import Compaction
from apps.notes.services import compaction_draft
from tests.integration.llm.chat_server import ChatServer, Received, Reply, running_chat_server
from tests.integration.llm.configuring import MODEL, configured
from tests.integration.notes.compactions import CATS, SHORTER, TEA, TEXT, answer, memory, settings_of, written
from tests.integration.webui.person import ANA
from tests.system.browser.persons import pages_of
from tests.system.browser.test_admin_browser import watch
from tests.system.browser.test_now_browser import elsewhere, width
from tests.system.hub import wait_for

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.parametrize("locale", ["en-US", "zh-TW"]),
]

LANGUAGES = {"en-US": "en", "zh-TW": "zh-hant"}
OFFERED = ("gpt-4o-mini", "small-model", "large-model")
SWITCHES = {"gate": "llmGatingEnabled", "extraction": "llmExtractionEnabled", "compaction": "llmCompactionEnabled"}
CHINESE = re.compile(r"[\u4e00-\u9fff]{8}")


@dataclass
class Opened:
    """The page in a language, and the provider of models behind it."""

    page: Page
    words: Callable[[str], str]
    provider: ChatServer
    is_chinese: bool

    def part(self, name: str) -> Locator:
        return self.page.locator(f"#part-{name}")

    def switch(self, name: str) -> Locator:
        return self.part(name).get_by_role("switch").first

    def wait_saved(self, name: str) -> None:
        """Wait until a part says that it was saved, and nothing is wrong with it."""
        expect(self.part(name).locator(".saved")).to_have_text(self.words("Saved"))
        expect(self.part(name).locator(".problem")).to_have_count(0)

    def toggle(self, name: str) -> None:
        """Press a switch by keyboard, and wait until that is saved."""
        switch = self.switch(name)
        before = self.part(name).locator(f"[name='was.{switch.get_attribute('name')}']")
        expected = "" if before.input_value() else "on"
        switch.press("Space")
        expect(before).to_have_value(expected)
        self.wait_saved(name)


def words_of(language: str) -> Callable[[str], str]:
    """Return what gives a text of the hub in a language, which is another one in Chinese."""

    def words(text: str) -> str:
        with translation.override(language):
            said = translation.gettext(text)
        assert language == "en" or said != text, f"not translated: {text}"
        return said

    return words


@contextmanager
def opened(live_server: LiveServer, settings: Any, locale: str, choose: Any = None) -> Iterator[Opened]:
    """Open the page for Ana, whose hub has a provider of models at a real HTTP server."""
    language = LANGUAGES[locale]
    with running_chat_server() as provider:
        provider.say(Reply(models=OFFERED))
        provider.choose = choose
        chosen = replace(MODEL, model="gpt-4o-mini", base_url=provider.base_url("openai"), timeout_seconds=30.0)
        with configured(settings, chosen), pages_of(ANA, live_server.url, locale=locale) as page:
            complaints = watch(page)
            page.goto(live_server.url + reverse("webui:memory_settings"), wait_until="load")
            assert str(page.get_attribute("html", "lang")).lower() == language
            assert width(page) == 320
            yield Opened(page, words_of(language), provider, language != "en")
            assert width(page) == 320
            assert complaints == []


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


def stored() -> dict[str, Any]:
    """Return what the file of Ana's settings has."""
    path = folder_of(ANA).path / "memory-config.json"
    return json.loads(path.read_text()) if path.exists() else {}


def test_memory_md_is_edited(live_server: LiveServer, settings: Any, locale: str) -> None:
    """MEMORY.md 編輯."""
    memory(TEXT)
    with opened(live_server, settings, locale) as shown:
        field = shown.page.get_by_label(shown.words("Text of MEMORY.md"))
        assert field.input_value() == TEXT
        field.fill(TEXT + "\n- Ana sings.\n")
        shown.page.keyboard.press("Control+s")
        saved = shown.words("%(note)s is saved.") % {"note": "MEMORY.md"}
        shown.page.wait_for_selector(f"[role=status] >> text={saved}")
        assert written() == TEXT + "\n- Ana sings.\n"


def test_automatic_memory_is_switched(live_server: LiveServer, settings: Any, locale: str) -> None:
    """自動記憶開關."""
    with opened(live_server, settings, locale) as shown:
        assert shown.switch("auto").is_checked()
        shown.toggle("auto")
        assert stored() == {"autoExtract": False}
        shown.page.reload()
        assert not shown.switch("auto").is_checked()
        shown.toggle("auto")
        assert stored() == {"enabled": True, "autoExtract": True}


def test_notes_are_searched(live_server: LiveServer, settings: Any, locale: str) -> None:
    """記憶搜尋."""
    memory("# Plans\n\n- Ana learns the accordion.\n\n# Food\n\n- Ana likes figs.\n")
    with opened(live_server, settings, locale) as shown:
        shown.page.evaluate("window.isSamePage = true")
        box = shown.page.get_by_label(shown.words("Words to look for"))
        box.fill("accordion")
        box.press("Enter")
        shown.page.wait_for_selector("#hits .row >> text=Ana learns the accordion.")
        assert "figs" not in shown.page.inner_text("#hits")
        box.fill("zebra")
        box.press("Enter")
        shown.page.wait_for_selector(f"#hits >> text={shown.words('Your notes say nothing about this.')}")
        assert shown.page.evaluate("window.isSamePage")
        assert "zebra" not in shown.page.url


@pytest.mark.parametrize("part", ["gate", "extraction"])
def test_a_model_of_the_intake_is_switched(live_server: LiveServer, settings: Any, locale: str, part: str) -> None:
    """品質閘門 Toggle, 智慧提取 Toggle, 品質閘門設定, 智慧提取設定: off at first, with gpt-4o-mini and 20 messages."""
    with opened(live_server, settings, locale) as shown:
        assert not shown.switch(part).is_checked()
        assert shown.part(part).locator("select").count() == 0
        shown.toggle(part)
        assert stored() == {SWITCHES[part]: True}
        assert shown.part(part).locator("select").input_value() == "gpt-4o-mini"
        assert shown.page.evaluate("document.activeElement.name") == SWITCHES[part]
        if part == "extraction":
            limit = shown.part(part).get_by_label(shown.words("Maximum messages it reads"))
            assert limit.input_value() == "20"
            limit.fill("35")
            limit.press("Tab")
            expect(shown.part(part).locator("[name='was.llmExtractionMaxMessages']")).to_have_value("35")
            assert stored()["llmExtractionMaxMessages"] == 35
        shown.toggle(part)
        assert stored()[SWITCHES[part]] is False
        expect(shown.part(part).locator("select")).to_have_count(0)


def test_compaction_is_switched(live_server: LiveServer, settings: Any, locale: str) -> None:
    """壓縮 Toggle, 記憶壓縮設定: off by default, with gpt-4o-mini and more than 30 facts."""
    with opened(live_server, settings, locale) as shown:
        assert not shown.switch("compaction").is_checked()
        shown.toggle("compaction")
        assert stored() == {"llmCompactionEnabled": True}
        limit = shown.part("compaction").get_by_label(shown.words("Start when there are more facts than"))
        assert limit.input_value() == "30"
        limit.fill("0")
        limit.press("Enter")
        assert not limit.evaluate("one => one.checkValidity()")
        limit.fill("12")
        limit.press("Enter")
        expect(shown.part("compaction").locator("[name='was.llmCompactionFactThreshold']")).to_have_value("12")
        assert stored() == {"llmCompactionEnabled": True, "llmCompactionFactThreshold": 12}


def test_compact_now_proposes_applies_and_undoes(live_server: LiveServer, settings: Any, locale: str) -> None:
    """手動觸發: a proposal by a model, with progress, what it merged, the version before, and undo."""
    memory(TEXT)

    def choose(_: int, asked: Received) -> Reply:
        return Reply(chunks=(answer(),), models=OFFERED)

    with opened(live_server, settings, locale, choose) as shown:
        page, part = shown.page, shown.page.locator("#compaction")
        part.get_by_role("button", name=shown.words("Compact now")).press("Enter")
        part.get_by_role("progressbar").wait_for()
        assert written() == TEXT
        elsewhere(lambda: compaction_draft(uuid=Compaction.objects.get().uuid))
        proposed = shown.words("A shorter MEMORY.md is proposed: %(before)s facts before, %(after)s after.")
        part.get_by_text(proposed % {"before": 6, "after": 4}).wait_for()
        assert {one.path for one in shown.provider.received} == {"/v1/chat/completions"}
        for words in (TEA, CATS, "Ana likes green tea.", "Ana has 2 cats."):
            assert words in part.inner_text()
        assert written() == TEXT
        asked = list[str]()
        page.on("request", lambda request: asked.append(request.url) if "compaction" in request.url else None)
        page.wait_for_timeout(2_500)
        assert asked == []
        part.get_by_role("button", name=shown.words("Use the shorter one")).press("Enter")
        part.get_by_role("link", name=shown.words("The previous version")).wait_for()
        assert written() == SHORTER
        part.get_by_role("button", name=shown.words("Undo")).press("Enter")
        part.get_by_text(shown.words("MEMORY.md is back to what it was before.")).wait_for()
        assert written() == TEXT


def test_compact_now_says_why_there_is_no_proposal(live_server: LiveServer, settings: Any, locale: str) -> None:
    """手動觸發: without a model that is offered, and with a provider that is out of order."""
    memory(TEXT)
    settings_of(ANA, llmCompactionModel="of-last-year")
    with opened(live_server, settings, locale) as shown:
        part = shown.page.locator("#compaction")
        part.get_by_role("button", name=shown.words("Compact now")).press("Enter")
        part.get_by_role("progressbar").wait_for()
        elsewhere(lambda: compaction_draft(uuid=Compaction.objects.get().uuid))
        reason = "No provider of this hub offers the chosen model. Choose another one."
        part.get_by_text(shown.words(reason)).wait_for()
        assert part.get_by_role("button", name=shown.words("Compact now")).is_visible()
        assert written() == TEXT


@pytest.mark.parametrize(
    ("part", "name"),
    [("gate", "llmGatingModel"), ("extraction", "llmExtractionModel"), ("compaction", "llmCompactionModel")],
)
def test_a_model_is_chosen(live_server: LiveServer, settings: Any, locale: str, part: str, name: str) -> None:
    """模型選擇, 模型選擇下拉選單: appears with the switch, lists what the provider offers, and is saved at once."""
    settings_of(ANA, **{name: "of-last-year"})
    with opened(live_server, settings, locale) as shown:
        assert shown.provider.received == []
        shown.toggle(part)
        chosen = shown.part(part).locator("select")
        assert [one.path for one in shown.provider.received] == ["/v1/models"]
        offered = [str(one.get_attribute("value")) for one in chosen.locator("option").all()]
        assert offered == ["of-last-year", *OFFERED]
        assert chosen.input_value() == "of-last-year"
        chosen.select_option("large-model")
        expect(shown.part(part).locator(f"[name='was.{name}']")).to_have_value("large-model")
        shown.wait_saved(part)
        assert stored() == {name: "large-model", SWITCHES[part]: True}
        shown.page.reload()
        assert shown.part(part).locator("select").input_value() == "large-model"


def test_each_switch_is_explained(live_server: LiveServer, settings: Any, locale: str) -> None:
    """功能說明文字: a short explanation below each switch, in the language of the person."""
    with opened(live_server, settings, locale) as shown:
        said = set()
        for part in ("gate", "extraction", "compaction"):
            about = shown.page.locator(f"#{shown.switch(part).get_attribute('aria-describedby')}")
            box, switch = about.bounding_box(), shown.switch(part).bounding_box()
            assert box is not None
            assert switch is not None
            assert box["y"] > switch["y"]
            said.add(about.inner_text())
            assert bool(CHINESE.search(about.inner_text())) is shown.is_chinese
        assert len(said) == 3


def test_a_provider_that_is_out_of_order_is_said(live_server: LiveServer, settings: Any, locale: str) -> None:
    """模型選擇 without an answer: a clear sentence, and the stored model stays choosable."""
    settings_of(ANA, llmGatingModel="of-last-year")
    with opened(live_server, settings, locale, lambda number, asked: Reply(status=503)) as shown:
        shown.toggle("gate")
        sentence = "The provider is not answering, or does not list its models. Your choice is kept."
        shown.part("gate").get_by_text(shown.words(sentence)).wait_for()
        assert shown.part("gate").locator("select").input_value() == "of-last-year"
        assert stored() == {"llmGatingModel": "of-last-year", "llmGatingEnabled": True}


def test_an_older_file_has_the_defaults(live_server: LiveServer, settings: Any, locale: str) -> None:
    """向下相容: what a file does not have has its default, and the file stays as it was."""
    settings_of(ANA, enabled=True, flushThreshold=0.6)
    before = stored()
    with opened(live_server, settings, locale) as shown:
        for part in SWITCHES:
            assert not shown.switch(part).is_checked()
        share = shown.words("How full an assistant’s context may get before facts are saved (percent)")
        assert shown.part("times").get_by_label(share).input_value() == "60"
        assert stored() == before


def test_settings_are_saved_without_a_script(live_server: LiveServer, settings: Any, locale: str) -> None:
    """Every part has a button to save, and what it saves is said, where no script runs."""
    with pages_of(ANA, live_server.url, locale=locale, scripts=False) as page:
        words = words_of(LANGUAGES[locale])
        page.goto(live_server.url + reverse("webui:memory_settings"))
        part = page.locator("#part-gate")
        part.get_by_role("switch").check()
        part.get_by_role("button", name=words("Save")).click()
        page.wait_for_selector(f".messages >> text={words('Saved.')}")
        wait_for(lambda: stored() == {"llmGatingEnabled": True}, "the setting in its file", patience=5)
        assert page.locator("#part-gate select").input_value() == "gpt-4o-mini"
        page.locator("#compaction").get_by_role("button", name=words("Compact now")).click()
        page.get_by_role("link", name=words("Check again")).wait_for()
