"""Retention: expired events are removed, by the policy that counts for them (spec 000, Retention policy)."""

from collections import Counter
from collections.abc import Iterable, Sequence

from django.db.models import F, Q, QuerySet
from django.db.models.functions import Coalesce

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.episodic.archive import Step, no_step
from apps.episodic.checking import file_open
from apps.episodic.domain.doomed import CutoffOf, doomed_runs
from apps.episodic.domain.retention import EVERYBODY, Cutoffs, Policy, PrunedEvent, cutoffs_at
from apps.episodic.domain.segment_format import SegmentDamagedError
from apps.episodic.domain.segment_state import SegmentState
from apps.episodic.events import PruneReason
from apps.episodic.models import RetentionPolicy, Segment, TimelineEvent
from apps.episodic.progress import Watch, unwatched
from apps.episodic.removing import Removal, RemovalReport, events_remove
from apps.episodic.working import Work, alone

ACTOR = "retention"


def timeline_prune(
    *,
    clock: Clock = SYSTEM_CLOCK,
    seconds: float | None = None,
    resume: bool = False,
    step: Step = no_step,
    watch: Watch = unwatched,
    wait_seconds: float = 0.0,
) -> RemovalReport:
    """Remove what is expired, and note on each policy how many events it let go.

    seconds: begin with nothing new after so long. resume: this is the continuation of a run that did not finish, so the
    policies go on counting. Does nothing while no policy is switched on. Raises MaintenanceRunningError.
    """
    cutoffs = current_cutoffs(clock)
    if cutoffs.latest is None:
        return RemovalReport()
    with alone(wait_seconds):
        if not resume:
            RetentionPolicy.objects.filter(is_enabled=True).update(last_run_at=utcnow(clock), last_pruned_count=0)
        work = Work(clock=clock, seconds=seconds, step=step, watch=watch)
        return events_remove(_removal(cutoffs), _candidates(cutoffs), work)


def prune_preview(
    *, policies: Iterable[Policy] | None = None, clock: Clock = SYSTEM_CLOCK, watch: Watch = unwatched
) -> RemovalReport:
    """What `timeline_prune` would remove now; nothing is changed. Files that cannot be read are counted as damaged.

    policies: what to assume instead of those that are there.
    """
    cutoffs = current_cutoffs(clock) if policies is None else cutoffs_at(policies, utcnow(clock))
    report = RemovalReport()
    if cutoffs.latest is None:
        return report
    report.rows = TimelineEvent.objects.that_count().filter(_expired_rows(cutoffs)).count()

    archived = list(_candidates(cutoffs).filter(state=SegmentState.ARCHIVED).order_by("first_timestamp", "id"))
    with watch("Looking into files", len(archived)) as advance:
        for segment in archived:
            try:
                expired = _count_expired(segment, cutoffs)
            except SegmentDamagedError:
                report.damaged += 1
            else:
                report.archived += expired
                report.segments += expired > 0
            advance(1)
    return report


def current_cutoffs(clock: Clock) -> Cutoffs:
    """What is expired by the policies of this moment."""
    policies = RetentionPolicy.objects.values_list("household_id", "days", "is_enabled")
    return cutoffs_at([Policy(*values) for values in policies], utcnow(clock))


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
    own = [household for household in cutoffs.moments if household != EVERYBODY]
    for household, moment in cutoffs.moments.items():
        if moment is None:
            continue
        whose = ~Q(household_id__in=own) if household == EVERYBODY else Q(household_id=household)
        expired |= whose & Q(timestamp__lt=moment)
    return expired


def _candidates(cutoffs: Cutoffs) -> QuerySet[Segment]:
    return Segment.objects.filter(first_timestamp__lt=cutoffs.latest)


def _count_expired(segment: Segment, cutoffs: Cutoffs) -> int:
    """How many events of a file are expired; reads only those runs of which some are and some are not."""
    file = file_open(segment)
    some, whole = doomed_runs(file.scopes, file.runs, _cutoff_of(cutoffs))
    partly = file.read_runs([int(run) for run in (some & ~whole).nonzero()[0]])
    count = sum(cutoffs.is_expired(record.key, record.timestamp) for record in partly)
    return count + int(file.runs["count"][whole].sum())
