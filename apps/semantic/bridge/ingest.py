"""Make memories of the events that a routing policy wants (spec 000, Saved event fan-out).

What waits is saved in small batches through the ordinary write path. A memory, the end of its event's way and the link
between the two are committed together, so an event becomes a memory once, wherever a worker is killed.
"""

import logging
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum

from django.conf import settings
from django.db import transaction
from django.db.models import F

from apps.core.domain.backoff import Backoff
from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.errors import UnavailableError
from apps.core.domain.randomness import RNG, SYSTEM_RNG
from apps.events.domain.retry import describe_error
from apps.semantic.bridge import metrics
from apps.semantic.bridge.batch import batch_save, rows_end
from apps.semantic.bridge.jobs import ingesting_alone, request_ingest, request_reconcile
from apps.semantic.bridge.status import is_suspended, observe
from apps.semantic.models import Ingestion, IngestionStatus
from apps.semantic.querysets import IngestionQuerySet

logger = logging.getLogger(__name__)

# Writers of the users in a batch wait while it is written, so a batch is small.
BATCH_SIZE = 32
# A stopping worker finishes its task first, so a run is short and asks for another one.
RUN_SECONDS = 20.0
# How often an event may fail, or a worker die in it, before it is given up.
MAX_TRIES = 5
BACKOFF = Backoff(base_ms=60_000, multiplier=3.0, max_ms=3_600_000, jitter_ms=5_000)
WORKER_LOST = "worker_lost"
MAX_ERROR_CHARS = 200


class IngestEnd(StrEnum):
    """Why a run ended. busy: another one is at work. unavailable: the embedding model does not answer."""

    DONE = "done"
    TIME = "time"
    BUSY = "busy"
    SUSPENDED = "suspended"
    UNAVAILABLE = "unavailable"


@dataclass
class IngestReport:
    """What a run did. outcomes: what saving did, `failed` or `dropped` -> how many events."""

    ended: IngestEnd = IngestEnd.DONE
    outcomes: Counter[str] = field(default_factory=Counter)


def events_ingest(*, seconds: float = RUN_SECONDS, clock: Clock = SYSTEM_CLOCK, rng: RNG = SYSTEM_RNG) -> IngestReport:
    """Save what waits, until nothing is due, a warning suspends it, or for about `seconds`.

    Then it asks for another run if something is left that may be saved. Call it outside a transaction. It never raises
    for what is wrong with one event: its row says it.
    """
    run = _Run(clock, rng, seconds)
    with ingesting_alone() as alone:
        run.report.ended = run.go() if alone else IngestEnd.BUSY
    # Looked at after the lock is given back: who found it taken has left what it came for to this run.
    if run.report.ended in {IngestEnd.DONE, IngestEnd.TIME} and run.is_more_due():
        request_ingest()
    _tell(run.report)
    return run.report


class _Run:
    """One run over what waits."""

    def __init__(self, clock: Clock, rng: RNG, seconds: float) -> None:
        self._clock, self._rng = clock, rng
        self._end = clock.now() + int(seconds * 1000)
        # Rows that somebody else held: they are being pruned, and are looked at again by a later run if they are not.
        self._passed: set[int] = set()
        self.report = IngestReport()

    def go(self) -> IngestEnd:
        while True:
            if is_suspended():
                return IngestEnd.SUSPENDED
            if self._clock.now() >= self._end:
                return IngestEnd.TIME
            batch = self._next()
            if not batch:
                return IngestEnd.DONE
            try:
                self._try(batch)
            except UnavailableError as error:
                logger.warning("events wait to become memories: %s", error.code)
                return IngestEnd.UNAVAILABLE

    def is_more_due(self) -> bool:
        return self._due().exists()

    def _due(self) -> IngestionQuerySet:
        return Ingestion.objects.due(utcnow(self._clock)).exclude(pk__in=self._passed)

    def _next(self) -> list[Ingestion]:
        """The first that nobody has tried yet, together; else one of those that failed or killed a worker, alone."""
        fresh = list(self._due().filter(tries=0).order_by("id")[:BATCH_SIZE])
        return fresh or list(self._due().order_by("next_try_at", "id")[:1])

    def _try(self, batch: Sequence[Ingestion]) -> None:
        """Save a batch. Raises UnavailableError; then it is as if it had not been tried."""
        if batch[0].tries >= MAX_TRIES:
            self._give_up(batch, batch[0].error or WORKER_LOST)
            return
        rows = Ingestion.objects.pending().filter(pk__in=[row.pk for row in batch])
        # Committed before: it tells that somebody died in it.
        rows.update(tries=F("tries") + 1)
        try:
            done = batch_save(batch=batch, clock=self._clock)
        except UnavailableError:
            rows.update(tries=F("tries") - 1)
            raise
        except Exception as error:  # noqa: BLE001  (one event must not keep the others from being saved)
            self._note_failure(batch, describe_error(error, [row.content for row in batch]))
        else:
            rows.filter(pk__in=done.passed).update(tries=F("tries") - 1)
            self._passed |= done.passed
            self.report.outcomes += done.outcomes

    def _note_failure(self, batch: Sequence[Ingestion], error: str) -> None:
        """Let the events of a batch be tried one by one; one that was alone later, and in the end never again."""
        logger.warning("%d waiting events could not be made memories: %s", len(batch), error)
        if len(batch) > 1:
            return
        [row] = batch
        if row.tries + 1 >= MAX_TRIES:
            self._give_up(batch, error)
            return
        wait = timedelta(milliseconds=BACKOFF.delay_ms(row.tries, self._rng))
        waiting = Ingestion.objects.pending().filter(pk=row.pk)
        waiting.update(next_try_at=utcnow(self._clock) + wait, error=error[:MAX_ERROR_CHARS])

    def _give_up(self, batch: Sequence[Ingestion], error: str) -> None:
        ended = rows_end(rows=batch, status=IngestionStatus.FAILED, error=error[:MAX_ERROR_CHARS], clock=self._clock)
        self.report.outcomes["failed"] += ended
        metrics.INGESTED.labels("failed").inc(ended)


def _tell(report: IngestReport) -> None:
    metrics.RUNS.labels(report.ended.value).inc()
    if report.outcomes:
        told = ", ".join(f"{count} {outcome}" for outcome, count in sorted(report.outcomes.items()))
        logger.info("events to memories: %s; %s", told, report.ended.value)


TRIM_BATCH = 1_000
# An ended row keeps its event from being taken again, which the outbox could deliver for its retention, and an
# operator for as long as a failed delivery is kept.
MARGIN = timedelta(days=30)


def bridge_catch_up(*, clock: Clock = SYSTEM_CLOCK) -> None:
    """Ask for what a lost task, a suspension or a failure left undone, and bring the metrics up to date."""
    status = observe(clock=clock)
    if not status.is_suspended and Ingestion.objects.due(utcnow(clock)).exists():
        request_ingest()
    if Ingestion.objects.unlinking().exists():
        request_reconcile()


def ingestions_trim(*, clock: Clock = SYSTEM_CLOCK, batch: int = TRIM_BATCH) -> int:
    """Delete the rows of events that ended without a link long ago; gives how many. Links and failures stay."""
    cutoff = utcnow(clock) - timedelta(days=settings.MEMORYHUB.event_retention_days) - MARGIN
    old = Ingestion.objects.filter(status__in=(IngestionStatus.DROPPED, IngestionStatus.PRUNED), ended_at__lt=cutoff)
    removed = 0
    while ids := list(old.values_list("pk", flat=True)[:batch]):
        removed += Ingestion.objects.filter(pk__in=ids).delete()[0]
    return removed


@transaction.atomic
def ingestions_retry(*, pks: Collection[int], clock: Clock = SYSTEM_CLOCK) -> int:
    """Let failed events be tried again, with all tries ahead of them; gives how many there were."""
    failed = Ingestion.objects.filter(pk__in=pks, status=IngestionStatus.FAILED)
    count = failed.update(status=IngestionStatus.PENDING, tries=0, next_try_at=utcnow(clock), ended_at=None)
    if count:
        request_ingest()
    return count
