"""The sample household: it comes, shows what it is for, and goes without a trace in the data of others."""

import json
import re
from collections import Counter
from datetime import UTC, datetime, timedelta
from io import StringIO
from itertools import count
from typing import Any

import pytest
from django.apps import apps
from django.core.management import CommandError, call_command
from django.db import OperationalError, connection, models

from apps.core.domain.clock import DeterministicClock
from apps.core.domain.scope import Scope, system_access
from apps.episodic.domain.event import EventDraft
from apps.episodic.maintenance.run import timeline_maintain, timeline_seal
from apps.episodic.models import RetentionPolicy, TimelineEvent
from apps.episodic.services import event_record
from apps.events.models import Event
from apps.events.services import drain
from apps.retrieval.domain.query import SearchQuery
from apps.rules.selectors import rules_export
from apps.semantic import status
from apps.semantic.bridge.ingest import events_ingest
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.models import BridgeAudit, Conflict, Ingestion, Memory, MemoryEmbedding, MemoryRevision
from apps.semantic.search.search import memory_search
from apps.semantic.services import memory_delete, memory_save
from memoryhub import sample
from tests.integration.semantic.bridge_support import policy

# Recording must not be called inside a transaction.
pytestmark = pytest.mark.django_db(transaction=True)

ACCESS = system_access("test")
DAY_MS = 24 * 3_600_000
# A shard row counts the changes of a user's memories, and tells the caches of other processes that they are gone.
COUNTERS = {"semantic_memoryshard"}
MOST_NOTICED = 7


# Two decisions that are accepted, one that is overridden, one that is reverted, one that is open.
FEW = (
    "mara-work", "oskar-coffee", "tomas-thermostat", "kitchen-tone", "mara-new-work", "trip-boats", "thermostat-change",
    "oskar-no-coffee", "trip-boats-misheard", "tomas-choir-day", "tomas-choir-moved",
)  # fmt: skip


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """A smaller sample, where the way of a load matters and not what is in it."""
    memories = [line for line in sample.read_sample("memories") if line["key"] in FEW]
    files = {"memories": memories, "events": sample.read_sample("events")[:20]}
    assert len(memories) == len(FEW)
    monkeypatch.setattr(sample, "read_sample", files.__getitem__)


def run(command: str) -> str:
    out = StringIO()
    call_command(command, stdout=out, stderr=StringIO())
    return out.getvalue()


def fail(command: str) -> str:
    with pytest.raises(CommandError) as raised:
        run(command)
    return str(raised.value)


def tables_of_users() -> list[type[models.Model]]:
    """Every table with a column that says whose a row is."""
    return [model for model in apps.get_models() if any(field.name == "user_id" for field in model._meta.fields)]


def rows_of_others() -> dict[str, list[dict[str, Any]]]:
    others = {}
    for model in tables_of_users():
        rows = model._default_manager.exclude(user_id__startswith=sample.PREFIX).order_by("pk")
        others[model._meta.db_table] = list(rows.values())
    memories = Memory.objects.exclude(user_id__startswith=sample.PREFIX)
    for related in (MemoryEmbedding, MemoryRevision):
        rows = related.objects.filter(memory__in=memories).order_by("pk")
        others[related._meta.db_table] = json.loads(json.dumps(list(rows.values()), default=str))
    return others


def everything() -> dict[str, list[Any]]:
    tables = [*tables_of_users(), MemoryEmbedding, MemoryRevision]
    return {
        model._meta.db_table: [str(row) for row in model._default_manager.order_by("pk").values()] for model in tables
    }


def real_people() -> None:
    """Save memories that disagree, and an event, of a person of the same household and of one with a similar name."""
    for user in ("mara", "samplemara"):
        scope = Scope(user, sample.HOUSEHOLD)
        for content in ("Mara drinks coffee after supper.", "Mara no longer drinks coffee after supper."):
            memory_save(access=ACCESS, draft=MemoryDraft(content, scope=scope))
        event_record(access=ACCESS, draft=EventDraft(datetime(2026, 3, 1, tzinfo=UTC), "visit", "A visit.", scope))


def test_it_brings_memories_events_and_decisions() -> None:
    said = run("load_sample")
    assert re.match(r"82 memories and 114 events of 4 people added", said)
    assert Counter(Memory.objects.values_list("status", flat=True)) == {"active": 72, "superseded": 9, "deleted": 1}
    assert TimelineEvent.objects.count() == 114
    assert set(Memory.objects.values_list("user_id", flat=True)) == set(sample.USERS)
    assert set(TimelineEvent.objects.values_list("user_id", flat=True)) == set(sample.USERS)
    assert Counter(Conflict.objects.exclude(outcome="noticed").values_list("outcome", "state")) == {
        ("superseded_existing", "open"): 6,
        ("superseded_existing", "accepted"): 2,
        ("superseded_existing", "overridden"): 1,
        ("superseded_existing", "reverted"): 1,
        ("kept_existing", "open"): 1,
        ("kept_both", "accepted"): 1,
        ("reverted", "accepted"): 1,
    }
    query = SearchQuery(scope=Scope("sample-mara"), query="Where does Mara work?", top_k=3)
    found = [hit.memory.content for hit in memory_search(ACCESS, query).found]
    assert "Mara works at Parkside." in found
    assert "Mara works at Lindenhof." not in found
    assert "nothing was added" in run("load_sample")
    assert run("unload_sample") == "82 memories and 114 events of the sample household removed.\n"


@pytest.mark.deep
def test_a_newcomer_is_shown_few_questions_that_are_none() -> None:
    run("load_sample")
    assert Conflict.objects.filter(outcome="noticed").count() <= MOST_NOTICED


@pytest.mark.usefixtures("few")
def test_every_line_is_stored_at_its_day() -> None:
    clock = DeterministicClock(int(datetime(2026, 5, 10, 15, tzinfo=UTC).timestamp() * 1000))
    sample.load_sample(advance=lambda done: None, clock=clock)
    work = Memory.objects.get(metadata__memoryhub_sample__key="mara-new-work")
    assert work.occurred_at == work.created_at == datetime(2026, 3, 31, 8, 0, tzinfo=UTC)
    assert {memory.metadata[sample.METADATA]["loaded_on"] for memory in Memory.objects.all()} == {"2026-05-10"}
    assert sorted(memory.metadata[sample.METADATA]["key"] for memory in Memory.objects.all()) == sorted(FEW)


def test_lines_are_recent_and_have_keys_of_their_own() -> None:
    keys = [line["key"] for line in sample.read_sample("memories")]
    assert len(set(keys)) == len(keys)
    for line in [*sample.read_sample("memories"), *sample.read_sample("events")]:
        assert 1 <= line["days_ago"] <= 60
        assert sample.PREFIX + line["user"] in sample.USERS


@pytest.mark.usefixtures("few")
def test_a_second_load_adds_nothing() -> None:
    run("load_sample")
    before = everything()
    said = run("load_sample")
    assert "nothing was added" in said
    assert everything() == before


@pytest.mark.usefixtures("few")
def test_a_load_on_a_later_day_adds_nothing() -> None:
    run("load_sample")
    before = everything()
    later = DeterministicClock(int((datetime.now(UTC) + timedelta(days=9)).timestamp() * 1000))
    report = sample.load_sample(advance=lambda done: None, clock=later)
    assert (report.memories, report.events) == (0, 0)
    assert everything() == before


@pytest.mark.usefixtures("few")
def test_a_deleted_memory_does_not_come_back() -> None:
    run("load_sample")
    gone = Memory.objects.get(metadata__memoryhub_sample__key="kitchen-tone")
    memory_delete(access=ACCESS, uuid=gone.uuid)
    assert "nothing was added" in run("load_sample")
    assert Memory.objects.filter(content=gone.content).count() == 1


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("step", ["memory_save", "conflict_accept", "events_record"])
def test_an_interrupted_load_is_completed(step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    run("load_sample")
    memories = Counter(Memory.objects.values_list("content", "status"))
    receipts = Counter(Conflict.objects.values_list("outcome", "state"))
    run("unload_sample")
    for allowed in (0, 1) if step != "events_record" else (0, 0):
        with monkeypatch.context() as patch:
            interrupt(patch, step, allowed)
            with pytest.raises(KeyboardInterrupt):
                run("load_sample")
    assert TimelineEvent.objects.count() == 0
    run("load_sample")
    assert Counter(Memory.objects.values_list("content", "status")) == memories
    assert Counter(Conflict.objects.values_list("outcome", "state")) == receipts
    assert TimelineEvent.objects.count() == 20
    assert "nothing was added" in run("load_sample")


def interrupt(patch: pytest.MonkeyPatch, step: str, allowed: int) -> None:
    """Let a step of loading succeed so many times, then end the load as Ctrl-C does."""
    real, calls = getattr(sample, step), count()

    def counted(**arguments: Any) -> Any:
        if next(calls) == allowed:
            raise KeyboardInterrupt
        return real(**arguments)

    patch.setattr(sample, step, counted)


@pytest.mark.usefixtures("few")
def test_rules_and_retention_stay_as_they_were() -> None:
    rules = rules_export(ACCESS)
    retention = list(RetentionPolicy.objects.values())
    run("load_sample")
    run("unload_sample")
    assert rules_export(ACCESS) == rules
    assert list(RetentionPolicy.objects.values()) == retention


@pytest.mark.usefixtures("few")
def test_an_unload_leaves_nothing_of_the_sample() -> None:
    run("load_sample")
    assert run("unload_sample") == "11 memories and 20 events of the sample household removed.\n"
    for model in tables_of_users():
        left = model._default_manager.filter(user_id__startswith=sample.PREFIX).exists()
        assert left == (model._meta.db_table in COUNTERS), model
    assert MemoryEmbedding.objects.count() == MemoryRevision.objects.count() == 0
    assert not Event.objects.filter(payload__has_key="content").exclude(payload__content="").exists()


@pytest.mark.usefixtures("few")
def test_a_second_unload_removes_nothing() -> None:
    run("load_sample")
    run("unload_sample")
    before = everything()
    assert run("unload_sample") == "There is no sample household; nothing was removed.\n"
    assert everything() == before


@pytest.mark.usefixtures("few")
def test_unload_leaves_rows_of_others_as_they_were() -> None:
    real_people()
    before = rows_of_others()
    assert len(before["semantic_conflict"]) == 2
    run("load_sample")
    run("load_sample")
    run("unload_sample")
    assert rows_of_others() == before


@pytest.mark.usefixtures("few")
def test_an_unload_finds_archived_events() -> None:
    real_people()
    run("load_sample")
    timeline_seal()
    now = int(datetime.now(UTC).timestamp() * 1000)
    timeline_maintain(clock=DeterministicClock(now + 100 * DAY_MS))
    assert TimelineEvent.objects.count() == 0
    assert "20 events" in run("unload_sample")
    assert "nothing was removed" in run("unload_sample")


@pytest.mark.usefixtures("few")
def test_unload_removes_memories_made_of_events() -> None:
    run("load_sample")
    policy(min_importance=0.8)
    drain()
    events_ingest()
    made = Ingestion.objects.filter(status="linked").count()
    assert made > 2
    run("unload_sample")
    drain()
    assert Ingestion.objects.count() == Memory.objects.count() == BridgeAudit.objects.count() == 0


def test_memories_of_another_origin_are_kept() -> None:
    memory_save(access=ACCESS, draft=MemoryDraft("Mine.", scope=Scope("sample-mara"), metadata={sample.METADATA: True}))
    before = everything()
    assert "not from the sample" in fail("load_sample")
    assert "nothing was removed" in run("unload_sample")
    assert everything() == before


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("step", ["events_purge", "memories_purge"])
def test_an_interrupted_unload_is_completed(step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    run("load_sample")
    for allowed in (1, 0):
        with monkeypatch.context() as patch:
            interrupt(patch, step, allowed)
            with pytest.raises(KeyboardInterrupt):
                run("unload_sample")
    run("unload_sample")
    assert Memory.objects.count() == TimelineEvent.objects.count() == 0


def test_a_database_that_does_not_answer_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def away() -> None:
        raise OperationalError

    monkeypatch.setattr(status, "active_space", away)
    for command in ("load_sample", "unload_sample"):
        assert "Start the hub with `manage.py up`" in fail(command)
    assert connection.is_usable()
