"""The drain: takes due deliveries and runs their handlers.

A batch is first claimed in a short transaction of its own, then run and recorded in a second one, each handler
in a savepoint. From inside the first until after the second, the drain's session holds an advisory lock on each
of its deliveries (`locks`), which keeps other drains away between the two as well. The locks end with a killed
worker, so what it had is due again at once, and the committed claim remains: a claimed delivery without a holder
is one in which a worker died, or whose batch could not be recorded. Such a delivery is run alone from then on,
and is given up after `RetryPolicy.max_claims` of these deaths instead of killing workers for ever.
"""

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from operator import attrgetter
from typing import Any

from django.db import transaction
from django.db.models import F
from django.utils.module_loading import import_string

from apps.core.domain.clock import Clock, utcnow
from apps.core.domain.randomness import RNG
from apps.events import metrics
from apps.events.domain.envelope import Envelope, is_batch_handler
from apps.events.domain.retry import RetryPolicy, describe_error
from apps.events.jobs import request_drain
from apps.events.locks import release_deliveries, try_hold_deliveries
from apps.events.models import Delivery, Event
from apps.events.subscribers import payload_class_of

logger = logging.getLogger(__name__)

BATCH_SIZE = 200
# A batch holds its locks for about so long; what it did not reach goes back unharmed.
BATCH_MS = 5_000


class WorkerLostError(Exception):
    """Workers died while they ran this delivery."""


class LostWritesError(Exception):
    """A handler swallowed a database error: its writes are undone, and yet it came back as if well."""


@dataclass(frozen=True)
class DrainReport:
    """Finished tries by what came of them; `more`: whether due deliveries were left for another drain."""

    delivered: int
    retried: int
    failed: int
    more: bool


@dataclass(frozen=True)
class _Attempt:
    delivery: Delivery
    error: BaseException | None


@dataclass(frozen=True)
class Drain:
    """One run over the due deliveries."""

    clock: Clock
    rng: RNG
    policy: RetryPolicy

    def run(self, *, limit: int, seconds: float) -> DrainReport:
        """Deliver until nothing is due, `limit` tries are made or `seconds` have passed."""
        outcomes: Counter[str] = Counter()
        end = self.clock.now() + int(seconds * 1000)
        while outcomes.total() < limit and self.clock.now() < end:
            with self._claim(min(BATCH_SIZE, limit - outcomes.total())) as claimed:
                if not claimed:
                    return _report(outcomes, more=False)
                outcomes += self._run_batch(claimed)
        more = Delivery.objects.due(utcnow(self.clock)).exists()
        if more:
            request_drain()
        return _report(outcomes, more=more)

    @contextmanager
    def _claim(self, size: int) -> Iterator[list[int]]:
        """Claim due deliveries, or one abandoned delivery, and hold them until the end.

        What is passed over because another drain holds it is not lost: that drain looks again after its batch,
        and if it has ended, the sweep asks for another one.
        """
        held: list[int] = []
        try:
            with transaction.atomic():
                due = Delivery.objects.due(utcnow(self.clock)).select_for_update(skip_locked=True)
                held = try_hold_deliveries(due.fresh().values_list("id", flat=True)[:size])
                if not held:
                    # Several candidates, because the first ones may have a living holder.
                    held = try_hold_deliveries(due.abandoned().values_list("id", flat=True)[:BATCH_SIZE])
                    release_deliveries(held[1:])
                    held = held[:1]
                Delivery.objects.filter(id__in=held).update(claims=F("claims") + 1)
            yield held
        finally:
            release_deliveries(held)

    def _run_batch(self, claimed: Sequence[int]) -> Counter[str]:
        with transaction.atomic():
            # Waits for row locks: other drains that look for abandoned deliveries, redeliver and trim have them but
            # briefly, and what was skipped here would look abandoned. In order of id, like those, against deadlocks.
            due = Delivery.objects.due(utcnow(self.clock)).filter(id__in=claimed).order_by("id")
            rows = due.select_for_update(of=("self",)).select_related("event")
            locked = sorted(rows, key=attrgetter("next_attempt_at", "id"))
            attempts = self._attempt_all(locked)
            Delivery.objects.filter(id__in=[delivery.id for delivery in locked]).update(claims=0)
            self._record(attempts)
        outcomes = Counter(_observe(attempt) for attempt in attempts)
        for attempt in attempts:
            if isinstance(attempt.error, SystemExit):
                raise attempt.error
        return outcomes

    def _attempt_all(self, deliveries: Sequence[Delivery]) -> list[_Attempt]:
        attempts: list[_Attempt] = []
        end = self.clock.now() + BATCH_MS
        for group in _groups(deliveries):
            for attempt in self._attempt_group(group):
                attempts.append(attempt)
                if isinstance(attempt.error, SystemExit) or self.clock.now() >= end:
                    return attempts
        return attempts

    def _attempt_group(self, group: Sequence[Delivery]) -> Iterator[_Attempt]:
        """Deliver a group in one call, or, where that fails, each of it alone.

        When the task was told to end in it, the first one takes the blame, and so is alone the next time.
        """
        error = self._attempt(group)
        if error is None:
            yield from (_Attempt(delivery, None) for delivery in group)
        elif len(group) == 1 or isinstance(error, SystemExit):
            yield _Attempt(group[0], error)
        else:
            for delivery in group:
                yield _Attempt(delivery, self._attempt([delivery]))

    def _attempt(self, group: Sequence[Delivery]) -> BaseException | None:
        if any(delivery.claims > self.policy.max_claims for delivery in group):
            return WorkerLostError(f"workers died in this handler {self.policy.max_claims} times")
        try:
            with transaction.atomic():
                _hand_over(import_string(group[0].subscriber), [_envelope(delivery) for delivery in group])
                if transaction.get_rollback():
                    raise LostWritesError("a database error was swallowed and undid the handler's writes")
        # SystemExit is how django-q2 ends a task that runs too long: this handler's fault, so it counts.
        except (Exception, SystemExit) as error:  # noqa: BLE001  (a handler may raise anything)
            return error
        return None

    def _record(self, attempts: Sequence[_Attempt]) -> None:
        now = utcnow(self.clock)
        delivered = [attempt.delivery for attempt in attempts if attempt.error is None]
        for delivery in delivered:
            delivery.status, delivery.delivered_at = Delivery.Status.DELIVERED, now
        Delivery.objects.filter(id__in=[delivery.id for delivery in delivered]).update(
            status=Delivery.Status.DELIVERED, delivered_at=now, attempts=F("attempts") + 1, last_error=""
        )
        for attempt in attempts:
            if attempt.error is not None:
                self._record_failure(attempt.delivery, attempt.error)
        _complete_events({delivery.event_id for delivery in delivered}, self.clock)

    def _record_failure(self, delivery: Delivery, error: BaseException) -> None:
        delivery.attempts += 1
        delivery.claims = 0
        delivery.last_error = describe_error(error, delivery.event.payload.values())
        wait = None
        if not isinstance(error, WorkerLostError):
            wait = self.policy.retry_in_ms(delivery.attempts, self.rng)
        if wait is None:
            delivery.status = Delivery.Status.FAILED
        else:
            delivery.next_attempt_at = utcnow(self.clock) + timedelta(milliseconds=wait)
        delivery.save(update_fields=["attempts", "claims", "last_error", "status", "next_attempt_at"])


def _groups(deliveries: Sequence[Delivery]) -> Iterator[list[Delivery]]:
    """What is handed over in one call: first tries of a subscriber that takes batches, everything else alone."""
    batches: dict[str, list[Delivery]] = {}
    for delivery in deliveries:
        if delivery.attempts == 0 and _takes_batches(delivery.subscriber):
            batches.setdefault(delivery.subscriber, []).append(delivery)
        else:
            yield [delivery]
    yield from batches.values()


def _takes_batches(subscriber: str) -> bool:
    with suppress(ImportError):  # which the attempt will find out, too
        return is_batch_handler(import_string(subscriber))
    return False


def _hand_over(handler: Callable[[Any], None], envelopes: Sequence[Envelope]) -> None:
    if is_batch_handler(handler):
        handler(envelopes)
    else:
        [envelope] = envelopes
        handler(envelope)


def _envelope(delivery: Delivery) -> Envelope:
    event = delivery.event
    payload = payload_class_of(event.name).from_json(event.payload)
    return Envelope(event.uuid, event.name, payload, event.created_at, delivery.attempts + 1)


def _complete_events(ids: Iterable[int], clock: Clock) -> None:
    """Mark the events whose last delivery is done.

    Locked first and counted in a second statement: two drains that finish the last two deliveries of an
    event at once would otherwise each see the other's as open.
    """
    events = Event.objects.filter(id__in=ids, delivered_at=None).order_by("id").select_for_update()
    locked = list(events.values_list("id", flat=True))
    Event.objects.filter(id__in=locked).complete().update(delivered_at=utcnow(clock))


def _observe(attempt: _Attempt) -> str:
    """Count and log one try after its transaction; gives its outcome."""
    delivery, event = attempt.delivery, attempt.delivery.event
    outcome = "retry" if delivery.status == Delivery.Status.PENDING else str(delivery.status)
    metrics.DELIVERIES.labels(subscriber=delivery.subscriber, outcome=outcome).inc()
    if delivery.delivered_at is not None:
        lag = (delivery.delivered_at - event.created_at).total_seconds()
        metrics.DELIVERY_LAG.labels(subscriber=delivery.subscriber).observe(max(0.0, lag))
    else:
        logger.warning(
            "event %s %s: %s failed (%s, try %d): %s",
            event.uuid, event.name, delivery.subscriber, outcome, delivery.attempts, delivery.last_error,
        )  # fmt: skip
    return outcome


def _report(outcomes: Counter[str], *, more: bool) -> DrainReport:
    return DrainReport(outcomes["delivered"], outcomes["retry"], outcomes["failed"], more)
