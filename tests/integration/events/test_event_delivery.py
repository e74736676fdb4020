import logging
from datetime import timedelta

import pytest
from django.db import DataError
from django_q.exceptions import TimeoutException
from django_q.models import OrmQ, Schedule

from apps.core.domain.backoff import Backoff
from apps.core.domain.clock import utcnow
from apps.core.domain.randomness import DeterministicRNG
from apps.events import services
from apps.events.delivery import Drain
from apps.events.domain.retry import DEFAULT_POLICY, RetryPolicy, describe_error
from apps.events.models import Delivery, Event
from tests.integration.events import support
from tests.integration.events.support import drain_tasks, emit, happened

pytestmark = pytest.mark.django_db(transaction=True)

POLICY = RetryPolicy(Backoff(base_ms=1_000, multiplier=2.0, max_ms=3_000), max_attempts=4, max_claims=2)


@pytest.fixture
def drain(clock, rng):
    def run(**options):
        return services.drain(**({"clock": clock, "rng": rng, "policy": POLICY} | options))

    return run


@pytest.fixture
def emitted(clock):
    """Emit at the test's own time: `emitted(count)`."""

    def run(count: int = 1, note: str = ""):
        from django.db import transaction

        with transaction.atomic():
            return services.emit_many([happened(note) for _ in range(count)], clock=clock)

    return run


def test_a_handler_gets_the_event_in_an_envelope(table, emitted, drain, clock):
    table(support.RECORD)
    [event_id] = emitted(note="hello")
    assert drain().delivered == 1
    [envelope] = support.seen
    assert (envelope.event_id, envelope.name, envelope.attempt) == (event_id, "test:outbox:happened", 1)
    assert envelope.payload.note == "hello"
    assert envelope.occurred_at == utcnow(clock)


def test_a_delivered_event_is_not_delivered_again(table, emitted, drain):
    table(support.RECORD)
    emitted()
    drain()
    assert drain().delivered == 0
    assert len(support.seen) == 1


def test_event_is_done_when_all_its_subscribers_have_it(table, emitted, drain, clock):
    table(support.RECORD, support.FAIL)
    emitted()
    drain()
    assert Event.objects.get().delivered_at is None
    Delivery.objects.filter(subscriber=support.FAIL).update(subscriber=support.RECORD_TOO)
    clock.advance(5_000)
    drain()
    assert Event.objects.get().delivered_at == utcnow(clock)


def test_failing_handler_keeps_nothing_from_others(table, emitted, drain):
    table(support.FAIL, support.RECORD)
    emitted(3)
    report = drain()
    assert (report.delivered, report.retried, report.failed) == (3, 3, 0)
    assert len(support.seen) == 3


def test_what_failing_handler_wrote_is_undone_and_written_once_by_retry(table, emitted, drain, clock):
    table(support.WRITE_AND_FAIL_ONCE)
    emitted()
    drain()
    assert Schedule.objects.count() == 0
    clock.advance(1_000)
    drain()
    assert Schedule.objects.count() == 1
    assert [envelope.attempt for envelope in support.seen] == [1, 2]


def test_handler_that_swallows_database_error_has_failed(table, emitted, drain):
    table(support.SWALLOW_DATABASE_ERROR, support.RECORD)
    emitted()
    report = drain()
    assert (report.delivered, report.retried) == (1, 1)


def test_retries_wait_longer_each_time_up_to_cap_and_then_delivery_has_failed(table, emitted, drain, clock):
    table(support.FAIL)
    emitted()
    waits = []
    while Delivery.objects.pending().exists():
        drain()
        delivery = Delivery.objects.get()
        waits.append((delivery.next_attempt_at - utcnow(clock)) / timedelta(milliseconds=1))
        clock.advance(int(waits[-1]))
    assert waits == [1_000, 2_000, 3_000, 0]
    assert (delivery.status, delivery.attempts) == (Delivery.Status.FAILED, 4)


def test_a_retry_is_not_made_before_its_time(table, emitted, drain, clock):
    table(support.FAIL)
    emitted()
    drain()
    clock.advance(999)
    assert drain().retried == 0
    clock.advance(1)
    assert drain().retried == 1


def test_jitter_comes_from_the_given_generator(table, emitted, drain, clock):
    table(support.FAIL)
    emitted()
    policy = RetryPolicy(Backoff(1_000, 2.0, 60_000, jitter_ms=100), max_attempts=4, max_claims=2)
    late = DeterministicRNG(1)
    late.set_sequence([0.999])
    drain(policy=policy, rng=late)
    assert Delivery.objects.get().next_attempt_at == utcnow(clock) + timedelta(milliseconds=1_100)


def test_default_policy_spreads_ten_tries_over_hours(rng):
    waits = [DEFAULT_POLICY.retry_in_ms(attempts, rng) for attempts in range(1, 11)]
    assert waits[:3] == [5_000, 15_000, 45_000]
    assert waits[-1] is None
    assert 3 * 3_600_000 < sum(wait for wait in waits if wait) < 5 * 3_600_000


def test_failed_delivery_keeps_type_place_and_first_line_of_its_error(table, emitted, drain):
    table(support.FAIL)
    emitted()
    drain()
    error = Delivery.objects.get().last_error
    assert error.startswith("ValueError at support.py:")
    assert error.endswith(": the disk is full")


def test_error_is_noted_without_values_of_payload():
    error = ValueError("cannot parse 'my diary' of user ann")
    assert "diary" not in describe_error(error, ["my diary"])


def test_database_error_is_noted_by_its_state_alone():
    cause = Exception("value too long: my diary")
    cause.sqlstate = "22001"
    error = DataError("value too long: my diary")
    error.__cause__ = cause
    assert describe_error(error, []) == "DataError at unknown place: SQLSTATE 22001"


def test_stored_payload_that_breaks_its_schema_fails_like_handler(table, emitted, drain):
    table(support.RECORD)
    emitted()
    Event.objects.update(payload={"thing_id": 5})
    assert drain().retried == 1
    assert "PayloadError" in Delivery.objects.get().last_error
    assert support.seen == []


def test_event_whose_class_is_gone_fails_like_handler(table, emitted, drain):
    table(support.RECORD)
    emitted()
    Event.objects.update(name="test:outbox:gone")
    assert drain().retried == 1
    assert "No payload class is registered" in Delivery.objects.get().last_error


def test_subscriber_that_cannot_be_imported_fails_like_handler(table, emitted, drain):
    table("tests.integration.events.support.nowhere", support.RECORD)
    emitted()
    assert (drain().delivered, Delivery.objects.get(status="pending").attempts) == (1, 1)


def test_handler_may_emit_and_its_event_is_delivered_too(table, emitted, drain):
    support.TABLE["test:outbox:happened"] = (support.EMIT_ANOTHER,)
    support.TABLE["test:outbox:followed"] = (support.RECORD,)
    emitted()
    drain()
    services.drain()
    assert [envelope.name for envelope in support.seen] == ["test:outbox:followed"]


def test_task_that_runs_too_long_counts_against_its_handler_and_harms_no_other(table, emitted, drain):
    table(support.RECORD, support.RUN_TOO_LONG, support.RECORD_TOO)
    emitted()
    with pytest.raises(TimeoutException):
        drain()
    late = Delivery.objects.get(subscriber=support.RUN_TOO_LONG)
    assert (late.status, late.attempts, late.claims) == ("pending", 1, 0)
    drain()
    assert Delivery.objects.filter(status="delivered").count() == 2


def test_a_full_drain_asks_for_another_one(table, emitted, drain):
    table(support.RECORD)
    emitted(5)
    OrmQ.objects.all().delete()
    report = drain(limit=3)
    assert (report.delivered, report.more, drain_tasks()) == (3, True, 1)
    assert (drain(limit=3).more, drain_tasks()) == (False, 1)


def test_a_drain_stops_when_its_time_is_over(table, emitted, drain, clock, monkeypatch):
    table(support.RECORD)
    emitted(200)
    monkeypatch.setattr(support, "record", lambda envelope: clock.advance(100))
    report = drain(seconds=10)
    assert report.more
    assert 100 <= report.delivered <= 150


def test_slow_batch_gives_back_unharmed_what_it_did_not_reach(table, emitted, drain, clock, monkeypatch):
    table(support.RECORD)
    emitted(10)
    monkeypatch.setattr(support, "record", lambda envelope: clock.advance(5_000))
    assert drain(seconds=1).delivered == 1
    assert set(Delivery.objects.pending().values_list("claims", "attempts")) == {(0, 0)}


def test_more_events_than_batch_are_delivered_once_each(table, emitted, drain):
    table(support.RECORD)
    ids = emitted(120)
    assert drain().delivered == 120
    assert sorted(envelope.event_id for envelope in support.seen) == sorted(ids)


def test_delivery_in_which_workers_keep_dying_is_given_up(table, emitted, drain):
    table(support.RECORD)
    emitted()
    Delivery.objects.update(claims=POLICY.max_claims)
    assert drain().failed == 1
    assert "WorkerLostError" in Delivery.objects.get().last_error
    assert support.seen == []


def test_delivery_that_killed_worker_waits_behind_others_and_runs_alone(table, emitted, drain, monkeypatch):
    table(support.RECORD)
    emitted(3)
    first = Delivery.objects.earliest("id")
    Delivery.objects.filter(id=first.id).update(claims=1)
    batches = []
    run = Drain.run_batch
    monkeypatch.setattr(Drain, "run_batch", lambda self, ids: batches.append(list(ids)) or run(self, ids))
    assert drain().delivered == 3
    assert len(batches) == 2
    assert batches[1] == [first.id]


def test_redeliver_starts_over_with_all_tries_ahead(table, emitted, drain, clock):
    table(support.FAIL)
    emitted()
    Delivery.objects.update(status="failed", attempts=4, last_error="ValueError")
    OrmQ.objects.all().delete()
    delivery = Delivery.objects.get()
    assert services.redeliver(delivery_ids=[delivery.id], clock=clock) == 1
    delivery.refresh_from_db()
    assert (delivery.status, delivery.attempts, delivery.last_error) == ("pending", 0, "")
    assert drain_tasks() == 1
    assert drain().retried == 1


def test_redeliver_repeats_delivered_one_and_opens_its_event(table, emitted, drain, clock):
    table(support.RECORD)
    emitted()
    drain()
    services.redeliver(delivery_ids=[Delivery.objects.get().id], clock=clock)
    assert Event.objects.get().delivered_at is None
    drain()
    assert len({envelope.event_id for envelope in support.seen}) == 1
    assert len(support.seen) == 2
    assert Event.objects.get().delivered_at is not None


def test_redeliver_of_nothing_enqueues_nothing(table):
    assert services.redeliver(delivery_ids=[123456]) == 0
    assert drain_tasks() == 0


def test_sweep_enqueues_drain_for_what_is_due(table, emitted, clock):
    table(support.RECORD)
    emitted()
    OrmQ.objects.all().delete()
    assert services.sweep(clock=clock)
    assert drain_tasks() == 1


def test_sweep_leaves_alone_what_is_not_due_or_done(table, emitted, drain, clock):
    table(support.FAIL, support.RECORD)
    emitted()
    drain()
    OrmQ.objects.all().delete()
    assert not services.sweep(clock=clock)
    assert drain_tasks() == 0
    clock.advance(1_000)
    assert services.sweep(clock=clock)


def test_trim_removes_what_was_delivered_longer_ago_than_retention(table, emitted, drain, clock, settings):
    table(support.RECORD)
    emitted(5)
    drain()
    clock.advance(settings.MEMORYHUB.event_retention_days * 86_400_000)
    assert services.trim(clock=clock) == 0
    [recent] = emitted()
    drain()
    clock.advance(1)
    assert services.trim(clock=clock, batch=2) == 5
    assert Event.objects.get().uuid == recent
    assert Delivery.objects.count() == 1


def test_trim_keeps_what_has_failed_or_is_still_pending(table, emitted, drain, clock):
    table(support.RECORD, support.FAIL)
    emitted(2)
    drain()
    failed = Delivery.objects.filter(subscriber=support.FAIL).earliest("id")
    Delivery.objects.filter(id=failed.id).update(status="failed")
    clock.advance(400 * 86_400_000)
    assert services.trim(clock=clock) == 0
    assert Event.objects.count() == 2


def test_trim_removes_old_events_that_nobody_heard(table, emitted, clock):
    emitted(2)
    clock.advance(400 * 86_400_000)
    assert services.trim(clock=clock) == 2


def test_failure_is_logged_without_what_payload_says(table, emitted, drain, caplog):
    table(support.FAIL)
    emitted(note="my diary")
    with caplog.at_level(logging.WARNING):
        drain()
    assert "test:outbox:happened" in caplog.text
    assert "my diary" not in caplog.text


def test_handler_of_batches_gets_in_one_call_what_is_due_at_once(table, emitted, drain):
    table(support.RECORD_MANY, support.RECORD)
    ids = emitted(5)
    assert drain().delivered == 10
    assert support.batches == [5]
    assert sorted(envelope.event_id for envelope in support.seen) == sorted(ids * 2)


def test_one_bad_event_of_batch_fails_alone_and_what_batch_wrote_is_undone(table, emitted, drain):
    table(support.REFUSE_THE_BAD_ONE)
    good, [bad] = emitted(3), emitted(note="bad")
    report = drain()
    assert (report.delivered, report.retried) == (3, 1)
    assert set(Schedule.objects.values_list("name", flat=True)) == {f"effect of {event_id}" for event_id in good}
    assert Delivery.objects.get(status="pending").event.uuid == bad


def test_what_failed_in_batch_is_tried_alone_from_then_on(table, emitted, drain, clock):
    table(support.RECORD_MANY)
    emitted(3)
    Delivery.objects.filter(id=Delivery.objects.earliest("id").id).update(attempts=1)
    drain()
    assert sorted(support.batches) == [1, 2]


def test_batch_that_runs_too_long_counts_against_one_and_harms_no_other(table, emitted, drain):
    table(support.MANY_TOO_LONG)
    emitted(3)
    with pytest.raises(TimeoutException):
        drain()
    assert sorted(Delivery.objects.values_list("attempts", "claims")) == [(0, 0), (0, 0), (1, 0)]


def test_deliveries_are_counted_by_what_came_of_them(table, drain, emitted, clock):
    from prometheus_client import REGISTRY

    def count(outcome: str, subscriber: str) -> float:
        labels = {"subscriber": subscriber, "outcome": outcome}
        return REGISTRY.get_sample_value("memoryhub_event_deliveries_total", labels) or 0.0

    before = [count("delivered", support.RECORD), count("retry", support.FAIL), count("failed", support.FAIL)]
    table(support.RECORD, support.FAIL)
    emitted()
    for _ in range(POLICY.max_attempts):
        drain()
        clock.advance(3_000)
    after = [count("delivered", support.RECORD), count("retry", support.FAIL), count("failed", support.FAIL)]
    assert [b - a for a, b in zip(before, after, strict=True)] == [1, 3, 1]


def test_status_tells_how_far_delivery_is_behind(table, emitted, clock):
    from apps.events.selectors import outbox_status

    table(support.RECORD)
    emitted(2)
    Delivery.objects.filter(id=Delivery.objects.latest("id").id).update(status="failed")
    clock.advance(90_000)
    status = outbox_status(clock=clock)
    assert (status.pending, status.failed, status.overdue_seconds) == (1, 1, 90.0)


def test_emit_through_system_clock_is_due_at_once(table):
    table(support.RECORD)
    emit()
    assert services.drain().delivered == 1
