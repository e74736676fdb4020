"""Make memories of the events that a routing policy wants (spec 000, Saved event fan-out).

Pending events are saved in small batches through the ordinary write path. A memory, the end of its event's course and
the link between the two are committed together, so an event becomes a memory once, wherever a worker is killed.
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
from apps.semantic.bridge.jobs import ingest_lock, request_ingest, request_reconcile
from apps.semantic.bridge.status import is_suspended, observe
from apps.semantic.models import Ingestion, IngestionStatus
from apps.semantic.querysets import IngestionQuerySet

logger = logging.getLogger(__name__)

# Writers of the users in a batch wait while it is written, so a batch is small.
BATCH_SIZE = 32
# A stopping worker finishes its task first, so a run is short and requests another one.
RUN_SECONDS = 20.0
# How often an event may fail, or a worker die in it, before it is given up.
MAX_TRIES = 5
BACKOFF = Backoff(base_ms=60_000, multiplier=3.0, max_ms=3_600_000, jitter_ms=5_000)
WORKER_LOST = "worker_lost"
MAX_ERROR_CHARS = 200
TRIM_BATCH = 1_000
# A row that has ended keeps its event from being ingested again, which the outbox could deliver during its retention,
# and an operator for as long as a failed delivery is kept.
MARGIN = timedelta(days=30)


class IngestEnd(StrEnum):
    """Why a run ended. busy: another one is running. unavailable: the embedding model does not answer."""

    DONE = "done"
    TIME = "time"
    BUSY = "busy"
    SUSPENDED = "suspended"
    UNAVAILABLE = "unavailable"


@dataclass
class IngestReport:
    """What a run did. outcomes: action of saving, `failed` or `dropped` -> how many events."""

    ended: IngestEnd = IngestEnd.DONE
    outcomes: Counter[str] = field(default_factory=Counter)


def events_ingest(*, seconds: float = RUN_SECONDS, clock: Clock = SYSTEM_CLOCK, rng: RNG = SYSTEM_RNG) -> IngestReport:
    """Save pending events, until nothing is due, a warning suspends the bridge, or for about `seconds`.

    Requests another run if something is left that may be saved. Call it outside a transaction. The error of one event
    is never raised: its row has it.
    """
    run = IngestRun(clock, rng, seconds)
    with ingest_lock() as is_ours:
        run.report.ended = run.run() if is_ours else IngestEnd.BUSY
    # Checked after the lock is released: a run that found it taken has left its events to this one.
    if run.report.ended in {IngestEnd.DONE, IngestEnd.TIME} and run.due().exists():
        request_ingest()
    metrics.RUNS.labels(run.report.ended.value).inc()
    if run.report.outcomes:
        counts = ", ".join(f"{count} {outcome}" for outcome, count in sorted(run.report.outcomes.items()))
        logger.info("events to memories: %s; %s", counts, run.report.ended.value)
    return run.report


class IngestRun:
    """One run over pending events."""

    def __init__(self, clock: Clock, rng: RNG, seconds: float) -> None:
        self._clock, self._rng = clock, rng
        self._end = clock.now() + int(seconds * 1000)
        # Rows that another transaction held: they are being pruned, and left to a later run if they are not.
        self._skipped: set[int] = set()
        self.report = IngestReport()

    def run(self) -> IngestEnd:
        """Save batch after batch, and return why it ended."""
        while True:
            if is_suspended():
                return IngestEnd.SUSPENDED
            if self._clock.now() >= self._end:
                return IngestEnd.TIME
            # Those that were never tried, together; else one of those that failed or killed a worker, alone.
            batch = list(self.due().filter(tries=0).order_by("id")[:BATCH_SIZE])
            batch = batch or list(self.due().order_by("next_try_at", "id")[:1])
            if not batch:
                return IngestEnd.DONE
            try:
                self.try_batch(batch)
            except UnavailableError as error:
                logger.warning("events wait to become memories: %s", error.code)
                return IngestEnd.UNAVAILABLE

    def due(self) -> IngestionQuerySet:
        """Return the events that may be tried now."""
        return Ingestion.objects.due(utcnow(self._clock)).exclude(pk__in=self._skipped)

    def try_batch(self, batch: Sequence[Ingestion]) -> None:
        """Save a batch. Raises UnavailableError; then it counts as not tried."""
        if batch[0].tries >= MAX_TRIES:
            self.give_up(batch, batch[0].error or WORKER_LOST)
            return
        rows = Ingestion.objects.pending().filter(pk__in=[row.pk for row in batch])
        rows.update(tries=F("tries") + 1)  # committed first: it shows that a worker died in the batch
        try:
            saved = batch_save(batch=batch, clock=self._clock)
        except UnavailableError:
            rows.update(tries=F("tries") - 1)
            raise
        except Exception as error:  # noqa: BLE001  (one event must not keep the others from being saved)
            self.note_failure(batch, describe_error(error, [row.content for row in batch]))
        else:
            rows.filter(pk__in=saved.skipped).update(tries=F("tries") - 1)
            self._skipped |= saved.skipped
            self.report.outcomes += saved.outcomes

    def note_failure(self, batch: Sequence[Ingestion], error: str) -> None:
        """Have the events of a batch tried one by one; one that was alone later, and in the end never again."""
        logger.warning("%d pending events could not be made memories: %s", len(batch), error)
        if len(batch) > 1:
            return
        [row] = batch
        if row.tries + 1 >= MAX_TRIES:
            self.give_up(batch, error)
            return
        wait = timedelta(milliseconds=BACKOFF.delay_ms(row.tries, self._rng))
        pending = Ingestion.objects.pending().filter(pk=row.pk)
        pending.update(next_try_at=utcnow(self._clock) + wait, error=error[:MAX_ERROR_CHARS])

    def give_up(self, batch: Sequence[Ingestion], error: str) -> None:
        """End events as failed."""
        ended = rows_end(rows=batch, status=IngestionStatus.FAILED, error=error[:MAX_ERROR_CHARS], clock=self._clock)
        self.report.outcomes["failed"] += ended
        metrics.INGESTED.labels("failed").inc(ended)


def bridge_catch_up(*, clock: Clock = SYSTEM_CLOCK) -> None:
    """Request what a lost task, a suspension or a failure left undone, and bring the metrics up to date."""
    status = observe(clock=clock)
    if not status.is_suspended and Ingestion.objects.due(utcnow(clock)).exists():
        request_ingest()
    if Ingestion.objects.unlinking().exists():
        request_reconcile()


def ingestions_trim(*, clock: Clock = SYSTEM_CLOCK, batch: int = TRIM_BATCH) -> int:
    """Delete the rows of events that ended without a link long ago, and return how many. Links and failures stay."""
    cutoff = utcnow(clock) - timedelta(days=settings.MEMORYHUB.event_retention_days) - MARGIN
    old = Ingestion.objects.filter(status__in=(IngestionStatus.DROPPED, IngestionStatus.PRUNED), ended_at__lt=cutoff)
    removed = 0
    while ids := list(old.values_list("pk", flat=True)[:batch]):
        removed += Ingestion.objects.filter(pk__in=ids).delete()[0]
    return removed


@transaction.atomic
def ingestions_retry(*, pks: Collection[int], clock: Clock = SYSTEM_CLOCK) -> int:
    """Have failed events tried again, with all tries ahead of them, and return how many there were."""
    failed = Ingestion.objects.filter(pk__in=pks, status=IngestionStatus.FAILED)
    count = failed.update(status=IngestionStatus.PENDING, tries=0, next_try_at=utcnow(clock), ended_at=None)
    if count:
        request_ingest()
    return count
