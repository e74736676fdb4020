"""A person of whom nothing is known yet: how it begins."""

import pytest
from django.test import Client
from django.urls import reverse

from apps.core.pauses import pause_begin
from apps.notes.domain.places import MAIN
from apps.notes.files.changes import note_append
from apps.semantic.models import Memory
from tests.integration.webui.person import ANA, BEN, browser_of

pytestmark = pytest.mark.django_db

TELL = reverse("webui:tell")


def test_home_says_how_it_begins_until_something_is_known(ana: Client) -> None:
    assert "How it begins" in ana.get("/").content.decode()
    page = ana.post(TELL, {"content": "I play the cello"}, follow=True).content.decode()
    assert "I play the cello" in page
    assert "How it begins" not in page
    memory = Memory.objects.get()
    assert (memory.user_id, memory.source) == (ANA, "user")
    assert "I play the cello" not in browser_of(BEN).get("/").content.decode()


def test_facts_in_notes_are_known(ana: Client) -> None:
    note_append(ANA, MAIN, "plays the cello", author="person:ana")
    note_append(ANA, MAIN, "has a cat", author="person:ana")
    page = ana.get("/").content.decode()
    assert "Your notes hold 2 facts that assistants read." in page
    assert "How it begins" not in page
    assert 'name="content"' in page, "a person with notes alone can write a first sentence"


def test_what_a_person_writes_is_theirs_whatever_the_form_says(ana: Client) -> None:
    ana.post(TELL, {"content": "I play the cello", "user_id": BEN})
    assert Memory.objects.get().user_id == ANA


@pytest.mark.parametrize("content", ["", " ", "x" * 2_001, "a\0b"])
def test_no_sentence_is_refused_in_words(ana: Client, content: str) -> None:
    page = ana.post(TELL, {"content": content}, follow=True).content.decode()
    assert "Write a sentence" in page
    assert not Memory.objects.exists()


def test_it_is_saved_also_while_applications_are_paused(ana: Client) -> None:
    pause_begin(user_id=ANA, until=None, actor="person:ana")
    ana.post(TELL, {"content": "I play the cello"})
    assert Memory.objects.count() == 1
