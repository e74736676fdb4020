"""Tiles of the first page: a number, and what is behind it. Each needs the permission to view what it counts."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime

from django.http import HttpRequest
from django.urls import reverse

from apps.cockpit.viewer import may_view_hub
from apps.core.admin.kit import dollars, filesize, may_view, moment, operator_access
from apps.core.models import ApiKey
from apps.core.selectors import usable_keys
from apps.episodic.domain.segment_state import SegmentState
from apps.episodic.domain.warnings import Severity
from apps.episodic.selectors import (
    TimelineFigures,
    active_warnings,
    enabled_retention_count,
    recorded_by_day,
    timeline_figures,
)
from apps.events.selectors import OutboxStatus, outbox_status
from apps.llm.domain.breaker import Phase
from apps.llm.services import BudgetStatus, ConfiguredModel, budget_status, configured_models, guard_rules
from apps.semantic.selectors import MemoryStatus
from apps.semantic.services import (
    MAX_COUNTED,
    BridgeStatus,
    MemoryCounts,
    SearchStore,
    bridge_status,
    open_conflicts,
)

OVERDUE_SECONDS = 60
SEGMENT_STATES = (
    (SegmentState.OPEN, "open"),
    (SegmentState.SEALING, "being sealed"),
    (SegmentState.SEALED, "sealed"),
    (SegmentState.ARCHIVED, "archived"),
    (SegmentState.QUARANTINED, "damaged"),
)
STATUS_TONES = {"active": "good", "superseded": "warn", "merged": "info", "rejected": "bad", "deleted": "bad"}


@dataclass(frozen=True)
class Tile:
    """A number, what it counts, and a link to details. tone: good, warn, bad or empty."""

    label: str
    value: str
    note: str
    icon: str
    link: str
    tone: str = ""


def tiles_for(request: HttpRequest, counts: MemoryCounts | None, now: datetime) -> Iterator[Tile]:
    """Yield the tiles that the viewer may see."""
    if counts is not None:
        yield memory_tile(counts)
    if may_view(request, "semantic.conflict"):
        yield conflict_tile(open_conflicts(operator_access(request)))
    if may_view_hub(request, "episodic.segment"):
        yield timeline_tile(timeline_figures())
    if may_view_hub(request, "episodic.timelinewarning"):
        yield warning_tile()
    if may_view_hub(request, "semantic.ingestion"):
        yield bridge_tile(bridge_status())
    if may_view_hub(request, "llm.budgetday"):
        rules = guard_rules()
        if configured := configured_models(rules=rules):
            yield spending_tile(budget_status(rules=rules), configured)
    if may_view_hub(request, "events.delivery"):
        yield from delivery_tiles(outbox_status())
    if may_view_hub(request, "core.apikey"):
        yield key_tile(now)


def memory_tile(counts: MemoryCounts) -> Tile:
    """Return how many memories are active, and how many are new."""
    active, link = counts.by_status[MemoryStatus.ACTIVE], reverse("admin:semantic_memory_changelist")
    users = f"of {counts.users:,} {'user' if counts.users == 1 else 'users'}"
    note = f"{users}, {counts.saved:,} saved in 7 days" if counts.saved else users
    return Tile("Active memories", f"{active:,}", note, "neurology", f"{link}?status__exact=active")


def conflict_tile(waiting: int) -> Tile:
    """Return how many decisions are not accepted yet."""
    shown = f"{waiting:,}{'+' if waiting == MAX_COUNTED else ''}"
    note = "decided, and not yet accepted" if waiting else "every decision was reviewed"
    link = reverse("admin:semantic_conflict_changelist")
    return Tile("Conflicts to review", shown, note, "balance", link, "" if waiting else "good")


def timeline_tile(figures: TimelineFigures) -> Tile:
    """Return how many events there are, and how many cannot be read."""
    total, link = figures.hot + figures.archived, reverse("admin:episodic_segment_changelist")
    if figures.unreadable:
        note, tone = f"{figures.unreadable:,} more cannot be read", "bad"
    else:
        note, tone = f"{figures.archived:,} of them archived", ""
    return Tile("Timeline events", f"{total:,}", note, "timeline", link, tone)


def warning_tile() -> Tile:
    """Return how many warnings of the timeline are active, and whether they suspend the bridge."""
    active = list(active_warnings())
    link = f"{reverse('admin:episodic_timelinewarning_changelist')}?state=active"
    if not active:
        return Tile("Timeline warnings", "0", "none is active", "warning", link, "good")
    suspends = any(warning.severity != Severity.NOTICE for warning in active)
    note = "events do not become memories" if suspends else "to be reviewed"
    return Tile("Timeline warnings", f"{len(active):,}", note, "warning", link, "bad" if suspends else "warn")


def bridge_tile(status: BridgeStatus) -> Tile:
    """Return whether events of the timeline become memories, and how many are waiting."""
    link = reverse("admin:semantic_ingestion_changelist")
    tile = Tile("Events to become memories", f"{status.pending:,}", "none is waiting", "move_down", link)
    if status.is_suspended:
        kinds = ", ".join(sorted({one.kind.replace("_", " ") for one in status.suspended_by}))
        return replace(tile, note=f"suspended by a warning: {kinds}", tone="warn")
    if status.failed:
        note = f"{status.failed:,} could not become one, to be reviewed"
        return replace(tile, note=note, tone="bad", link=f"{link}?status__exact=failed")
    if status.pending:
        return replace(tile, note=f"the oldest is {status.timeline_lag_ms / 1000:,.0f} s old")
    return tile if status.policies else replace(tile, note="no routing policy is switched on")


def spending_tile(budget: BudgetStatus, configured: list[ConfiguredModel]) -> Tile:
    """Return what was spent on models today, and why calls are refused, if they are."""
    link = reverse("admin:llm_budgetday_changelist")
    tone = ""
    if budget.limit is None:
        note = "no budget is set"
    else:
        note = f"{budget.percent:.0f}% of {dollars(budget.limit)}"
        tone = budget.tone.replace("good", "")
    if broken := [model.provider for model in configured if model.breaker.phase is not Phase.CLOSED]:
        note, tone = f"the breaker of {broken[0]} is not closed", "bad"
    elif refused := [model.model for model in configured if not model.passes]:
        note, tone = f"{refused[0]} has no price, so it is not called", "bad"
    return Tile("Spent on models today", dollars(budget.spent), note, "account_balance_wallet", link, tone)


def delivery_tiles(status: OutboxStatus) -> Iterator[Tile]:
    """Yield how many deliveries are pending and failed."""
    link = reverse("admin:events_delivery_changelist")
    late = status.overdue_seconds > OVERDUE_SECONDS
    note = f"the longest is due since {status.overdue_seconds / 60:,.0f} min" if late else "on their way to subscribers"
    pending = f"{link}?status__exact=pending"
    yield Tile("Pending deliveries", f"{status.pending:,}", note, "outbox", pending, "warn" * late)
    note, tone = ("given up, to be reviewed", "bad") if status.failed else ("none was given up", "good")
    yield Tile("Failed deliveries", f"{status.failed:,}", note, "error", f"{link}?status__exact=failed", tone)


def key_tile(now: datetime) -> Tile:
    """Return how many API keys are valid, and when one was used."""
    used = ApiKey.objects.exclude(last_used_at=None).order_by("-last_used_at").first()
    note = f"last used {moment(used.last_used_at)}" if used else "none was used yet"
    return Tile("Valid API keys", f"{usable_keys(now).count():,}", note, "key", reverse("admin:core_apikey_changelist"))


def status_rows(counts: MemoryCounts) -> list[dict[str, str]]:
    """Return each status with its share of the memories, in percent."""
    total = sum(counts.by_status.values()) or 1
    link = reverse("admin:semantic_memory_changelist")
    return [
        {
            "label": str(MemoryStatus(status).label),
            "count": f"{count:,}",
            "share": f"{100 * count / total:.1f}",
            "tone": STATUS_TONES[status],
            "link": f"{link}?status__exact={status}",
        }
        for status, count in counts.by_status.items()
    ]


def timeline_rows(request: HttpRequest, now: datetime) -> Iterator[tuple[str, str]]:
    """Yield where the events of the timeline are stored, and how many are new."""
    if may_view_hub(request, "episodic.segment"):
        figures = timeline_figures()
        counts = [f"{figures.segments[state]:,} {words}" for state, words in SEGMENT_STATES if figures.segments[state]]
        yield "Segments", ", ".join(counts) or "none yet"
        yield "Events as rows", f"{figures.hot:,}"
        yield "Events in archived files", f"{figures.archived:,}"
        yield "Size of these files", filesize(figures.archive_bytes)
        on = enabled_retention_count()
        yield "Retention", f"{on} {'policy deletes' if on == 1 else 'policies delete'}" if on else "off"
    if may_view_hub(request, "episodic.timelineevent"):
        recorded = recorded_by_day(now)
        yield "Recorded in the last 7 days", f"{'about ' if recorded.is_rough else ''}{recorded.total:,}"


def search_rows(store: SearchStore) -> list[tuple[str, str]]:
    """Return the state of the vectors and of the search cache."""
    space = f"{store.space.model}, {store.space.dimension} dimensions" if store.space else "none yet"
    users = f"{store.cache_users:,} {'user' if store.cache_users == 1 else 'users'}"
    return [
        ("Embedding space", space),
        ("Active memories without a vector in it", f"{store.missing:,}"),
        ("Search cache of this process", f"{filesize(store.cache_bytes)} of {filesize(store.cache_limit)}, {users}"),
        ("Memories, vectors and history on disk", filesize(store.stored_bytes)),
    ]
