"""What a policy makes of an event: the draft of a memory, checked as one that comes over REST."""

from dataclasses import dataclass
from typing import Any

from rest_framework.exceptions import ValidationError

from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.models import Ingestion, RoutingPolicy
from apps.semantic.schemas.memories import MemoryInput, draft_of

# By these a reader of a memory finds the event that it was made of, and the policy that wanted it.
EVENT_KEY, TYPE_KEY, POLICY_KEY = "episodic_event_id", "episodic_event_type", "routing_policy"


@dataclass(frozen=True)
class Unusable:
    """Why no memory can be made of an event: field and code, never the value."""

    error: str


def draft_from(row: Ingestion, policy: RoutingPolicy, form: MemoryInput) -> MemoryDraft | Unusable:
    """The memory that an event becomes by a policy, with the way back to it in its metadata.

    form: checks it; making one takes longer than using it.
    """
    assert row.timestamp is not None
    fields = {
        **row.scope.named(),
        "content": row.content,
        "type": policy.memory_type,
        "decay_policy": policy.decay_policy,
        "importance": row.importance,
        "confidence": policy.confidence,
        "source": policy.source,
        "occurred_at": row.timestamp.isoformat(),
        "metadata": {EVENT_KEY: str(row.event_id), TYPE_KEY: row.event_type, POLICY_KEY: policy.name},
    }
    try:
        return draft_of(form.run_validation(fields))
    except ValidationError as error:
        return Unusable(_first_code(error.get_codes()))


def _first_code(codes: Any) -> str:
    if isinstance(codes, dict):
        name, inner = next(iter(codes.items()))
        return f"{name}: {_first_code(inner)}"
    return _first_code(codes[0]) if isinstance(codes, list) else str(codes)
