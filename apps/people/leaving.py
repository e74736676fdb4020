"""The days between asking to be forgotten and being forgotten: saving is paused, and one click takes it back."""

import logging
from datetime import datetime, timedelta

from django.db import transaction

from apps.core.db.user_locks import hold_users
from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.errors import MemoryHubError, NotFoundError
from apps.core.models import Pause
from apps.core.pauses import pause_begin, pause_end
from apps.people.erasure.request import erasure_request
from apps.people.models import Erasure, ErasureState, PlannedErasure

logger = logging.getLogger(__name__)
GRACE = timedelta(days=7)
# A forgetting that something is in the way of is tried again so much later.
BETWEEN_TRIES = timedelta(hours=1)
# Who asked, in the record of the erasure: it must not name whom it was about.
THEMSELVES = "the person"


def erasure_plan(*, user_id: str, keeps_account: bool, actor: str, clock: Clock = SYSTEM_CLOCK) -> PlannedErasure:
    """Have everything of a user forgotten in seven days, and pause saving until then. Return a plan that there is.

    keeps_account: the person can sign in afterwards, and begins again with nothing. Raises UserLockedError for one who
    is being forgotten already.
    """
    with transaction.atomic():
        hold_users([user_id])
        now = utcnow(clock)
        before = Pause.objects.select_for_update().filter(user_id=user_id).first()
        kept = None
        if before is not None:  # what brings the pause back
            until = before.until.isoformat() if before.until else None
            kept = {"since": before.since.isoformat(), "until": until, "by": before.by}
        plan, is_new = PlannedErasure.objects.get_or_create(
            user_id=user_id,
            defaults={
                "requested_at": now,
                "due_at": now + GRACE,
                "keeps_account": keeps_account,
                "pause_before": kept,
            },
        )
        if is_new:
            pause_begin(user_id=user_id, until=None, actor=actor, clock=clock)
        return plan


def plan_of(user_id: str) -> PlannedErasure | None:
    """Return what a user has asked for."""
    return PlannedErasure.objects.filter(user_id=user_id).first()


@transaction.atomic
def plan_take_back(*, user_id: str) -> None:
    """Forget nothing after all; saving goes on, or is paused as it was before. Raises NotFoundError when it is over."""
    plan = PlannedErasure.objects.select_for_update().filter(user_id=user_id).first()
    if plan is None:
        raise NotFoundError("Nothing is planned to be forgotten.")
    hold_users([user_id])  # raises once the forgetting has begun
    plan.delete()
    if plan.pause_before is None:
        pause_end(user_id=user_id)
    else:
        until = datetime.fromisoformat(plan.pause_before["until"]) if plan.pause_before["until"] else None
        Pause.objects.filter(user_id=user_id).update(
            since=datetime.fromisoformat(plan.pause_before["since"]), until=until, by=plan.pause_before["by"]
        )


def plans_begin(*, clock: Clock = SYSTEM_CLOCK) -> None:
    """Begin to forget those whose days are over. One that cannot begin does not hold up others."""
    for plan in PlannedErasure.objects.filter(due_at__lte=utcnow(clock)).order_by("pk"):
        try:
            plan_begin(plan.pk, clock)
        except MemoryHubError as error:
            logger.warning("planned erasure %d cannot begin: %s", plan.pk, error.code)


@transaction.atomic
def plan_begin(plan_id: int, clock: Clock) -> None:
    """Begin one, unless it was taken back or was refused within the last hour. Raises ConflictError."""
    plan = PlannedErasure.objects.select_for_update().filter(pk=plan_id).first()
    if plan is None:
        return
    refused = Erasure.objects.filter(uuid=plan.uuid, state=ErasureState.REFUSED)
    if refused.filter(finished_at__gt=utcnow(clock) - BETWEEN_TRIES).exists():
        return
    refused.delete()
    erasure_request(
        user_id=plan.user_id,
        actor=THEMSELVES,
        clock=clock,
        enqueue=False,
        uuid=plan.uuid,
        keeps_account=plan.keeps_account,
    )
