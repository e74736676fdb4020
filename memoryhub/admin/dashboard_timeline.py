"""The timeline's part of the admin's first page."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django.http import HttpRequest
from django.urls import reverse

from apps.core.admin.kit import filesize
from apps.episodic.domain.segment_state import SegmentState
from apps.episodic.domain.warnings import Severity
from apps.episodic.selectors import (
    RecordedDays,
    TimelineFigures,
    active_warnings,
    enabled_retention_count,
    recorded_by_day,
    timeline_figures,
)
from memoryhub.admin.navigation import may_view
from memoryhub.admin.tiles import Tile, bars

ROUGH = "Segments that were open over midnight and are archived count for the day that closed them."
HELD = (
    (SegmentState.OPEN, "open"),
    (SegmentState.SEALING, "being sealed"),
    (SegmentState.SEALED, "sealed"),
    (SegmentState.ARCHIVED, "archived"),
    (SegmentState.QUARANTINED, "damaged"),
)


def timeline_parts(request: HttpRequest, now: datetime) -> tuple[list[Tile], dict[str, Any]]:
    """Tiles: how many events there are, and what is wrong. Panels: what was recorded when, and where events are."""
    tiles: list[Tile] = []
    panels: dict[str, Any] = {}
    if may_view(request, "episodic.segment"):
        figures = timeline_figures()
        tiles.append(_event_tile(figures))
        panels["timeline"] = list(_facts(figures))
    if may_view(request, "episodic.timelineevent"):
        panels["recorded"] = _chart(recorded_by_day(now))
    if may_view(request, "episodic.timelinewarning"):
        tiles.append(_warning_tile())
    return tiles, panels


def _event_tile(figures: TimelineFigures) -> Tile:
    total, link = figures.hot + figures.archived, reverse("admin:episodic_segment_changelist")
    if figures.unreadable:
        note, tone = f"{figures.unreadable:,} more cannot be read", "bad"
    else:
        note, tone = f"{figures.archived:,} of them archived", ""
    return Tile("Timeline events", f"{total:,}", note, "timeline", link, tone)


def _warning_tile() -> Tile:
    active = list(active_warnings())
    link = f"{reverse('admin:episodic_timelinewarning_changelist')}?state=active"
    if not active:
        return Tile("Timeline warnings", "0", "all is well", "warning", link, "good")
    suspends = any(warning.severity != Severity.NOTICE for warning in active)
    note = "events are not made into memories" if suspends else "to be looked at"
    return Tile("Timeline warnings", f"{len(active):,}", note, "warning", link, "bad" if suspends else "warn")


def _chart(recorded: RecordedDays) -> dict[str, Any]:
    return {
        "bars": bars(recorded.by_day),
        "total": f"{recorded.total:,}",
        "note": ROUGH if recorded.is_rough else "",
    }


def _facts(figures: TimelineFigures) -> Iterator[tuple[str, str]]:
    counts = [f"{figures.segments[state]:,} {words}" for state, words in HELD if figures.segments[state]]
    yield "Segments", ", ".join(counts) or "none yet"
    yield "Events as rows", f"{figures.hot:,}"
    yield "Events in archived files", f"{figures.archived:,}"
    yield "Size of these files", filesize(figures.archive_bytes)
    enabled = enabled_retention_count()
    yield "Retention", f"{enabled} {'policy deletes' if enabled == 1 else 'policies delete'}" if enabled else "off"
