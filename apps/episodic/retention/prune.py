"""Retention: changes of policies, and the removal of what is expired by them (spec 000, Retention policy)."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Unpack

from django.db import transaction
from django.db.models import F, Q
from django.db.models.functions import Coalesce

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.errors import ConflictError, NotFoundError
from apps.episodic.domain.retention import GLOBAL_HOUSEHOLD, Cutoffs, PrunedEvent, RetentionRule, cutoffs_at
from apps.episodic.domain.segment_state import SegmentState
from apps.episodic.events import PruneReason
from apps.episodic.maintenance.remove import Removal, RemovalReport, events_remove, removal_preview
from apps.episodic.maintenance.repair import segment_expire
from apps.episodic.maintenance.runner import RunnerOptions, Watch, maintenance_run, no_progress
from apps.episodic.models import RetentionPolicy, Segment

ACTOR = "retention"


def timeline_prune(
    *,
    resume: bool = False,
    clock: Clock = SYSTEM_CLOCK,
    wait_seconds: float = 0.0,
    **options: Unpack[RunnerOptions],
) -> RemovalReport:
    """Remove what is expired, and note on each policy how many events it removed.

    resume: this continues a run that did not finish, so the policies go on counting. Does nothing while no policy is
    switched on. Raises MaintenanceRunningError.
    """
    cutoffs = current_cutoffs(clock)
    if cutoffs.latest is None:
        return RemovalReport()
    with maintenance_run(wait_seconds, clock, **options) as runner:
        if not resume:
            RetentionPolicy.objects.filter(is_enabled=True).update(last_run_at=utcnow(clock), last_pruned_count=0)
        removal = retention_removal(cutoffs)
        # Read before anything else, so that one that is found damaged in this run has a day to be brought back.
        damaged: list[Segment] = []
        if cutoffs.common is not None:
            in_quarantine = Segment.objects.filter(state=SegmentState.QUARANTINED)
            damaged = list(in_quarantine.filter(last_timestamp__lt=cutoffs.common).order_by("id"))
        report = events_remove(removal, Segment.objects.filter(first_timestamp__lt=cutoffs.latest), runner)

        def expire(segment: Segment) -> None:
            report.archived += segment_expire(segment, removal, clock=clock, step=runner.step)
            report.segments += 1

        runner.run_each("Ending damaged segments", damaged, expire)
        report.finished = runner.finished
    return report


def prune_preview(
    *, policies: Iterable[RetentionRule] | None = None, clock: Clock = SYSTEM_CLOCK, watch: Watch = no_progress
) -> RemovalReport:
    """Return what `timeline_prune` would remove now, and change nothing. Unreadable files are counted as damaged.

    policies: what to assume instead of the stored ones.
    """
    cutoffs = current_cutoffs(clock) if policies is None else cutoffs_at(policies, utcnow(clock))
    if cutoffs.latest is None:
        return RemovalReport()
    removal = retention_removal(cutoffs)
    candidates = Segment.objects.filter(first_timestamp__lt=cutoffs.latest)
    return removal_preview(removal.rows, removal.cutoff_of, candidates, watch)


def current_cutoffs(clock: Clock) -> Cutoffs:
    """Return what is expired now by the stored policies."""
    policies = RetentionPolicy.objects.values_list("household_id", "days", "is_enabled")
    return cutoffs_at([RetentionRule(*values) for values in policies], utcnow(clock))


def retention_removal(cutoffs: Cutoffs) -> Removal:
    """Return the removal of all expired events, which counts them on the policies."""

    def count_removed(gone: Sequence[PrunedEvent]) -> None:
        counts = Counter(cutoffs.policy_of(event.key.household_id) for event in gone)
        for household, count in sorted(counts.items()):
            total = Coalesce(F("last_pruned_count"), 0) + count
            RetentionPolicy.objects.filter(household_id=household).update(last_pruned_count=total)

    expired = Q(pk__in=[])
    own = [household for household in cutoffs.moments if household != GLOBAL_HOUSEHOLD]
    for household, moment in cutoffs.moments.items():
        if moment is not None:
            whose = ~Q(household_id__in=own) if household == GLOBAL_HOUSEHOLD else Q(household_id=household)
            expired |= whose & Q(timestamp__lt=moment)
    return Removal(expired, lambda key: cutoffs.of(key.household_id), PruneReason.RETENTION, ACTOR, count_removed)


@dataclass(frozen=True)
class RetentionPreview:
    """What the next run would remove with a change, and how many events it would remove anyway."""

    removal: RemovalReport
    anyway: int


def retention_create(*, household_id: str, days: int, is_enabled: bool) -> RetentionPolicy:
    """Create the policy of a household, or the global one. Raises ValidationError, also if there is one already."""
    policy = RetentionPolicy(household_id=household_id, days=days, is_enabled=is_enabled)
    policy.full_clean()
    policy.save(force_insert=True)
    return policy


@transaction.atomic
def retention_update(*, pk: int, days: int, is_enabled: bool) -> RetentionPolicy:
    """Change how long events are kept. Raises NotFoundError, ValidationError."""
    policy = lock_policy(pk)
    policy.days, policy.is_enabled = days, is_enabled
    policy.full_clean()
    policy.save(update_fields=["days", "is_enabled", "updated_at"])
    return policy


@transaction.atomic
def retention_delete(*, pk: int) -> None:
    """Let the global policy count for a household again. Raises NotFoundError; ConflictError for the global one."""
    policy = lock_policy(pk)
    if policy.household_id == GLOBAL_HOUSEHOLD:
        raise ConflictError("The global policy is not deleted; switch it off.", code="global_policy")
    policy.delete()


def retention_preview(
    *, household_id: str, policy: RetentionRule | None, clock: Clock = SYSTEM_CLOCK
) -> RetentionPreview:
    """Return what the next run would remove if this were the policy of a household, or if it had none of its own."""
    stored = RetentionPolicy.objects.values_list("household_id", "days", "is_enabled")
    policies = {values[0]: RetentionRule(*values) for values in stored}
    anyway = prune_preview(policies=policies.values(), clock=clock)
    policies.pop(household_id, None)
    changed = [*policies.values(), policy] if policy else list(policies.values())
    return RetentionPreview(prune_preview(policies=changed, clock=clock), anyway.events)


def lock_policy(pk: int) -> RetentionPolicy:
    """Return a policy, locked until the end of the transaction. Raises NotFoundError."""
    policy = RetentionPolicy.objects.select_for_update().filter(pk=pk).first()
    if policy is None:
        raise NotFoundError("There is no such policy.")
    return policy
