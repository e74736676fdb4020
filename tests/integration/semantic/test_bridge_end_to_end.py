"""From a recorded event to a memory and back again, through the timeline itself."""

from datetime import timedelta

import pytest
from django_q.models import OrmQ

from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.scope import Scope, system_access
from apps.episodic.domain.segment_file.format import Damage, SegmentDamagedError
from apps.episodic.maintenance.archive import rows_drop, segment_archive
from apps.episodic.maintenance.doctor import timeline_doctor
from apps.episodic.maintenance.run import timeline_seal
from apps.episodic.models import RetentionPolicy, Segment
from apps.episodic.retention.prune import retention_create, timeline_prune
from apps.episodic.retention.purge import events_purge
from apps.episodic.store.catalogue import segment_quarantine
from apps.events.models import Event
from apps.events.services import drain
from apps.semantic import tasks
from apps.semantic.bridge.ingest import bridge_catch_up
from apps.semantic.models import BridgeAudit, Ingestion, Memory
from tests.api import Api, api_for, belong, contents
from tests.integration.semantic.bridge_support import active, policy, recover, warn

pytestmark = pytest.mark.django_db(transaction=True)

EVENTS = "/api/episodic/events"
SYSTEM = system_access("test")


def happened(content: str = "Ana promised to call the bank", days: float = 0, **fields: object) -> dict[str, object]:
    """An event as an application tells of it. days: ago."""
    moment = utcnow(SYSTEM_CLOCK) - timedelta(days=days)
    return {"content": content, "event_type": "promise", "importance": 0.9, "timestamp": moment.isoformat(), **fields}


def work() -> None:
    """What a worker does: run the tasks that are asked for, until none is left."""
    run = {f"apps.semantic.tasks.{name}": getattr(tasks, name) for name in ("ingest_events", "reconcile_events")}
    run["apps.events.tasks.drain"] = drain
    while asked := OrmQ.objects.order_by("pk").first():
        function = asked.task["func"]
        asked.delete()
        if function in run:
            run[function]()


@pytest.fixture
def api() -> Api:
    return api_for(Scope(user_id="ana"))


def test_event_that_is_recorded_is_found_as_memory_that_links_back(api: Api) -> None:
    belong(Scope("ana", "home"))
    policy("promises", event_types=["promise"])
    event = api.post(EVENTS, happened(household_id="home")).json()["event"]
    work()
    answer = api.search("who promised to call the bank?", household_id="home")
    [memory] = [one["memory"] for one in answer["results"]]
    assert memory["metadata"]["episodic_event_id"] == event["id"]
    assert (memory["household_id"], memory["source"], memory["type"]) == ("home", "inferred", "event")
    assert memory["occurred_at"] == event["timestamp"]
    [link] = Ingestion.objects.all()
    assert (str(link.event_id), str(link.memory and link.memory.uuid)) == (event["id"], memory["id"])


def test_same_event_told_again_makes_no_second_memory(api: Api) -> None:
    policy()
    told = happened()
    assert [api.post(EVENTS, told).status_code for _ in range(3)] == [201, 200, 200]
    work()
    assert active() == [told["content"]]
    assert Ingestion.objects.count() == 1


def test_batch_of_events_becomes_memories_of_their_own_users() -> None:
    policy()
    hub = api_for(Scope())
    events = [happened(f"Fact {n} of {user}", user_id=user) for user in ("ana", "ben") for n in range(30)]
    assert hub.post(f"{EVENTS}/batch", {"events": events}).status_code == 200
    work()
    for user in ("ana", "ben"):
        assert active(user) == sorted(f"Fact {n} of {user}" for n in range(30))


def test_warning_holds_events_back_and_its_end_lets_them_through(api: Api) -> None:
    policy()
    warn()
    assert api.post(EVENTS, happened()).status_code == 201
    work()
    assert active() == []
    recover()
    work()
    assert contents(api.search("bank")) == ["Ana promised to call the bank"]


def test_retention_demotes_what_came_of_events_that_it_prunes(api: Api) -> None:
    policy()
    RetentionPolicy.objects.all().delete()
    old, new = happened("an old promise", days=40), happened("a new promise")
    for told in (old, new):
        assert api.post(EVENTS, told).status_code == 201
    work()
    retention_create(household_id="", days=30, is_enabled=True)
    assert timeline_prune().events == 1
    work()
    found = {one["memory"]["content"]: one["memory"] for one in api.search("promise")["results"]}
    assert {content: memory["importance"] for content, memory in found.items()} == {
        "an old promise": 0.45,
        "a new promise": 0.9,
    }
    record = BridgeAudit.objects.get()
    assert (record.action, record.reason, str(record.memory)) == ("demoted", "retention", found["an old promise"]["id"])


def test_purging_events_of_user_deletes_what_came_of_them_and_leaves_no_word_behind(api: Api) -> None:
    policy(on_prune="delete")
    api.post(EVENTS, happened("the first promise"))
    work()
    api.post(EVENTS, happened("the second promise"))
    drain()
    api.post(EVENTS, happened("the third promise"))
    assert events_purge(access=SYSTEM, scope=Scope("ana")).events == 3
    work()
    assert active() == []
    assert sorted(BridgeAudit.objects.values_list("action", "reason")) == [("deleted", "manual"), ("dropped", "manual")]
    assert not Ingestion.objects.exclude(content="").exists()
    assert not Event.objects.filter(payload__content__contains="promise").exists()


def test_memory_stays_while_its_event_has_id_and_is_demoted_with_last_one(api: Api) -> None:
    policy("promises", event_types=["promise"])
    told = happened(days=40)
    first = api.post(EVENTS, told).json()["event"]["id"]
    work()
    timeline_seal()
    segment = Segment.objects.get(state="sealed")
    segment_archive(segment, clock=SYSTEM_CLOCK)
    rows_drop(segment)
    assert segment_quarantine(segment_id=segment.pk, error=SegmentDamagedError(Damage.CHECKSUM, "for a moment"))
    second = api.post(EVENTS, told).json()["event"]["id"]
    assert second != first
    work()
    [memory] = Memory.objects.all()
    assert linked(memory) == {first}, "nothing is made of events while a critical warning is there"
    timeline_doctor(repair=True)
    work()
    bridge_catch_up()
    work()
    assert linked(memory) == {second}
    assert list(BridgeAudit.objects.values_list("action", "reason")) == [("kept", "repair")]
    before = memory.importance
    RetentionPolicy.objects.update_or_create(household_id="", defaults={"days": 30, "is_enabled": True})
    timeline_prune()
    work()
    memory.refresh_from_db()
    assert (linked(memory), memory.importance < before) == (set(), True)
    assert list(BridgeAudit.objects.values_list("action", "reason").order_by("id"))[1:] == [("demoted", "retention")]


def linked(memory: Memory) -> set[str]:
    return {str(uuid) for uuid in Ingestion.objects.filter(memory=memory).values_list("event_id", flat=True)}
