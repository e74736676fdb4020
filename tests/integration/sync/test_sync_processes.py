"""One sync of a source at a time, whoever asks for another one; each with a connection of its own."""

import pytest
from django.db import connection
from django_q.models import OrmQ

from apps.sync import services
from apps.sync.models import SyncKind, SyncRun
from apps.sync.personal.stores import KnowledgeStore
from apps.sync.runs.lock import LockLostError
from tests.integration.sync.syncs import OPERATOR, OWNER, Hub
from tests.threads import outcomes_at_once

pytestmark = pytest.mark.django_db(transaction=True)


def test_nothing_else_begins_while_a_source_is_synced(hub: Hub) -> None:
    waiting = services.sync_request(access=OPERATOR, uuid=hub.source.uuid, kind=SyncKind.FULL, clock=hub.clock)
    seen: list[object] = []

    def try_others(step: str) -> None:
        if step == "embedded":
            for call in (
                hub.sync,
                lambda: services.source_delete(access=OPERATOR, uuid=hub.source.uuid),
                lambda: list(KnowledgeStore().forget(OWNER)),
                lambda: services.run_waiting(waiting.uuid, clock=hub.clock),
                lambda: services.sync_due(clock=hub.clock),
            ):
                seen.extend(outcomes_at_once(call))

    assert hub.sync(step=try_others).state == "complete"
    assert [getattr(one, "code", one) for one in seen] == [*["sync_running"] * 3, None, []]
    # What was asked for is done by the next task.
    OrmQ.objects.all().delete()
    services.sync_due(clock=hub.clock)
    assert OrmQ.objects.count() == 1
    run = services.run_waiting(waiting.uuid, clock=hub.clock)
    assert run is not None
    assert (run.state, run.unchanged, SyncRun.objects.count()) == ("complete", 3, 2)


def test_a_sync_that_has_lost_its_lock_to_another_one_writes_nothing(hub: Hub) -> None:
    def lose(step: str) -> None:
        if step == "embedded":
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_unlock_all()")
            [other] = outcomes_at_once(hub.sync)
            assert other.state == "complete"

    with pytest.raises(LockLostError):
        hub.sync(step=lose)
    assert sorted(SyncRun.objects.values_list("state", flat=True)) == ["complete", "interrupted"]
    assert hub.memories.keys() == hub.items.keys() == {"ADR-0001", "ADR-0002", "ADR-0003"}


def test_progress_is_seen_while_a_sync_runs(hub: Hub) -> None:
    seen: list[tuple[str, int, int]] = []

    def look(step: str) -> None:
        if step in ("read", "embedded"):
            [run] = outcomes_at_once(SyncRun.objects.get)
            seen.append((run.step, run.done, run.total))

    hub.sync(step=look)
    assert seen == [("read", 3, 3), ("embed", 3, 3)]
