"""What the list of calls says at its top: how the calls of the last day ended, and how long they took."""

from collections.abc import Iterator
from typing import Any

from django.db.models import Count
from django.urls import reverse

from apps.core.admin.kit import took
from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.latency import Measurement, SampleQuality
from apps.llm.guards.calls import RECENT, recent_latencies
from apps.llm.models import CallOutcome, ModelCall

TONES = {
    CallOutcome.SUCCEEDED: "good",
    CallOutcome.REFUSED: "warn",
    CallOutcome.FAILED: "bad",
    CallOutcome.UNUSABLE: "bad",
}
SHOWN_PERCENTILES = ("p50", "p90", "p95", "p99")


def call_summary(clock: Clock = SYSTEM_CLOCK) -> dict[str, Any]:
    """Shares of the outcomes, and percentiles by provider."""
    recent = ModelCall.objects.filter(started_at__gte=utcnow(clock) - RECENT)
    counts = dict(recent.order_by().values_list("outcome").annotate(Count("pk")))
    return {
        "total": f"{sum(counts.values()):,}",
        "outcomes": list(_shares(counts)) if counts else [],
        "latencies": list(_latencies(clock)),
        "percentiles": SHOWN_PERCENTILES,
    }


def _shares(counts: dict[str, int]) -> Iterator[dict[str, Any]]:
    total, link = sum(counts.values()), reverse("admin:llm_modelcall_changelist")
    for outcome in CallOutcome:
        count = counts.get(outcome.value, 0)
        yield {
            "label": outcome.label,
            "count": f"{count:,}",
            "share": round(100 * count / total, 1),
            "tone": TONES[outcome],
            "link": f"{link}?outcome={outcome.value}",
        }


def _latencies(clock: Clock) -> Iterator[dict[str, Any]]:
    found = recent_latencies(clock=clock)
    slowest = max((measured.summary.p99 for measured in found.values()), default=0.0) or 1.0
    for provider, measured in sorted(found.items()):
        summary = measured.summary
        values = [(name, getattr(summary, name)) for name in SHOWN_PERCENTILES] if summary.count else []
        yield {
            "provider": provider,
            "bars": [
                {"name": name, "value": took(value), "share": f"{max(1.0, 100 * value / slowest):.1f}"}
                for name, value in values
            ],
            "note": _note(measured),
        }


def _note(measured: Measurement) -> str:
    """How far the figures can be trusted."""
    count = measured.summary.count
    if not count:
        return "only the first calls, which do not count"
    calls = f"{count:,} call{'' if count == 1 else 's'}"
    return f"{calls}: too few to conclude much" if measured.quality is SampleQuality.INSUFFICIENT else f"of {calls}"
