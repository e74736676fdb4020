"""The audit records of what pruning events does to memories (spec 000: security/audit logs), without any content."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from apps.core.domain.scope import Scope
from apps.semantic.bridge.metrics import RECONCILED
from apps.semantic.models import AuditAction, BridgeAudit

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Pruning:
    """Why events were pruned, and by whom."""

    reason: str
    actor: str


def audit(
    action: AuditAction,
    scope: Scope,
    event_ids: Sequence[UUID],
    pruning: Pruning,
    *,
    at: datetime,
    policy: str = "",
    memory: UUID | None = None,
    why: str = "",
    changes: Mapping[str, Any] | None = None,
) -> BridgeAudit:
    """Create a record in the transaction of the action, and log it.

    why: one word, where the action alone does not say it. changes: field -> [before, after].
    """
    record = BridgeAudit.objects.create(
        user_id=scope.user_id or "",
        household_id=scope.household_id or "",
        persona_id=scope.persona_id or "",
        action=action,
        why=why,
        memory=memory,
        event_ids=sorted(event_ids),
        policy=policy,
        reason=pruning.reason,
        actor=pruning.actor,
        at=at,
        changes=dict(changes or {}),
    )
    RECONCILED.labels(action.value).inc()
    logger.info(
        "audit %s: %s why=%s memory=%s events=%d policy=%r reason=%s actor=%s",
        record.uuid, action.value, why or "-", memory, len(event_ids), policy, pruning.reason, pruning.actor,
    )  # fmt: skip
    return record
