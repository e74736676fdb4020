"""Consolidation: search for conflicts among the memories that are stored already (docs/guides/consolidation.md).

Nothing runs unless an operator enables it, and nothing is changed unless it is set to decide.
"""

import hashlib
import logging
import time
import traceback
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.db import transaction
from django_q.tasks import async_task
from prometheus_client import Counter as CounterMetric

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.errors import MemoryHubError, NotFoundError
from apps.core.domain.scope import IDENTIFIERS, Scope
from apps.rules.selectors import active_rules
from apps.semantic.consolidation.candidates import examine, memories_between
from apps.semantic.consolidation.run import (
    CHUNK,
    ConsolidationRun,
    Progress,
    RunEnd,
    RunLimits,
    RunReport,
    SteppedAsideError,
)
from apps.semantic.domain.rehearsal import removed_ids
from apps.semantic.models import Consolidation, ConsolidationMode, Memory
from apps.semantic.models.consolidation import MAX_NAME_CHARS
from apps.semantic.store.embedding_space import current_space, with_current_space

logger = logging.getLogger(__name__)

TASK = "apps.semantic.tasks.consolidate"
SETTINGS = (*IDENTIFIERS, "enabled", "mode", "max_memories", "max_decisions", "max_seconds")
RUNS = CounterMetric("memoryhub_consolidation_runs", "Runs of consolidations, by why they ended.", ["ended"])
EXAMINED = CounterMetric("memoryhub_consolidation_memories", "Stored memories that consolidations examined.")
RECEIPTS = CounterMetric("memoryhub_consolidation_receipts", "Receipts of consolidations, by outcome.", ["outcome"])
_FROM_THE_START: dict[str, Any] = {
    "cursor": 0, "mark": "", "is_complete": True, "looked_at": 0, "noticed": 0, "decided": 0, "last_error": "",
}  # fmt: skip


def consolidation_create(*, name: str, settings: Mapping[str, Any] | None = None) -> Consolidation:
    """Create a consolidation; off, and noticing only, unless `settings` say otherwise. Raises ValidationError."""
    consolidation = Consolidation(name=name, **check_names(settings or {}))
    consolidation.full_clean()
    consolidation.save(force_insert=True)
    return consolidation


@transaction.atomic
def consolidation_update(*, pk: int, settings: Mapping[str, Any]) -> Consolidation:
    """Change settings. Another scope is examined from its start; a run that is active steps aside.

    Raises NotFoundError, ValidationError.
    """
    consolidation = lock_consolidation(pk)
    before = consolidation.scope
    for name, value in check_names(settings).items():
        setattr(consolidation, name, value)
    consolidation.full_clean()
    if consolidation.scope != before:
        for name, value in _FROM_THE_START.items():
            setattr(consolidation, name, value)
    consolidation.epoch += 1
    consolidation.save()
    return consolidation


@transaction.atomic
def consolidation_reset(*, pk: int) -> Consolidation:
    """Let the next run begin with the first memory. Pairs with a receipt are still left out. Raises NotFoundError."""
    consolidation = lock_consolidation(pk)
    for name, value in _FROM_THE_START.items():
        setattr(consolidation, name, value)
    consolidation.epoch += 1
    consolidation.save()
    return consolidation


@transaction.atomic
def consolidation_delete(*, pk: int) -> None:
    """Delete a consolidation; its receipts stay. Raises NotFoundError."""
    lock_consolidation(pk).delete()


def consolidation_for(*, scope: Scope, mode: ConsolidationMode) -> Consolidation:
    """Return the consolidation of a scope that is run by hand, created if missing. It is off: no schedule runs it."""
    named = ", ".join(f"{name.removesuffix('_id')} {value}" for name, value in scope.named().items())
    name, settings = f"by hand: {named or 'everyone'}", {**scope.named(), "mode": mode}
    if len(name) > MAX_NAME_CHARS:
        digest = hashlib.sha256(repr(scope).encode()).hexdigest()[:12]
        name = f"{name[: MAX_NAME_CHARS - 13]} {digest}"
    known = Consolidation.objects.filter(name=name).first()
    if known is None:
        return consolidation_create(name=name, settings=settings)
    return known if known.mode == mode else consolidation_update(pk=known.pk, settings=settings)


def consolidation_request(*, pk: int) -> None:
    """Enqueue one run, whether the consolidation is enabled or not."""
    async_task(TASK, pk, task_name="semantic.consolidate", save=False)


def consolidations_request() -> int:
    """Enqueue one run of each that is enabled, which ends at once if it is not by then. Return how many."""
    enabled = list(Consolidation.objects.filter(enabled=True).order_by("pk").values_list("pk", flat=True))
    for pk in enabled:
        async_task(TASK, pk, scheduled=True, task_name="semantic.consolidate", save=False)
    return len(enabled)


def consolidation_run(
    *,
    pk: int,
    only_if_enabled: bool = False,
    limits: RunLimits | None = None,
    progress: Progress | None = None,
    clock: Clock = SYSTEM_CLOCK,
) -> RunReport:
    """Continue a consolidation until one of its limits, or the end. Call it outside a transaction.

    Never raises for errors within: the report and the row say them. limits: others than its own. progress: called with
    the number of memories that were examined since its last call.
    """
    consolidation = Consolidation.objects.filter(pk=pk, **({"enabled": True} if only_if_enabled else {})).first()
    if consolidation is None:
        return RunReport(RunEnd.STEPPED_ASIDE)
    run = ConsolidationRun(
        consolidation, clock, limits or RunLimits.of(consolidation), only_if_enabled=only_if_enabled, progress=progress
    )
    report, began = run.report, time.monotonic()
    try:
        report.ended = with_current_space(run.run)
    except SteppedAsideError:
        report.ended = RunEnd.STEPPED_ASIDE
    except MemoryHubError as error:
        report.error = error.detail
    except Exception as error:  # noqa: BLE001  (a broken one must not keep the others from running)
        # Its text may quote a memory; its type and place do not.
        place = traceback.extract_tb(error.__traceback__)[-1]
        report.error = f"{type(error).__name__} in {place.filename}:{place.lineno}"
    report.seconds = time.monotonic() - began
    note_run(consolidation, report, clock)
    return report


def consolidation_preview(*, scope: Scope, progress: Progress | None = None) -> Counter[str]:
    """Count what deciding about all memories of a scope would write: outcome -> receipts. Changes nothing.

    A memory that would be removed is compared with no later one. What would be merged is not compared in turn.
    """
    outcomes: Counter[str] = Counter()
    removed: set[str] = set()
    space, rules, cursor = current_space(), active_rules(), 0
    until = Memory.objects.order_by("-pk").values_list("pk", flat=True).first() or 0
    while memories := list(memories_between(scope, cursor, until).defer("lexemes")[:CHUNK]):
        chunk = examine(memories, space, rules)
        for pk in chunk.ids:
            if finding := chunk.findings.get(pk):
                left = [one for one in finding.conflicts if one.existing.key not in removed]
                if left:
                    verdict = replace(finding, conflicts=left).verdict()
                    outcomes[verdict.outcome] += 1
                    partners = [one.conflict.existing.key for one in (verdict.main, *verdict.also)]
                    removed |= removed_ids(verdict.outcome, finding.record.key, partners[0], partners[1:])
        cursor = chunk.ids[-1]
        if progress is not None:
            progress(len(memories))
    return outcomes


def note_run(consolidation: Consolidation, report: RunReport, clock: Clock) -> None:
    """Note how a run went: on the row, in the metrics and in the log; never what memories say."""
    RUNS.labels(report.ended.value).inc()
    EXAMINED.inc(report.looked_at)
    for outcome, count in report.receipts.items():
        RECEIPTS.labels(str(outcome)).inc(count)
    # A run that stepped aside at once leaves the note to the one that is active.
    if report.looked_at or report.ended is not RunEnd.STEPPED_ASIDE:
        Consolidation.objects.filter(pk=consolidation.pk).update(
            last_run_at=utcnow(clock), last_run_seconds=report.seconds, last_error=report.error[:300]
        )
    logger.log(
        logging.ERROR if report.error else logging.INFO,
        "consolidation %d: %s; %d memories examined, %d conflicts noticed, %d decided, in %.1f s %s",
        consolidation.pk, report.ended.value, report.looked_at, report.noticed, report.decided, report.seconds,
        report.error,
    )  # fmt: skip


def check_names(settings: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return settings whose names are all known."""
    unknown = settings.keys() - set(SETTINGS)
    assert not unknown, unknown
    return settings


def lock_consolidation(pk: int) -> Consolidation:
    """Lock a row. Raises NotFoundError."""
    consolidation = Consolidation.objects.select_for_update().filter(pk=pk).first()
    if consolidation is None:
        raise NotFoundError("There is no such consolidation.")
    return consolidation
