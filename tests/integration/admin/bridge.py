"""Rows of the bridge for tests of its pages."""

from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from apps.core.domain.scope import Scope
from apps.semantic.bridge.audit import Pruning, audit
from apps.semantic.bridge.policies import policy_create
from apps.semantic.models import AuditAction, BridgeAudit, Ingestion

NOON = datetime(2026, 5, 10, 12, tzinfo=UTC)


def routed(**fields: Any) -> Ingestion:
    """An event of the user ana that waits to become a memory."""
    known: dict[str, Any] = {
        "event_id": uuid4(),
        "user_id": "ana",
        "event_type": "promise",
        "timestamp": NOON,
        "importance": 0.9,
        "content": "Ana promised to call the bank",
        "recorded_at": NOON,
        "policy": "important",
        "created_at": NOON,
        "next_try_at": NOON,
    }
    return Ingestion.objects.create(**{**known, **fields})


def audited(action: AuditAction = AuditAction.DEMOTED, **fields: Any) -> BridgeAudit:
    """The record of one pruned event of the user ana."""
    pruning = Pruning("retention", "timeline")
    return audit(action, Scope("ana", "home"), [uuid4()], pruning, at=NOON, policy="important", **fields)


def pruned_event() -> None:
    """A policy, an event on its way, and the record of one that is gone."""
    policy_create(name="important")
    routed()
    audited()
