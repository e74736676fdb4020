"""The first page of the admin: how the hub is, at a glance. Each part needs the permission to view what it counts."""

from dataclasses import replace
from typing import Any

from django.http import HttpRequest
from django.urls import reverse

from apps.core.admin.kit import filesize, moment
from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.scope import system_access
from apps.core.health import OK, readiness
from apps.core.models import ApiKey
from apps.core.selectors import usable_keys
from apps.events.selectors import OutboxStatus, outbox_status
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
from memoryhub.admin.dashboard_models import model_tiles
from memoryhub.admin.dashboard_timeline import timeline_parts
from memoryhub.admin.navigation import may_view
from memoryhub.admin.tiles import Tile, bars

OVERDUE_SECONDS = 60
STATUS_TONES = {"active": "good", "superseded": "warn", "merged": "info", "rejected": "bad", "deleted": "bad"}


def dashboard(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """Everything that templates/admin/index.html shows."""
    tiles: list[Tile] = []
    if may_view(request, "semantic.memory"):
        counts = memory_counts(system_access("admin"), utcnow(SYSTEM_CLOCK))
        tiles += _memory_tiles(counts)
        context |= {"days": bars(counts.by_day), "statuses": _shares(counts), "saved": f"{counts.saved:,}"}
    if may_view(request, "semantic.conflict"):
        tiles.append(_conflict_tile())
    timeline_tiles, timeline_panels = timeline_parts(request, utcnow(SYSTEM_CLOCK))
    tiles += timeline_tiles
    context |= timeline_panels
    if may_view(request, "semantic.ingestion"):
        tiles.append(_bridge_tile(bridge_status()))
    tiles += model_tiles(request)
    if may_view(request, "events.delivery"):
        tiles += _event_tiles(outbox_status())
    if may_view(request, "core.apikey"):
        tiles.append(_key_tile())
    if may_view(request, "llm.embeddingspace"):
        context["search"] = _search_rows(search_store())
    checks = [(name.capitalize(), answer, answer == OK) for name, answer in readiness().checks.items()]
    return context | {"title": "Overview", "tiles": tiles, "checks": checks}


def _memory_tiles(counts: MemoryCounts) -> list[Tile]:
    active, link = counts.by_status[MemoryStatus.ACTIVE], reverse("admin:semantic_memory_changelist")
    users = f"of {counts.users:,} {'user' if counts.users == 1 else 'users'}"
    return [Tile("Active memories", f"{active:,}", users, "neurology", f"{link}?status__exact=active")]


def _conflict_tile() -> Tile:
    waiting, link = open_conflicts(system_access("admin")), reverse("admin:semantic_conflict_changelist")
    shown = f"{waiting:,}{'+' if waiting == MAX_COUNTED else ''}"
    note = "decided, and not yet accepted" if waiting else "every decision was looked at"
    return Tile("Conflicts to look at", shown, note, "balance", link, "" if waiting else "good")


def _bridge_tile(status: BridgeStatus) -> Tile:
    """Whether events of the timeline become memories, and how many wait for it."""
    link = reverse("admin:semantic_ingestion_changelist")
    tile = Tile("Events to become memories", f"{status.pending:,}", "none waits", "move_down", link)
    if status.is_suspended:
        kinds = ", ".join(sorted({one.kind.replace("_", " ") for one in status.suspended_by}))
        return replace(tile, note=f"suspended by a warning: {kinds}", tone="warn")
    if status.failed:
        note = f"{status.failed:,} could not become one, to be looked at"
        return replace(tile, note=note, tone="bad", link=f"{link}?status__exact=failed")
    if status.pending:
        return replace(tile, note=f"the oldest is {status.timeline_lag_ms / 1000:,.0f} s old")
    return tile if status.policies else replace(tile, note="no routing policy is switched on")


def _event_tiles(status: OutboxStatus) -> list[Tile]:
    link = reverse("admin:events_delivery_changelist")
    late = status.overdue_seconds > OVERDUE_SECONDS
    note = f"the longest is due since {status.overdue_seconds / 60:,.0f} min" if late else "on their way to subscribers"
    failed = "given up, to be looked at" if status.failed else "none was given up"
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


def _key_tile() -> Tile:
    used = ApiKey.objects.exclude(last_used_at=None).order_by("-last_used_at").first()
    note = f"last used {moment(used.last_used_at)}" if used else "none was used yet"
    count = usable_keys(utcnow(SYSTEM_CLOCK)).count()
    return Tile("Valid API keys", f"{count:,}", note, "key", reverse("admin:core_apikey_changelist"))


def _shares(counts: MemoryCounts) -> list[dict[str, Any]]:
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


def _search_rows(store: SearchStore) -> list[tuple[str, str]]:
    space = f"{store.space.model}, {store.space.dimension} dimensions" if store.space else "none yet"
    users = f"{store.cache_users:,} {'user' if store.cache_users == 1 else 'users'}"
    return [
        ("Embedding space", space),
        ("Active memories without a vector in it", f"{store.missing:,}"),
        ("Search cache of this process", f"{filesize(store.cache_bytes)} of {filesize(store.cache_limit)}, {users}"),
        ("Memories, vectors and history on disk", filesize(store.stored_bytes)),
    ]
