"""What changes on a person's pages while they look: what was just learned, and how much waits."""

import re
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse

from apps.core.domain.scope import Access, Permission, Scope
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.models import Memory, MemoryStatus
from apps.semantic.services import learned_lately, memory_save
from tests.integration.webui.person import ANA, BEN, browser_of, remember
from tests.integration.webui.test_clear_up import disagree

pytestmark = pytest.mark.django_db

OWN = Access(Scope(ANA), Permission.WRITE, f"person:{ANA}")


def learned(browser: Client) -> str:
    return browser.get(reverse("webui:home_learned")).content.decode()


def test_home_says_what_was_just_learned_and_by_whom(ana: Client) -> None:
    remember(BEN, "Ben plays the tuba")
    assert "Just now" not in learned(ana)
    remember(ANA, "Ana plays the cello")
    for page in (learned(ana), ana.get("/").content.decode()):
        assert "<bdi>kitchen</bdi> remembered this" in page
        assert "Ana plays the cello" in page
        assert "tuba" not in page


def test_what_one_wrote_oneself_is_not_learned(ana: Client) -> None:
    memory = memory_save(access=OWN, draft=MemoryDraft("Ana plays the viola", scope=Scope(ANA))).memory
    assert learned_lately(OWN, memory.created_at, 5) == []


def test_what_is_older_than_an_hour_is_not_just_learned(ana: Client) -> None:
    memory = remember(ANA, "Ana plays the cello")
    Memory.objects.filter(pk=memory.pk).update(created_at=memory.created_at - timedelta(minutes=61))
    assert "cello" not in learned(ana)


def test_undo_forgets_what_was_learned(ana: Client) -> None:
    memory = remember(ANA, "Ana plays the cello")
    page = ana.post(reverse("webui:learned_undo", args=[memory.uuid]), follow=True).content.decode()
    memory.refresh_from_db()
    assert memory.status == MemoryStatus.DELETED
    assert "Taken back" in page
    assert reverse("webui:memory", args=[memory.uuid]) in page
    assert "cello" not in learned(ana)


def test_undo_brings_back_what_was_superseded(ana: Client) -> None:
    old = remember(ANA, "Ana works at Siemens")
    new = remember(ANA, "Ana no longer works at Siemens")
    old.refresh_from_db()
    assert old.status == MemoryStatus.SUPERSEDED
    ana.post(reverse("webui:learned_undo", args=[new.uuid]))
    old.refresh_from_db()
    new.refresh_from_db()
    assert (old.status, new.status) == (MemoryStatus.ACTIVE, MemoryStatus.DELETED)


def test_undo_of_another_persons_memory_is_unknown(ana: Client) -> None:
    theirs = remember(BEN, "Ben plays the tuba")
    assert ana.post(reverse("webui:learned_undo", args=[theirs.uuid])).status_code == 404
    theirs.refresh_from_db()
    assert theirs.status == MemoryStatus.ACTIVE


def test_undoing_twice_says_so_and_harms_nothing(ana: Client) -> None:
    memory = remember(ANA, "Ana plays the cello")
    for _ in range(2):
        assert ana.post(reverse("webui:learned_undo", args=[memory.uuid]), follow=True).status_code == 200
    memory.refresh_from_db()
    assert memory.status == MemoryStatus.DELETED


def test_the_badge_counts_pairs_of_this_person(ana: Client) -> None:
    badge = reverse("webui:clear_up_badge")
    assert 'class="badge"' not in ana.get(badge).content.decode()
    disagree(ANA)
    disagree(BEN)
    page = ana.get(badge).content.decode()
    assert re.search(r'class="badge" aria-hidden="true">1<', page)
    assert ", 1 waiting" in page
    assert 'class="badge"' in ana.get("/").content.decode()


def test_two_people_see_their_own_news(ana: Client) -> None:
    ben = browser_of(BEN)
    remember(ANA, "Ana plays the cello")
    assert "cello" not in learned(ben)
