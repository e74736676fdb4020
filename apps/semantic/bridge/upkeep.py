"""What the bridge does by itself, and what an operator asks of it."""

from collections.abc import Collection
from datetime import timedelta

from django.conf import settings
from django.db import transaction

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.semantic.bridge.jobs import request_ingest, request_reconcile
from apps.semantic.bridge.status import observe
from apps.semantic.models import Ingestion, IngestionStatus

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
