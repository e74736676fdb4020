"""Retention: expired events are removed, by the policy that counts for them (spec 000, Retention policy)."""

from collections import Counter
from collections.abc import Iterable, Sequence

from django.db.models import F, Q, QuerySet
from django.db.models.functions import Coalesce

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.steps import Step, no_step
from apps.episodic.domain.removal import CutoffOf
from apps.episodic.domain.retention import GLOBAL_HOUSEHOLD, Cutoffs, PrunedEvent, RetentionRule, cutoffs_at
from apps.episodic.domain.segment_state import SegmentState
from apps.episodic.events import PruneReason
from apps.episodic.maintenance.progress import Watch, no_progress
from apps.episodic.maintenance.remove import Removal, RemovalReport, events_remove, removal_preview
from apps.episodic.maintenance.repair import segment_expire
from apps.episodic.maintenance.runner import MaintenanceRunner, maintenance_lock
from apps.episodic.models import RetentionPolicy, Segment

ACTOR = "retention"


def timeline_prune(
    *,
    clock: Clock = SYSTEM_CLOCK,
    seconds: float | None = None,
    resume: bool = False,
    step: Step = no_step,
    watch: Watch = no_progress,
    wait_seconds: float = 0.0,
) -> RemovalReport:
    """Remove what is expired, and note on each policy how many events it let go.

    seconds: begin with nothing new after so long. resume: this is the continuation of a run that did not finish, so the
    policies go on counting. Does nothing while no policy is switched on. Raises MaintenanceRunningError.
    """
    cutoffs = current_cutoffs(clock)
    if cutoffs.latest is None:
        return RemovalReport()
    with maintenance_lock(wait_seconds):
        if not resume:
            RetentionPolicy.objects.filter(is_enabled=True).update(last_run_at=utcnow(clock), last_pruned_count=0)
        work, removal = MaintenanceRunner(clock=clock, seconds=seconds, step=step, watch=watch), _removal(cutoffs)
        damaged = _expired_in_quarantine(cutoffs)
        report = events_remove(removal, _candidates(cutoffs), work)
        _expire(damaged, removal, work, report)
    return report


def _expired_in_quarantine(cutoffs: Cutoffs) -> list[Segment]:
    """The damaged segments that hold nothing but what is expired, whoever it belongs to.

    Asked for before anything else, so that one that is found damaged in this run has a day to be brought back.
    """
    common = cutoffs.common
    if common is None:
        return []
    return list(Segment.objects.filter(state=SegmentState.QUARANTINED, last_timestamp__lt=common).order_by("id"))


def _expire(damaged: Sequence[Segment], removal: Removal, work: MaintenanceRunner, report: RemovalReport) -> None:
    def end(segment: Segment) -> None:
        report.archived += segment_expire(segment, removal, clock=work.clock, step=work.step)
        report.segments += 1

    work.each_one("Ending damaged segments", damaged, end)
    report.finished = work.finished


def prune_preview(
    *, policies: Iterable[RetentionRule] | None = None, clock: Clock = SYSTEM_CLOCK, watch: Watch = no_progress
) -> RemovalReport:
    """What `timeline_prune` would remove now; nothing is changed. Files that cannot be read are counted as damaged.

    policies: what to assume instead of those that are there.
    """
    cutoffs = current_cutoffs(clock) if policies is None else cutoffs_at(policies, utcnow(clock))
    if cutoffs.latest is None:
        return RemovalReport()
    return removal_preview(_expired_rows(cutoffs), _cutoff_of(cutoffs), _candidates(cutoffs), watch)


def current_cutoffs(clock: Clock) -> Cutoffs:
    """What is expired by the policies of this moment."""
    policies = RetentionPolicy.objects.values_list("household_id", "days", "is_enabled")
    return cutoffs_at([RetentionRule(*values) for values in policies], utcnow(clock))


def _removal(cutoffs: Cutoffs) -> Removal:
    def noted(gone: Sequence[PrunedEvent]) -> None:
        counts = Counter(cutoffs.policy_of(event.key.household_id) for event in gone)
        for household, count in sorted(counts.items()):
            total = Coalesce(F("last_pruned_count"), 0) + count
            RetentionPolicy.objects.filter(household_id=household).update(last_pruned_count=total)

    return Removal(_expired_rows(cutoffs), _cutoff_of(cutoffs), PruneReason.RETENTION, ACTOR, noted)


def _cutoff_of(cutoffs: Cutoffs) -> CutoffOf:
    return lambda key: cutoffs.of(key.household_id)


def _expired_rows(cutoffs: Cutoffs) -> Q:
    """The rows that are expired; a condition that none meets when nothing expires."""
    expired = Q(pk__in=[])
    own = [household for household in cutoffs.moments if household != GLOBAL_HOUSEHOLD]
    for household, moment in cutoffs.moments.items():
        if moment is None:
            continue
        whose = ~Q(household_id__in=own) if household == GLOBAL_HOUSEHOLD else Q(household_id=household)
        expired |= whose & Q(timestamp__lt=moment)
    return expired


def _candidates(cutoffs: Cutoffs) -> QuerySet[Segment]:
    return Segment.objects.filter(first_timestamp__lt=cutoffs.latest)
