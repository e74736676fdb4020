"""Runs that have to wait, are given up or come too late."""

from datetime import timedelta

import pytest
from django.utils import timezone

from apps.core.domain.errors import UnavailableError
from apps.core.domain.scope import Scope
from apps.notes.files.config import config_change
from apps.notes.files.folder import MAX_BYTES
from apps.notes.files.owner import folder_of
from apps.notes.models import ExtractedFact, ExtractionRun
from apps.notes.services import runs_continue
from tests.api import Api, api_for
from tests.integration.notes.conversations.test_pipeline import TALK, main_text, make_due, memories, request

pytestmark = pytest.mark.django_db


@pytest.fixture
def zoe() -> Api:
    """A caller with a key of zoe's: after a large file her index pauses, and in other tests ana's must not."""
    return api_for(Scope("zoe"))


def test_run_waits_for_a_file_that_its_person_has_to_mend(zoe):
    folder_of("zoe").create()
    path = folder_of("zoe").path / "MEMORY.md"
    path.write_bytes(b"x" * (MAX_BYTES - 10))
    run = request("zoe", *TALK)
    for _ in range(2):
        make_due()
        runs_continue()
    waiting = ExtractionRun.objects.get()
    assert (waiting.state, waiting.error, waiting.tries) == ("waiting", "too_large", 0)
    assert len(memories("zoe")) == 3, "one fact stops no other"
    ExtractionRun.objects.update(started_at=timezone.now() - timedelta(days=2))
    make_due()
    runs_continue()
    wait = ExtractionRun.objects.get().next_try_at - timezone.now()
    assert timedelta(minutes=50) < wait < timedelta(minutes=61)
    path.write_text("# Mine\n")
    make_due()
    runs_continue()
    shown = zoe.get(f"/api/auto-memory/runs/{run}").json()
    assert (shown["state"], shown["applied"], main_text("zoe").count("- ")) == ("finished", 3, 3)


def test_fact_of_a_run_that_was_given_up_can_be_undone(zoe):
    folder_of("zoe").create()
    path = folder_of("zoe").path / "MEMORY.md"
    path.write_bytes(b"x" * (MAX_BYTES - 10))
    request("zoe", "I live in Bergen.")
    runs_continue()
    ExtractionRun.objects.update(state="failed")
    fact = ExtractedFact.objects.get()
    assert (fact.state, len(memories("zoe"))) == ("found", 1)
    undone = zoe.post(f"/api/auto-memory/facts/{fact.uuid}/undo").json()
    assert (undone["state"], undone["undo"]["memory"], undone["undo"]["note"]) == ("undone", "deleted", "gone")
    assert memories("zoe") == {}


@pytest.mark.parametrize(("name", "reason"), [("enabled", "disabled"), ("autoExtract", "auto_extract_off")])
def test_run_of_a_person_who_has_switched_it_off_since_learns_nothing(zoe, name, reason):
    run = request("zoe", *TALK)
    config_change("zoe", {name: False}, author="test")
    assert runs_continue() == 1
    shown = zoe.get(f"/api/auto-memory/runs/{run}").json()
    assert (shown["state"], shown["facts"], shown["steps"][0]["dropped"]) == ("finished", 0, reason)
    assert (main_text("zoe"), memories("zoe")) == ("", {})


def test_switching_off_ends_a_run_that_has_begun(zoe):
    """A memory that was saved gets its line, so that it can be undone; what was not saved is dropped."""
    run = request("zoe", *TALK)

    def stop(name: str) -> None:
        if name == "remembered":
            raise UnavailableError("Stopped.", code="stopped")

    runs_continue(step=stop)
    config_change("zoe", {"enabled": False}, author="test")
    make_due()
    assert runs_continue() == 1
    shown = zoe.get(f"/api/auto-memory/runs/{run}").json()
    assert [fact["state"] for fact in shown["results"]] == ["applied", "dropped", "dropped"]
    assert {fact["reason"] for fact in shown["results"]} == {"", "disabled"}
    assert (shown["state"], len(memories("zoe")), main_text("zoe").count("- ")) == ("finished", 1, 1)
