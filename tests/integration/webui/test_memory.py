"""A person corrects, forgets, brings back and confirms a memory."""

import pytest
from django.test import Client
from django.urls import reverse

from apps.core.domain.origin import WriteOrigin
from apps.core.pages.origins import HELP
from apps.semantic.models import Memory, MemoryRevision
from tests.integration.webui.person import ANA, remember

pytestmark = pytest.mark.django_db


@pytest.fixture
def memory(db: None) -> Memory:
    return remember(ANA, "Ana plays the cello", decay_policy="reinforceable")


def say(browser: Client, name: str, memory: Memory, **data: str) -> str:
    """Post to a page of a memory, and return the page that follows."""
    return browser.post(reverse(f"webui:{name}", args=[memory.uuid]), data, follow=True).content.decode()


def test_a_correction_keeps_what_was_said_before(ana: Client, memory: Memory) -> None:
    page = say(ana, "memory_correct", memory, content="Ana plays the viola", version=memory.version_tag)
    memory.refresh_from_db()
    assert memory.content == "Ana plays the viola"
    assert "Corrected." in page
    step = MemoryRevision.objects.filter(memory=memory).last()
    assert step is not None
    assert step.actor == "person:ana"
    assert step.changes["content"] == ["Ana plays the cello", "Ana plays the viola"]


def test_a_correction_of_what_has_changed_since_is_refused_and_kept_in_the_form(ana: Client, memory: Memory) -> None:
    read = memory.version_tag
    say(ana, "memory_correct", memory, content="Ana plays the viola", version=read)
    page = say(ana, "memory_correct", memory, content="Ana plays the harp", version=read)
    memory.refresh_from_db()
    assert memory.content == "Ana plays the viola"
    assert "Ana plays the harp" in page
    assert "changed since" in page


@pytest.mark.parametrize(
    ("origin", "words"),
    [
        ("person", "Said by a person"),
        ("app", "Saved by an application"),
        ("document", "From a document"),
        ("derived", "Derived by the hub"),
    ],
)
def test_page_says_whom_a_memory_comes_from(ana: Client, memory: Memory, origin: str, words: str) -> None:
    Memory.objects.filter(pk=memory.pk).update(origin=origin)
    page = ana.get(reverse("webui:memory", args=[memory.uuid])).content.decode()
    assert words in page
    assert str(HELP[WriteOrigin(origin)]) in page
    answers = ana.post(reverse("webui:ask"), {"question": "Who plays the cello?"}).content.decode()
    assert f'data-origin="{origin}"' in answers


def test_name_of_the_app_that_saved_a_memory_is_shown_as_text(ana: Client, memory: Memory) -> None:
    MemoryRevision.objects.filter(memory=memory).update(actor="key:<b>kitchen</b>")
    page = ana.get(reverse("webui:memory", args=[memory.uuid])).content.decode()
    assert "The app &lt;b&gt;kitchen&lt;/b&gt; saved it." in page
    assert "<b>" not in page


def test_a_memory_is_forgotten_and_brought_back(ana: Client, memory: Memory) -> None:
    page = say(ana, "memory_forget", memory)
    memory.refresh_from_db()
    assert memory.status == "deleted"
    assert "Bring back" in page
    say(ana, "memory_restore", memory)
    memory.refresh_from_db()
    assert memory.status == "active"


def test_still_true_restarts_what_fades(ana: Client, memory: Memory) -> None:
    assert "Still true" in ana.get(reverse("webui:memory", args=[memory.uuid])).content.decode()
    say(ana, "memory_still_true", memory)
    memory.refresh_from_db()
    assert memory.last_reinforced_at is not None


def test_what_cannot_be_done_says_why(ana: Client, memory: Memory) -> None:
    assert "not deleted" in say(ana, "memory_restore", memory)
