"""The status of the store and of the bridge from the timeline, as output."""

from typing import Annotated, Any, NotRequired, TypedDict

from rest_framework import serializers

from apps.core.schemas.outputs import Moment
from apps.semantic.models import Memory
from apps.semantic.status import StoreStatus

# What a key with a bound may know of the index: the rest shows how much others have in it.
PUBLIC_INDEX_FACTS = {"kind", "model", "dimension"}


class SuspensionOutput(TypedDict):
    """A warning of the timeline that suspends the bridge."""

    kind: str
    severity: str
    since: Moment


class BridgeOutput(TypedDict):
    """How events become memories, of all users together; for keys without a bound."""

    suspended: bool
    suspended_by: list[SuspensionOutput]
    policies: Annotated[int, "Routing policies that are enabled."]
    pending: Annotated[int, "Events that wait to become memories."]
    failed: Annotated[int, "Events of which no memory could be made."]
    timeline_lag_ms: Annotated[int, "Age of the oldest event that has not been judged yet, or waits; 0 for none."]
    last_ingestion_lag_ms: Annotated[
        int | None, "From the recording of the event that became a memory last to that memory."
    ]
    segment_count: Annotated[int, "Segments of the timeline that are in use."]


class StoreOutput(TypedDict):
    """Where the memories are."""

    host: str
    name: str


class StatusOutput(TypedDict):
    """How the store is."""

    status: Annotated[str, serializers.ChoiceField(choices=["healthy", "unhealthy"])]
    store: StoreOutput
    collection: str
    count: Annotated[int | None, "Active memories that this key can see."]
    index: dict[str, Any]
    bridge: NotRequired[BridgeOutput]
    error: NotRequired[str]


def render_status(report: StoreStatus, *, has_bound: bool, bridge: BridgeOutput | None = None) -> StatusOutput:
    """Return the status of the store as JSON. has_bound: leave out what shows how much others have."""
    answer: StatusOutput = {
        "status": "healthy" if report.healthy else "unhealthy",
        "store": {"host": report.host, "name": report.name},
        "collection": Memory._meta.db_table,
        "count": report.count,
        "index": {name: fact for name, fact in report.index.items() if not has_bound or name in PUBLIC_INDEX_FACTS},
    }
    if bridge is not None:
        answer["bridge"] = bridge
    if report.error is not None:
        answer["error"] = report.error
    return answer
