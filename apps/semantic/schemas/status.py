"""The status of the store and of the bridge from the timeline, as output."""

from typing import Annotated, Any, NotRequired, TypedDict

from rest_framework import serializers

from apps.core.health import Readiness
from apps.core.models import ProcessKind
from apps.core.schemas.outputs import Moment, iso
from apps.semantic.judge.services import JudgeState, JudgeStatus
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
    pending: Annotated[int, "Events waiting to become memories."]
    failed: Annotated[int, "Events that could not be made into memories."]
    timeline_lag_ms: Annotated[int, "Age of the oldest event that is waiting or has not been judged yet; 0 for none."]
    last_ingestion_lag_ms: Annotated[
        int | None, "For the last memory made from an event: the time from recording the event to making the memory."
    ]
    segment_count: Annotated[int, "Segments of the timeline that are in use."]


class JudgeOutput(TypedDict):
    """Whether a chat model is asked about undecided pairs, of all users together; for keys without a bound."""

    state: Annotated[str, serializers.ChoiceField(choices=[state.value for state in JudgeState])]
    model: Annotated[str | None, "The configured model; null for none."]
    waiting: Annotated[int, "Receipts that it may be asked about, at most 10,000."]
    asked_today: Annotated[int, "Pairs since midnight, UTC."]
    pairs_per_day: int
    counts: Annotated[dict[str, int], "Pairs by verdict, or as `unanswered` or `skipped`."]
    last_run_at: Moment | None
    last_end: Annotated[str | None, "Why the last run ended."]
    last_error: str | None


class StoreOutput(TypedDict):
    """Where the memories are."""

    host: str
    name: str


class ProcessOutput(TypedDict):
    """A process of the hub; for keys without a bound."""

    kind: Annotated[str, serializers.ChoiceField(choices=[kind.value for kind in ProcessKind])]
    host: str
    pid: int
    started_at: Moment
    seen_seconds_ago: Annotated[float, "Seconds since its last sign of life."]
    ready: Annotated[bool, "Whether it passes its own checks."]
    checks: Annotated[dict[str, str], "Its own checks: ok, or what is missing."]
    index: Annotated[dict[str, Any] | None, "The indexes in its memory; null for a worker."]


class StatusOutput(TypedDict):
    """How the store is."""

    status: Annotated[str, serializers.ChoiceField(choices=["healthy", "unhealthy"])]
    store: StoreOutput
    collection: str
    count: Annotated[int | None, "Active memories that this key can see."]
    index: dict[str, Any]
    ready: NotRequired[Annotated[bool, "Whether all checks of `/readyz` pass; for keys without a bound."]]
    checks: NotRequired[Annotated[dict[str, str], "The checks of `/readyz`; for keys without a bound."]]
    processes: NotRequired[list[ProcessOutput]]
    bridge: NotRequired[BridgeOutput]
    judge: NotRequired[JudgeOutput]
    error: NotRequired[str]


def render_status(
    report: StoreStatus, *, has_bound: bool, bridge: BridgeOutput | None = None, judge: JudgeStatus | None = None
) -> StatusOutput:
    """Return the status of the store as JSON. has_bound: leave out what shows how much others have."""
    answer: StatusOutput = {
        "status": "healthy" if report.healthy else "unhealthy",
        "store": {"host": report.host, "name": report.name},
        "collection": Memory._meta.db_table,
        "count": report.count,
        "index": {name: fact for name, fact in report.index.items() if not has_bound or name in PUBLIC_INDEX_FACTS},
    }
    if report.healthy and not has_bound:
        answer["checks"] = dict(report.checks)
        answer["ready"] = Readiness(answer["checks"]).ready
        answer["processes"] = [
            {
                "kind": state.kind.value,
                "host": state.host,
                "pid": state.pid,
                "started_at": iso(state.started_at),
                "seen_seconds_ago": round(state.age, 1),
                "ready": Readiness(dict(state.checks)).ready,
                "checks": dict(state.checks),
                "index": state.facts.get("index"),
            }
            for state in report.processes
        ]
    if bridge is not None:
        answer["bridge"] = bridge
    if judge is not None:
        answer["judge"] = {
            "state": judge.state.value,
            "model": judge.model or None,
            "waiting": judge.waiting,
            "asked_today": judge.asked_today,
            "pairs_per_day": judge.judge.pairs_per_day,
            "counts": dict(judge.counts),
            "last_run_at": iso(judge.judge.last_run_at),
            "last_end": judge.judge.last_end or None,
            "last_error": judge.judge.last_error or None,
        }
    if report.error is not None:
        answer["error"] = report.error
    return answer
