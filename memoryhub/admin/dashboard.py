"""The first page of the admin: an overview. Each part needs the permission to view what it counts."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from typing import Any

from django.http import HttpRequest
from django.urls import reverse

from apps.core.admin.kit import dollars, filesize, moment
from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.scope import system_access
from apps.core.health import OK, readiness
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
    memory_counts,
    open_conflicts,
    search_store,
)
from memoryhub.admin.navigation import may_view
from memoryhub.admin.tiles import Tile, bars

OVERDUE_SECONDS = 60
ROUGH = "Segments that were open over midnight and are archived count for the day that closed them."
SEGMENT_STATES = (
    (SegmentState.OPEN, "open"),
    (SegmentState.SEALING, "being sealed"),
    (SegmentState.SEALED, "sealed"),
    (SegmentState.ARCHIVED, "archived"),
    (SegmentState.QUARANTINED, "damaged"),
)
STATUS_TONES = {"active": "good", "superseded": "warn", "merged": "info", "rejected": "bad", "deleted": "bad"}


def dashboard(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """Return everything that templates/admin/index.html shows."""
    tiles: list[Tile] = []
    now = utcnow(SYSTEM_CLOCK)
    if may_view(request, "semantic.memory"):
        counts = memory_counts(system_access("admin"), now)
        active, link = counts.by_status[MemoryStatus.ACTIVE], reverse("admin:semantic_memory_changelist")
        users = f"of {counts.users:,} {'user' if counts.users == 1 else 'users'}"
        tiles.append(Tile("Active memories", f"{active:,}", users, "neurology", f"{link}?status__exact=active"))
        context |= {"days": bars(counts.by_day), "statuses": status_shares(counts), "saved": f"{counts.saved:,}"}
    if may_view(request, "semantic.conflict"):
        waiting, link = open_conflicts(system_access("admin")), reverse("admin:semantic_conflict_changelist")
        shown = f"{waiting:,}{'+' if waiting == MAX_COUNTED else ''}"
        note = "decided, and not yet accepted" if waiting else "every decision was reviewed"
        tiles.append(Tile("Conflicts to review", shown, note, "balance", link, "" if waiting else "good"))
    tiles += timeline_tiles(request, now, context)
    if may_view(request, "semantic.ingestion"):
        tiles.append(bridge_tile(bridge_status()))
    if may_view(request, "llm.budgetday"):
        rules = guard_rules()
        if configured := configured_models(rules=rules):
            tiles.append(spending_tile(budget_status(rules=rules), configured))
    if may_view(request, "events.delivery"):
        tiles += delivery_tiles(outbox_status())
    if may_view(request, "core.apikey"):
        used = ApiKey.objects.exclude(last_used_at=None).order_by("-last_used_at").first()
        note = f"last used {moment(used.last_used_at)}" if used else "none was used yet"
        link = reverse("admin:core_apikey_changelist")
        tiles.append(Tile("Valid API keys", f"{usable_keys(now).count():,}", note, "key", link))
    if may_view(request, "llm.embeddingspace"):
        context["search"] = search_rows(search_store())
    checks = [(name.capitalize(), answer, answer == OK) for name, answer in readiness().checks.items()]
    return context | {"title": "Overview", "tiles": tiles, "checks": checks}


def timeline_tiles(request: HttpRequest, now: datetime, context: dict[str, Any]) -> list[Tile]:
    """Return the tiles of the timeline, and add its panels to the context."""
    tiles: list[Tile] = []
    if may_view(request, "episodic.segment"):
        figures = timeline_figures()
        tiles.append(timeline_tile(figures))
        context["timeline"] = list(timeline_rows(figures))
    if may_view(request, "episodic.timelineevent"):
        recorded = recorded_by_day(now)
        note = ROUGH if recorded.is_rough else ""
        context["recorded"] = {"bars": bars(recorded.by_day), "total": f"{recorded.total:,}", "note": note}
    if may_view(request, "episodic.timelinewarning"):
        tiles.append(warning_tile())
    return tiles


def timeline_tile(figures: TimelineFigures) -> Tile:
    """Return how many events there are, and how many cannot be read."""
    total, link = figures.hot + figures.archived, reverse("admin:episodic_segment_changelist")
    if figures.unreadable:
        note, tone = f"{figures.unreadable:,} more cannot be read", "bad"
    else:
        note, tone = f"{figures.archived:,} of them archived", ""
    return Tile("Timeline events", f"{total:,}", note, "timeline", link, tone)


def timeline_rows(figures: TimelineFigures) -> Iterator[tuple[str, str]]:
    """Yield where the events of the timeline are stored."""
    counts = [f"{figures.segments[state]:,} {words}" for state, words in SEGMENT_STATES if figures.segments[state]]
    yield "Segments", ", ".join(counts) or "none yet"
    yield "Events as rows", f"{figures.hot:,}"
    yield "Events in archived files", f"{figures.archived:,}"
    yield "Size of these files", filesize(figures.archive_bytes)
    enabled = enabled_retention_count()
    yield "Retention", f"{enabled} {'policy deletes' if enabled == 1 else 'policies delete'}" if enabled else "off"


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


def delivery_tiles(status: OutboxStatus) -> list[Tile]:
    """Return how many deliveries are pending and failed."""
    link = reverse("admin:events_delivery_changelist")
    late = status.overdue_seconds > OVERDUE_SECONDS
    note = f"the longest is due since {status.overdue_seconds / 60:,.0f} min" if late else "on their way to subscribers"
    failed = "given up, to be reviewed" if status.failed else "none was given up"
    return [
        Tile(
            "Pending deliveries", f"{status.pending:,}", note, "outbox", f"{link}?status__exact=pending", "warn" * late
        ),
        Tile(
            "Failed deliveries",
            f"{status.failed:,}",
            failed,
            "error",
            f"{link}?status__exact=failed",
            "bad" if status.failed else "good",
        ),
    ]


def status_shares(counts: MemoryCounts) -> list[dict[str, Any]]:
    """Return each status with its share of the memories."""
    total = sum(counts.by_status.values()) or 1
    link = reverse("admin:semantic_memory_changelist")
    return [
        {
            "label": MemoryStatus(status).label,
            "count": f"{count:,}",
            "share": round(100 * count / total, 1),
            "tone": STATUS_TONES[status],
            "link": f"{link}?status__exact={status}",
        }
        for status, count in counts.by_status.items()
    ]


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
