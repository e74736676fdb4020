"""Numbers from the database."""

from datetime import timedelta

from apps.core.domain.scope import system_access
from apps.events.selectors import outbox_status, queue_status
from apps.events.services import failure_count
from apps.llm.services import budget_status, guard_rules
from apps.monitor.domain.series import Number, SampleContext
from apps.semantic.selectors import active_total, decisions_between
from apps.semantic.services import bridge_status, open_conflicts

ACTOR = "monitor"
MAX_CONFLICTS = 1_000_000
# A decision is dated before its transaction ends: those of the last seconds count for the next sample.
COMMIT_LAG = timedelta(seconds=5)


def decisions(context: SampleContext) -> dict[str, Number]:
    """Return how many decisions of each outcome were made since the previous sample."""
    if context.since is None:
        return {}
    counted = decisions_between(system_access(ACTOR), context.since - COMMIT_LAG, context.until - COMMIT_LAG)
    return {f"decisions_{outcome}": float(count) for outcome, count in counted.items()}


def memories(_context: SampleContext) -> dict[str, Number]:
    """Return how many memories are active, and what waits to become one or to be reviewed."""
    access = system_access(ACTOR)
    return {
        "memories_active": active_total(access),
        "conflicts_open": open_conflicts(access, MAX_CONFLICTS),
        "bridge_backlog": bridge_status().pending,
    }


def background(_context: SampleContext) -> dict[str, Number]:
    """Return what waits for the worker, for how many seconds, and what has failed."""
    queue, outbox = queue_status(), outbox_status()
    return {
        "queue_length": queue.waiting,
        "queue_oldest": queue.oldest_seconds,
        "jobs_failed": failure_count(),
        "deliveries_pending": outbox.pending,
        "deliveries_failed": outbox.failed,
        "delivery_oldest": outbox.overdue_seconds,
    }


def spending(_context: SampleContext) -> dict[str, Number]:
    """Return what was spent on models today (UTC), in dollars."""
    status = budget_status(rules=guard_rules())
    return {"dollars_today": float(status.spent + status.waived)}
