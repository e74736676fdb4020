import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest
from django.db import IntegrityError, connection, transaction
from django.utils.module_loading import import_string
from django_q.models import OrmQ
from prometheus_client import REGISTRY

from apps.events import services
from apps.events.domain.payload import PayloadError
from apps.events.models import Delivery, Event
from tests.integration.events import support
from tests.integration.events.support import drain_tasks, emit, happened

pytestmark = pytest.mark.django_db(transaction=True)


class RolledBackError(Exception):
    pass


@contextmanager
def rolled_back() -> Iterator[None]:
    """A transaction, or inside of one a savepoint, that comes to nothing."""
    with suppress(RolledBackError), transaction.atomic():
        yield
        raise RolledBackError


def test_event_outside_transaction_is_refused(table):
    with pytest.raises(services.OutsideTransactionError, match=r"transaction\.atomic"):
        services.emit(happened())
    assert not Event.objects.exists()


def test_event_and_its_deliveries_are_written_with_change(table):
    table(support.RECORD, support.RECORD_TOO)
    [event_id] = emit(note="hello")
    event = Event.objects.get()
    assert (event.uuid, event.name, event.payload["note"]) == (event_id, "test:outbox:happened", "hello")
    assert event.delivered_at is None
    assert set(event.deliveries.values_list("subscriber", "status")) == {
        (support.RECORD, "pending"),
        (support.RECORD_TOO, "pending"),
    }


def test_a_rollback_leaves_no_event_and_no_task(table):
    table(support.RECORD)
    with rolled_back():
        services.emit(happened())
        assert drain_tasks() == 1
    assert (Event.objects.count(), Delivery.objects.count(), OrmQ.objects.count()) == (0, 0, 0)


def test_nobody_sees_the_task_before_the_commit(table, django_db_blocker):
    table(support.RECORD)
    other = connection.copy()
    try:
        with transaction.atomic():
            services.emit(happened())
            assert _count_tasks(other) == 0
        assert _count_tasks(other) == 1
    finally:
        other.close()


def _count_tasks(other) -> int:
    with other.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM django_q_ormq")
        return cursor.fetchone()[0]


def test_one_transaction_enqueues_one_drain_however_often_it_emits(table):
    table(support.RECORD)
    with transaction.atomic():
        services.emit(happened())
        with transaction.atomic():
            services.emit_many([happened() for _ in range(10)])
        services.emit(happened())
    assert drain_tasks() == 1


def test_each_transaction_enqueues_its_own_drain(table):
    table(support.RECORD)
    emit()
    emit()
    assert drain_tasks() == 2


def test_drain_that_rolled_back_savepoint_took_away_is_enqueued_again(table):
    table(support.RECORD)
    with transaction.atomic():
        with rolled_back(), transaction.atomic():
            services.emit(happened("lost"))
        assert drain_tasks() == 0
        services.emit(happened("kept"))
    assert drain_tasks() == 1
    assert Event.objects.get().payload["note"] == "kept"


def test_drain_from_before_rolled_back_savepoint_stays_only_one(table):
    table(support.RECORD)
    with transaction.atomic():
        services.emit(happened("first"))
        with rolled_back():
            services.emit(happened("lost"))
        services.emit(happened("last"))
    assert drain_tasks() == 1
    assert Event.objects.count() == 2


def test_enqueued_task_is_one_that_worker_can_run(table):
    table(support.RECORD)
    emit()
    task = OrmQ.objects.get().task
    assert (task["args"], task["kwargs"], task["save"]) == ((), {}, False)
    import_string(task["func"])()
    assert Delivery.objects.get().status == Delivery.Status.DELIVERED


def test_with_broker_outside_database_task_is_sent_after_commit(table, settings, monkeypatch):
    table(support.RECORD)
    settings.Q_CLUSTER = {**settings.Q_CLUSTER, "orm": "elsewhere"}
    sent = []
    monkeypatch.setattr("apps.events.jobs.async_task", lambda *args, **options: sent.append(args))
    with transaction.atomic():
        services.emit(happened())
        services.emit(happened())
        assert sent == []
    assert sent == [("apps.events.tasks.drain",)]


def test_event_that_nobody_hears_is_delivered_at_once_and_enqueues_nothing(table):
    emit()
    assert Event.objects.get().delivered_at is not None
    assert OrmQ.objects.count() == 0


def test_payload_that_breaks_its_schema_writes_nothing(table):
    table(support.RECORD)
    with transaction.atomic():
        with pytest.raises(PayloadError, match="note"):
            services.emit_many([happened("fine"), happened(None)])
        assert not Event.objects.exists()


def test_no_events_write_nothing(table):
    table(support.RECORD)
    with transaction.atomic():
        assert services.emit_many([]) == []
    assert OrmQ.objects.count() == 0


def test_ids_come_back_in_order_of_payloads(table):
    with transaction.atomic():
        ids = services.emit_many([happened(str(number)) for number in range(20)])
    notes = dict(Event.objects.values_list("uuid", "payload__note"))
    assert [notes[event_id] for event_id in ids] == [str(number) for number in range(20)]


def test_subscriber_named_twice_gets_event_once(table):
    table(support.RECORD)
    support.TABLE["test:outbox:happened"] = (support.RECORD,)
    emit()
    assert Delivery.objects.count() == 1


def test_second_delivery_to_same_subscriber_is_refused_by_database(table):
    table(support.RECORD)
    emit()
    delivery = Delivery.objects.get()
    delivery.pk = None
    with pytest.raises(IntegrityError, match="delivery_event_subscriber_unique"):
        delivery.save(force_insert=True)


def test_delivered_delivery_without_time_is_refused_by_database(table):
    table(support.RECORD)
    emit()
    with pytest.raises(IntegrityError, match="delivery_delivered_has_time"):
        Delivery.objects.update(status="delivered")


def test_a_batch_takes_a_handful_of_statements(table, django_assert_max_num_queries):
    """Not a timed test: the number of statements is what keeps 1,000 events cheap (docs/reference/events.md)."""
    table(support.RECORD)
    started = time.perf_counter()
    with django_assert_max_num_queries(4):
        emit(1000)
    print(f"1,000 events in {(time.perf_counter() - started) * 1000:.0f} ms")
    assert (Event.objects.count(), Delivery.objects.count(), drain_tasks()) == (1000, 1000, 1)


def test_events_are_counted_and_logged_by_name_and_ids_only_once_they_are_committed(table, caplog):
    def count() -> float:
        return REGISTRY.get_sample_value("memoryhub_events_total", {"name": "test:outbox:happened"}) or 0.0

    before = count()
    with caplog.at_level(logging.DEBUG, "apps.events.outbox"):
        with rolled_back():
            services.emit(happened("my diary"))
        assert (count(), caplog.text) == (before, "")
        [event_id, _] = emit(2, note="my diary")
    assert count() == before + 2
    assert str(event_id) in caplog.text
    assert "diary" not in caplog.text
