"""The delivery of events: drains take due deliveries and run their handlers.

A batch is first claimed in a short transaction of its own, then run and recorded in a second one, each handler
in a savepoint. From inside the first until after the second, the drain's session holds an advisory lock on each
of its deliveries, which keeps other drains away between the two as well. The locks end with a killed worker, so
what it had is due again at once, and the committed claim remains: a claimed delivery without a holder is one in
which a worker died, or whose batch could not be recorded. Such a delivery is run alone from then on, and is given
up after `RetryPolicy.max_claims` of these deaths instead of killing workers for ever.
"""

import logging
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from operator import attrgetter

from django.db import transaction
from django.db.models import F
from django.utils.module_loading import import_string

from apps.core.db.session_locks import release_session_locks, take_session_locks
from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.randomness import RNG, SYSTEM_RNG
from apps.events import metrics
from apps.events.domain.envelope import Envelope, is_batch_handler
from apps.events.domain.retry import DEFAULT_POLICY, RetryPolicy, describe_error
from apps.events.jobs import request_drain
from apps.events.models import Delivery, Event
from apps.events.subscribers import payload_class_of

logger = logging.getLogger(__name__)

DRAIN_LIMIT = 2_000
# A stopping worker finishes its task first, so a drain is short and requests another one.
DRAIN_SECONDS = 20.0
BATCH_SIZE = 200
# A batch holds its locks for about so long; what it did not reach is released unchanged.
BATCH_MS = 5_000
# First key of two, with a delivery's id as the second. Different from the first key of all other pairs of the project.
DELIVERY_LOCKS = 0x6D68_6476


class WorkerLostError(Exception):
    """Workers died while they ran this delivery."""


class LostWritesError(Exception):
    """A handler swallowed a database error: its writes are undone, although it returned without an error."""


@dataclass(frozen=True)
class DrainReport:
    """Finished tries by their outcome; `more`: whether due deliveries were left for another drain."""

    delivered: int
    retried: int
    failed: int
    more: bool


@dataclass(frozen=True)
class Attempt:
    """One finished try. error: what the handler raised, None when it succeeded."""

    delivery: Delivery
    error: BaseException | None


def drain(
    *,
    limit: int = DRAIN_LIMIT,
    seconds: float = DRAIN_SECONDS,
    clock: Clock = SYSTEM_CLOCK,
    rng: RNG = SYSTEM_RNG,
    policy: RetryPolicy = DEFAULT_POLICY,
) -> DrainReport:
    """Run the handlers of all due deliveries.

    Stops when nothing is due, after `limit` tries or about `seconds`; in the latter cases it enqueues
    another drain if something is still due. Safe beside other drains: none runs a delivery that another
    one is running. Call it outside a transaction.
    """
    return Drain(clock, rng, policy).run(limit=limit, seconds=seconds)


def sweep(*, clock: Clock = SYSTEM_CLOCK) -> bool:
    """Enqueue a drain if anything is due: retries, and what a lost task left. Return whether it did."""
    has_due = Delivery.objects.due(utcnow(clock)).exists()
    if has_due:
        request_drain()
    return has_due


def redeliver(*, delivery_ids: Collection[int], clock: Clock = SYSTEM_CLOCK) -> int:
    """Make deliveries pending again, whatever their status, with all tries ahead of them.

    Return their number. One that a drain is running at this moment is run again after it.
    """
    with transaction.atomic():
        locked = Delivery.objects.filter(id__in=delivery_ids).order_by("id").select_for_update()
        pairs = list(locked.values_list("id", "event_id"))
        Delivery.objects.filter(id__in=[delivery for delivery, _ in pairs]).update(
            status=Delivery.Status.PENDING,
            attempts=0,
            claims=0,
            next_attempt_at=utcnow(clock),
            last_error="",
            delivered_at=None,
        )
        Event.objects.filter(id__in=[event for _, event in pairs]).update(delivered_at=None)
        if pairs:
            request_drain()
    return len(pairs)


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
        is_finished = False
        while not is_finished and outcomes.total() < limit and self.clock.now() < end:
            with self.claim(min(BATCH_SIZE, limit - outcomes.total())) as claimed:
                is_finished = not claimed
                outcomes += self.run_batch(claimed) if claimed else Counter()
        more = not is_finished and sweep(clock=self.clock)
        return DrainReport(outcomes["delivered"], outcomes["retry"], outcomes["failed"], more)

    @contextmanager
    def claim(self, size: int) -> Iterator[list[int]]:
        """Claim due deliveries, or one abandoned delivery, and hold them until the end.

        A delivery that is skipped because another drain holds it is not lost: that drain looks again after its
        batch, and if it has ended, the sweep requests another one.
        """
        held: list[int] = []
        try:
            with transaction.atomic():
                due = Delivery.objects.due(utcnow(self.clock)).select_for_update(skip_locked=True)
                held = try_hold_deliveries(due.filter(claims=0).values_list("id", flat=True)[:size])
                if not held:
                    # Several candidates, because the first ones may have a living holder.
                    held = try_hold_deliveries(due.filter(claims__gt=0).values_list("id", flat=True)[:BATCH_SIZE])
                    release_deliveries(held[1:])
                    held = held[:1]
                Delivery.objects.filter(id__in=held).update(claims=F("claims") + 1)
            yield held
        finally:
            release_deliveries(held)

    def run_batch(self, claimed: Sequence[int]) -> Counter[str]:
        """Run the handlers of claimed deliveries and record the outcomes; return them counted."""
        with transaction.atomic():
            # Waits for row locks: other drains that look for abandoned deliveries, redeliver and trim have them but
            # briefly, and what was skipped here would look abandoned. In order of id, like those, against deadlocks.
            due = Delivery.objects.due(utcnow(self.clock)).filter(id__in=claimed).order_by("id")
            rows = due.select_for_update(of=("self",)).select_related("event")
            locked = sorted(rows, key=attrgetter("next_attempt_at", "id"))
            attempts: list[Attempt] = []
            end = self.clock.now() + BATCH_MS
            for attempt in self.attempt_all(locked):
                attempts.append(attempt)
                if isinstance(attempt.error, SystemExit) or self.clock.now() >= end:
                    break
            Delivery.objects.filter(id__in=[delivery.id for delivery in locked]).update(claims=0)
            self.record(attempts)
        outcomes = Counter(observe_attempt(attempt) for attempt in attempts)
        for attempt in attempts:
            if isinstance(attempt.error, SystemExit):
                raise attempt.error
        return outcomes

    def attempt_all(self, deliveries: Sequence[Delivery]) -> Iterator[Attempt]:
        """Deliver each group in one call, or, where that fails, each delivery of it alone.

        When the task is ended during a group, its first delivery takes the blame, and so is alone the next time.
        """
        for group in group_deliveries(deliveries):
            error = self.attempt(group)
            if error is None:
                yield from (Attempt(delivery, None) for delivery in group)
            elif len(group) == 1 or isinstance(error, SystemExit):
                yield Attempt(group[0], error)
            else:
                for delivery in group:
                    yield Attempt(delivery, self.attempt([delivery]))

    def attempt(self, group: Sequence[Delivery]) -> BaseException | None:
        """Call the handler of a group in a savepoint; return what it raised."""
        if any(delivery.claims > self.policy.max_claims for delivery in group):
            return WorkerLostError(f"workers died in this handler {self.policy.max_claims} times")
        try:
            with transaction.atomic():
                handler = import_string(group[0].subscriber)
                envelopes = [
                    Envelope(
                        delivery.event.uuid,
                        delivery.event.name,
                        payload_class_of(delivery.event.name).from_json(delivery.event.payload),
                        delivery.event.created_at,
                        delivery.attempts + 1,
                    )
                    for delivery in group
                ]
                handler(envelopes if is_batch_handler(handler) else envelopes[0])
                if transaction.get_rollback():
                    raise LostWritesError("a database error was swallowed and undid the handler's writes")
        # SystemExit is how django-q2 ends a task that runs too long: this handler's fault, so it counts.
        except (Exception, SystemExit) as error:  # noqa: BLE001  (a handler may raise anything)
            return error
        return None

    def record(self, attempts: Sequence[Attempt]) -> None:
        """Store the outcomes of attempts."""
        now = utcnow(self.clock)
        delivered = [attempt.delivery for attempt in attempts if attempt.error is None]
        for delivery in delivered:
            delivery.status, delivery.delivered_at = Delivery.Status.DELIVERED, now
        Delivery.objects.filter(id__in=[delivery.id for delivery in delivered]).update(
            status=Delivery.Status.DELIVERED, delivered_at=now, attempts=F("attempts") + 1, last_error=""
        )
        for attempt in attempts:
            if attempt.error is not None:
                self.record_failure(attempt.delivery, attempt.error)
        complete_events({delivery.event_id for delivery in delivered}, self.clock)

    def record_failure(self, delivery: Delivery, error: BaseException) -> None:
        """Store a failed try: the delivery is retried later, or given up."""
        delivery.attempts += 1
        delivery.claims = 0
        delivery.last_error = describe_error(error, delivery.event.payload.values())
        is_final = isinstance(error, WorkerLostError)
        wait = None if is_final else self.policy.retry_in_ms(delivery.attempts, self.rng)
        if wait is None:
            delivery.status = Delivery.Status.FAILED
        else:
            delivery.next_attempt_at = utcnow(self.clock) + timedelta(milliseconds=wait)
        delivery.save(update_fields=["attempts", "claims", "last_error", "status", "next_attempt_at"])


def try_hold_deliveries(ids: Iterable[int]) -> list[int]:
    """Return those of `ids` whose advisory lock this session has obtained, in their order. Never waits.

    The locks belong to the session, so that they span the transaction that claims and the one that records, and end
    with the connection, whatever happens to the process. Locks that the session itself has are obtained once more, so
    hold no delivery twice. PostgreSQL has room for 6,400 locks as installed (max_locks_per_transaction x
    max_connections); a drain takes one for each delivery of its batch.
    """
    wanted = list(ids)
    if not wanted:
        return []
    # Ids are wider than the second key. Of two that share a lock, one waits while another drain runs the other one.
    held = take_session_locks(DELIVERY_LOCKS, wanted)
    return [delivery_id for delivery_id in wanted if delivery_id in held]


def release_deliveries(ids: list[int]) -> None:
    """Release advisory locks that this session holds."""
    release_session_locks(DELIVERY_LOCKS, ids)


def group_deliveries(deliveries: Sequence[Delivery]) -> Iterator[list[Delivery]]:
    """Yield the deliveries of one call: first tries of a subscriber that takes batches, everything else alone."""
    batches: dict[str, list[Delivery]] = {}
    for delivery in deliveries:
        takes_batches = False
        if delivery.attempts == 0:
            with suppress(ImportError):  # which the attempt will find out, too
                takes_batches = is_batch_handler(import_string(delivery.subscriber))
        if takes_batches:
            batches.setdefault(delivery.subscriber, []).append(delivery)
        else:
            yield [delivery]
    yield from batches.values()


def complete_events(ids: Iterable[int], clock: Clock) -> None:
    """Mark the events whose last delivery is done.

    Locked first and counted in a second statement: two drains that finish the last two deliveries of an
    event at once would otherwise each see the other's as open.
    """
    events = Event.objects.filter(id__in=ids, delivered_at=None).order_by("id").select_for_update()
    locked = list(events.values_list("id", flat=True))
    Event.objects.filter(id__in=locked).complete().update(delivered_at=utcnow(clock))


def observe_attempt(attempt: Attempt) -> str:
    """Count and log one try after its transaction; return its outcome."""
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
