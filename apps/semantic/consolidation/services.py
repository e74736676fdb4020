"""Consolidation: looking for conflicts among the memories that are stored already (docs/guides/consolidation.md).

Nothing runs by itself unless an operator enables it, and nothing is changed unless it is set to decide.
"""

import hashlib
import logging
import time
from collections import Counter as Tally
from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django_q.tasks import async_task
from prometheus_client import Counter

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.errors import MemoryHubError, NotFoundError
from apps.core.domain.scope import IDENTIFIERS, Scope
from apps.rules.domain.engine.verdict import VerdictOutcome
from apps.rules.selectors import active_rules
from apps.semantic.consolidation.candidates import Finding, examine, memories_between
from apps.semantic.consolidation.run import (
    CHUNK,
    ConsolidationRun,
    Progress,
    RunEnd,
    RunLimits,
    RunReport,
    SteppedAsideError,
)
from apps.semantic.models import Consolidation, ConsolidationMode, Memory
from apps.semantic.models.consolidation import MAX_NAME_CHARS
from apps.semantic.store.embedding_space import current_space, with_current_space

logger = logging.getLogger(__name__)

TASK = "apps.semantic.tasks.consolidate"
SETTINGS = (*IDENTIFIERS, "enabled", "mode", "max_memories", "max_decisions", "max_seconds")
RUNS = Counter("semantic_consolidation_runs", "Runs of consolidations, by why they ended.", ["ended"])
LOOKED_AT = Counter("semantic_consolidation_memories", "Stored memories that consolidations looked at.")
RECEIPTS = Counter("semantic_consolidation_receipts", "Receipts of consolidations, by outcome.", ["outcome"])
_FROM_THE_START: dict[str, Any] = {
    "cursor": 0, "mark": "", "is_complete": True, "looked_at": 0, "noticed": 0, "decided": 0, "last_error": "",
}  # fmt: skip


def consolidation_create(*, name: str, settings: Mapping[str, Any] | None = None) -> Consolidation:
    """A new consolidation; off, and noticing only, unless `settings` say otherwise. Raises ValidationError."""
    consolidation = Consolidation(name=name, **_checked(settings or {}))
    consolidation.full_clean()
    consolidation.save(force_insert=True)
    return consolidation


@transaction.atomic
def consolidation_update(*, pk: int, settings: Mapping[str, Any]) -> Consolidation:
    """Change settings. Another scope is looked at from its start; a run that is at work steps aside.

    Raises NotFoundError, ValidationError.
    """
    consolidation = _locked(pk)
    before = consolidation.scope
    for name, value in _checked(settings).items():
        setattr(consolidation, name, value)
    consolidation.full_clean()
    if consolidation.scope != before:
        _restart(consolidation)
    consolidation.epoch += 1
    consolidation.save()
    return consolidation


@transaction.atomic
def consolidation_reset(*, pk: int) -> Consolidation:
    """Let the next run begin with the first memory. What has a receipt is left alone as ever. Raises NotFoundError."""
    consolidation = _locked(pk)
    _restart(consolidation)
    consolidation.epoch += 1
    consolidation.save()
    return consolidation


@transaction.atomic
def consolidation_delete(*, pk: int) -> None:
    """Remove a consolidation; its receipts stay. Raises NotFoundError."""
    _locked(pk).delete()


def consolidation_for(*, scope: Scope, mode: ConsolidationMode) -> Consolidation:
    """The consolidation of a scope that is run by hand, made if it is missing. It is off: no schedule runs it."""
    name, settings = _name_by_hand(scope), {**scope.named(), "mode": mode}
    known = Consolidation.objects.filter(name=name).first()
    if known is None:
        return consolidation_create(name=name, settings=settings)
    return known if known.mode == mode else consolidation_update(pk=known.pk, settings=settings)


def _name_by_hand(scope: Scope) -> str:
    named = ", ".join(f"{name.removesuffix('_id')} {value}" for name, value in scope.named().items())
    name = f"by hand: {named or 'everyone'}"
    if len(name) <= MAX_NAME_CHARS:
        return name
    digest = hashlib.sha256(repr(scope).encode()).hexdigest()[:12]
    return f"{name[: MAX_NAME_CHARS - 13]} {digest}"


def consolidation_request(*, pk: int) -> None:
    """Ask the background workers for one run, whether it is enabled or not."""
    async_task(TASK, pk, task_name="semantic.consolidate", save=False)


def consolidations_request() -> int:
    """Ask for one run of each that is enabled, which ends at once if it is not by then; says how many."""
    enabled = list(Consolidation.objects.filter(enabled=True).order_by("pk").values_list("pk", flat=True))
    for pk in enabled:
        async_task(TASK, pk, scheduled=True, task_name="semantic.consolidate", save=False)
    return len(enabled)


def consolidation_run(
    *,
    pk: int,
    only_if_enabled: bool = False,
    bounds: RunLimits | None = None,
    progress: Progress | None = None,
    clock: Clock = SYSTEM_CLOCK,
) -> RunReport:
    """Go on with a consolidation until one of its bounds, or the end. Call it outside a transaction.

    Never raises for what goes wrong within: the report and the row say it. bounds: others than its own. progress: told
    how many memories were looked at since its last call.
    """
    consolidation = Consolidation.objects.filter(pk=pk, **({"enabled": True} if only_if_enabled else {})).first()
    if consolidation is None:
        return RunReport(RunEnd.STEPPED_ASIDE)
    run = ConsolidationRun(
        consolidation, clock, bounds or RunLimits.of(consolidation), only_if_enabled=only_if_enabled, progress=progress
    )
    began = time.monotonic()
    report = _ended(run)
    report.seconds = time.monotonic() - began
    _tell(consolidation, report, clock)
    return report


def consolidation_preview(*, scope: Scope, progress: Progress | None = None) -> Tally[str]:
    """What deciding about all memories of a scope would come to: outcome -> how many receipts. Changes nothing.

    A memory that would have left is held against no later one. What merging would make is not looked at in turn.
    """
    outcomes: Tally[str] = Tally()
    gone: set[str] = set()
    space, rules, cursor = current_space(), active_rules(), 0
    until = Memory.objects.order_by("-pk").values_list("pk", flat=True).first() or 0
    while memories := list(memories_between(scope, cursor, until).defer("lexemes")[:CHUNK]):
        chunk = examine(memories, space, rules)
        for pk in chunk.ids:
            if pk in chunk.findings and (outcome := _imagined(chunk.findings[pk], gone)):
                outcomes[outcome] += 1
        cursor = chunk.ids[-1]
        if progress is not None:
            progress(len(memories))
    return outcomes


def _imagined(finding: Finding, gone: set[str]) -> VerdictOutcome | None:
    """What would be decided once those that are `gone` have left; adds those that would leave then."""
    left = [conflict for conflict in finding.conflicts if conflict.existing.key not in gone]
    if not left:
        return None
    verdict = Finding(finding.record, finding.rule, finding.memories, left).verdict()
    if verdict.outcome in {VerdictOutcome.SUPERSEDED_EXISTING, VerdictOutcome.MERGED}:
        gone |= {one.conflict.existing.key for one in (verdict.main, *verdict.also)}
    if verdict.outcome in {VerdictOutcome.KEPT_EXISTING, VerdictOutcome.REJECTED, VerdictOutcome.MERGED}:
        gone.add(finding.record.key)
    return verdict.outcome


def _ended(run: ConsolidationRun) -> RunReport:
    try:
        run.report.ended = with_current_space(run.run)
    except SteppedAsideError:
        run.report.ended = RunEnd.STEPPED_ASIDE
    except MemoryHubError as error:
        run.report.error = error.detail
    except Exception as error:  # noqa: BLE001  (a broken one must not keep the others from running)
        # Its text may quote a memory; its type and place do not.
        run.report.error = f"{type(error).__name__} {_place(error)}"
    return run.report


def _place(error: BaseException) -> str:
    """Where an error comes from: file and line."""
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    return f"in {traceback.tb_frame.f_code.co_filename}:{traceback.tb_lineno}" if traceback else ""


def _tell(consolidation: Consolidation, report: RunReport, clock: Clock) -> None:
    """Note how a run went: on the row, in the metrics and in the log; never what memories say."""
    RUNS.labels(report.ended.value).inc()
    LOOKED_AT.inc(report.looked_at)
    for outcome, count in report.receipts.items():
        RECEIPTS.labels(str(outcome)).inc(count)
    # Who stepped aside at once leaves the note to the one that is at work.
    if report.looked_at or report.ended is not RunEnd.STEPPED_ASIDE:
        Consolidation.objects.filter(pk=consolidation.pk).update(
            last_run_at=utcnow(clock), last_run_seconds=report.seconds, last_error=report.error[:300]
        )
    logger.log(
        logging.ERROR if report.error else logging.INFO,
        "consolidation %d: %s; %d memories looked at, %d conflicts noticed, %d decided, in %.1f s %s",
        consolidation.pk, report.ended.value, report.looked_at, report.noticed, report.decided, report.seconds,
        report.error,
    )  # fmt: skip


def _checked(settings: Mapping[str, Any]) -> Mapping[str, Any]:
    unknown = settings.keys() - set(SETTINGS)
    assert not unknown, unknown
    return settings


def _locked(pk: int) -> Consolidation:
    consolidation = Consolidation.objects.select_for_update().filter(pk=pk).first()
    if consolidation is None:
        raise NotFoundError("There is no such consolidation.")
    return consolidation


def _restart(consolidation: Consolidation) -> None:
    for name, value in _FROM_THE_START.items():
        setattr(consolidation, name, value)
