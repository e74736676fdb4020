"""An export holds everything, and an empty hub that imports it exports the same."""

from collections import Counter

import pytest
from django.core.management import call_command

from apps.core.domain.clock import DeterministicClock
from apps.core.domain.scope import Permission, Scope
from apps.episodic.domain.event import EventDraft
from apps.episodic.models import RetentionPolicy, Segment, TimelineEvent
from apps.episodic.services import event_record
from apps.events.services import drain
from apps.llm.embedding.embedder import embed_texts
from apps.rules.services import rule_register
from apps.semantic.bridge.ingest import events_ingest
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.models import (
    Consolidation,
    Ingestion,
    JudgedPair,
    JudgedPairState,
    Memory,
    MemoryEmbedding,
)
from apps.semantic.services import memory_delete, memory_save
from tests.api import api_for
from tests.integration.episodic.timeline import Timeline
from tests.integration.personal.hubs import ACCESS, NOW, empty_hub, exported, imported, kinds
from tests.integration.semantic.bridge_support import policy

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("timeline_dir")]


def fill() -> None:
    """Load the sample household, archive half of its events, and add what it has not."""
    call_command("load_sample", verbosity=0)
    Timeline().archive()
    policy("routing", on_prune="keep")
    clock = DeterministicClock(round(NOW.timestamp() * 1000))
    event = EventDraft(NOW, "visit", "Grandmother came with a cake.", Scope("sample-ida"), importance=0.9)
    event_record(access=ACCESS, draft=event, clock=clock)
    drain()
    events_ingest()
    rule_register(document={"name": "kitchen", "conditions": {"user_id": "sample-ida"}}, actor="test")
    given = MemoryDraft("The vector is the writer's.", scope=Scope("sample-ida"), embedding=embed_texts(["other"])[0])
    uuid = memory_save(access=ACCESS, draft=given).memory.uuid
    memory_delete(access=ACCESS, uuid=uuid)
    last = Memory.objects.latest("pk")
    Consolidation.objects.create(name="nightly", user_id="sample-ida", cursor=last.pk)
    RetentionPolicy.objects.create(household_id="sample-household", days=30, updated_at=NOW)
    receipt = last.conflicts_as_candidate.model.objects.latest("pk")
    JudgedPair.objects.create(
        notice=receipt, candidate=receipt.candidate, existing=receipt.existing, prompt_version=1, model="m",
        state=JudgedPairState.SKIPPED, code="restated",
    )  # fmt: skip


def test_import_into_an_empty_hub_gives_the_same_export() -> None:
    fill()
    first = exported(with_vectors=True)
    found = Counter(kinds(first))
    assert TimelineEvent.objects.count() < found["event"]
    assert Ingestion.objects.filter(memory__isnull=False).exists()
    assert all(found[kind] for kind in ("memory", "memory_link", "receipt", "judged_pair", "routed_event", "rules"))

    empty_hub()
    report = imported(first)

    assert report.new == report.read
    assert exported(with_vectors=True) == first
    assert not Segment.objects.exclude(file_name="").exists()


def test_an_import_without_vectors_embeds_again_and_keeps_given_ones() -> None:
    fill()
    first, before = exported(), exported(with_vectors=True)

    empty_hub()
    imported(first)

    assert exported() == first
    assert exported(with_vectors=True) == before
    assert MemoryEmbedding.objects.filter(is_given=True).count() == 1


def test_head_of_an_export_answers_its_headers_alone() -> None:
    api = api_for(Scope("ana"), Permission.READ)
    answer = api.call("HEAD", "/api/export")
    assert (answer.status_code, answer.content) == (200, b"")
    assert answer["Content-Type"] == "application/x-ndjson"
    assert answer["Content-Disposition"] == 'attachment; filename="memoryhub-export.jsonl"'
    assert api.call("HEAD", "/api/export?user_id=ana").status_code == 400
