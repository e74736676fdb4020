"""Changes of retention policies, and what a change would remove (spec 000, Retention policy)."""

from dataclasses import dataclass

from django.db import transaction

from apps.core.domain.clock import SYSTEM_CLOCK, Clock
from apps.core.domain.errors import ConflictError, NotFoundError
from apps.episodic.domain.retention import GLOBAL_HOUSEHOLD, RetentionRule
from apps.episodic.maintenance.remove import RemovalReport
from apps.episodic.models import RetentionPolicy
from apps.episodic.retention.prune import prune_preview


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
