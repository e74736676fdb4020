"""What a retention policy would delete, over the bars of all the events that it is for, before anything is changed."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.http import HttpRequest
from django.urls import reverse

from apps.core.admin.kit import operator_access
from apps.core.admin.lists import comparable
from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.errors import MemoryHubError
from apps.core.domain.scope import Access, Scope
from apps.core.pages.sayings import say
from apps.episodic.admin.columns import count_of
from apps.episodic.admin.timeline_bars import draw
from apps.episodic.domain.event import MICROSECOND
from apps.episodic.domain.histogram import Buckets, EventHistogram, plan_buckets
from apps.episodic.domain.retention import GLOBAL_HOUSEHOLD, RetentionRule, cutoffs_at
from apps.episodic.domain.window import Window
from apps.episodic.models import RetentionPolicy
from apps.episodic.selectors import event_extent, event_histogram

ASKED = ("household", "days")
# As many as the column of a policy holds.
MAX_DAYS = 2_147_483_647
SHORTEST_SLIDER = 30


@dataclass(frozen=True)
class Governed:
    """The events that a policy is for: those of a household, or for the global one of all households without their own.

    others: households with policies of their own, when it is the global one.
    """

    scope: Scope
    others: tuple[str, ...] = ()

    def count(self, access: Access, buckets: Buckets, window: Window = Window()) -> EventHistogram:  # noqa: B008
        """Count these events by time and type."""
        found = event_histogram(access, self.scope, buckets, window=window)
        totals = {name: Counter(dict(enumerate(counts))) for name, counts in found.counts.items()}
        for household in self.others:
            theirs = event_histogram(access, Scope(household_id=household), buckets, window=window)
            for name, counts in theirs.counts.items():
                totals[name].subtract(dict(enumerate(counts)))
        kept = {name: [counts[number] for number in range(buckets.count)] for name, counts in totals.items()}
        return EventHistogram(buckets, {name: counts for name, counts in kept.items() if any(counts)}, found.since)


def governed_by(policy: RetentionPolicy) -> Governed:
    """Return the events that a policy is for."""
    if policy.household_id != GLOBAL_HOUSEHOLD:
        return Governed(Scope(household_id=policy.household_id))
    own = RetentionPolicy.objects.exclude(household_id=GLOBAL_HOUSEHOLD).order_by("household_id")
    return Governed(Scope(), tuple(own.values_list("household_id", flat=True)))


def horizon_context(request: HttpRequest, asked: Mapping[str, Any], may_change: bool) -> dict[str, Any]:
    """Return the slider, the bars and what would go, for the policy and the days that are asked for."""
    policies = list(RetentionPolicy.objects.order_by("household_id"))
    household = comparable(asked.get(ASKED[0]))
    policy = next((one for one in policies if one.household_id == household), policies[0] if policies else None)
    if policy is None:
        return {}
    given = str(asked.get(ASKED[1]) or "")
    days = int(given) if given.isascii() and given.isdecimal() and len(given) < 11 else 0
    now, days = utcnow(SYSTEM_CLOCK), days if 1 <= days <= MAX_DAYS else policy.days
    context = {"policies": policies, "policy": policy, "days": days, "now": now, "may_change": may_change}
    try:
        return {"horizon": context | going_context(operator_access(request), policy, days, now)}
    except MemoryHubError as error:
        return {"horizon": {**context, "problem": say(str(error.detail))}}


def going_context(access: Access, policy: RetentionPolicy, days: int, now: datetime) -> dict[str, Any]:
    """Return the bars of a policy's events, and how many of each type are older than so many days."""
    governed = governed_by(policy)
    first, last = event_extent(access, governed.scope) or (now, now)
    buckets = plan_buckets(first, max(last, now) + MICROSECOND)
    before = cutoffs_at([RetentionRule("", days, is_enabled=True)], now).of("")
    going = governed.count(access, buckets, Window(None, before - MICROSECOND)).by_type if before else {}
    drawing = draw(governed.count(access, buckets), None)
    return {
        "drawing": drawing,
        "all_words": count_of(drawing.total, "event"),
        "days_words": count_of(days, "day"),
        "before": before,
        "going": going,
        "total": sum(going.values()),
        "longest": max(SHORTEST_SLIDER, (now - first) // timedelta(days=1) + 1, policy.days),
        "change": reverse("admin:episodic_retentionpolicy_change", args=[policy.pk]),
    }
