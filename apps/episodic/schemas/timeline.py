"""Inputs and outputs of the API for the state of the timeline: its status, warnings and segments."""

from typing import Annotated, TypedDict

from rest_framework import serializers

from apps.core.schemas.fields import StrictChoiceField
from apps.core.schemas.outputs import Moment, Uuid, iso, render
from apps.core.schemas.paging import cursor_field, limit_field
from apps.core.schemas.serializers import StrictSerializer
from apps.episodic.domain.alarms import HINTS, WarningKind
from apps.episodic.models import Segment
from apps.episodic.models.segment import (
    ROWS_STATE_CHOICES,
    SEGMENT_STATE_CHOICES,
    SEVERITY_CHOICES,
    WARNING_KIND_CHOICES,
)
from apps.episodic.selectors import TimelineStatus

READINESS = ("ready", "not_ready")


class WarningOutput(TypedDict):
    """Something that is wrong with the timeline."""

    kind: Annotated[str, serializers.ChoiceField(choices=WARNING_KIND_CHOICES)]
    severity: Annotated[str, serializers.ChoiceField(choices=SEVERITY_CHOICES)]
    detail: str
    hint: Annotated[str, "What to do about it."]
    segment_id: Uuid | None
    began_at: Moment
    last_seen_at: Moment


class EventCountsOutput(TypedDict):
    """How many events; all but `total` are null for a key with a bound."""

    total: Annotated[int | None, "That this key can see; null while it is loading."]
    hot: Annotated[int | None, "In the database, as rows."]
    archived: Annotated[int | None, "In segment files."]
    unreadable: Annotated[int | None, "In damaged files, and so missing from every answer."]


class TimelineStatusOutput(TypedDict):
    """The state of the timeline. What covers the events of all users is null for a key with a bound."""

    status: Annotated[str, serializers.ChoiceField(choices=READINESS)]
    detail: Annotated[str | None, "Why it is not ready."]
    healthy: Annotated[bool, "False while no events become memories."]
    events: EventCountsOutput
    segments: Annotated[dict[str, int] | None, "How many there are, by state."]
    archive_bytes: Annotated[int | None, "The size of the files in service."]
    warnings: list[WarningOutput] | None


def status_json(status: TimelineStatus) -> TimelineStatusOutput:
    """Return the answer that reports a status."""
    figures = status.figures
    return {
        "status": READINESS[0] if status.problem is None else READINESS[1],
        "detail": status.problem,
        "healthy": status.healthy,
        "events": {
            "total": status.total,
            "hot": figures.hot if figures else None,
            "archived": figures.archived if figures else None,
            "unreadable": figures.unreadable if figures else None,
        },
        "segments": {state.value: count for state, count in figures.segments.items()} if figures else None,
        "archive_bytes": figures.archive_bytes if figures else None,
        "warnings": None
        if status.warnings is None
        else [
            {
                "kind": warning.kind,
                "severity": warning.severity,
                "detail": warning.detail,
                "hint": HINTS[WarningKind(warning.kind)],
                "segment_id": str(warning.segment.uuid) if warning.segment else None,
                "began_at": iso(warning.began_at),
                "last_seen_at": iso(warning.last_seen_at),
            }
            for warning in status.warnings
        ],
    }


class SegmentListInput(StrictSerializer):
    """The query string of the list of segments."""

    state = StrictChoiceField(choices=SEGMENT_STATE_CHOICES, required=False)
    limit = limit_field()
    cursor = cursor_field()


class SegmentOutput(TypedDict):
    """A segment: a stretch of the timeline that is sealed, archived, merged and pruned as one."""

    id: Uuid
    state: Annotated[str, serializers.ChoiceField(choices=SEGMENT_STATE_CHOICES)]
    rows: Annotated[str, serializers.ChoiceField(choices=ROWS_STATE_CHOICES), "What is left of its rows."]
    event_count: int
    first_timestamp: Annotated[Moment | None, "Of its events, once it is sealed."]
    last_timestamp: Moment | None
    file_name: Annotated[str | None, "In the directory `timeline`, without its extension."]
    format_version: int | None
    size_bytes: int
    sha256: str | None
    opened_at: Moment
    closed_at: Moment | None
    sealed_at: Moment | None
    archived_at: Moment | None
    ended_at: Annotated[Moment | None, "When it was compacted or pruned."]
    checked_at: Annotated[Moment | None, "When its file was last read from end to end."]
    damage: Annotated[str | None, "What is wrong with its file."]
    lost_count: Annotated[int, "Events that could not be saved from a damaged file."]
    replaced_by: Annotated[Uuid | None, "The segment that holds its events now."]


def segment_json(segment: Segment, events: int) -> SegmentOutput:
    """Return the answer that describes a segment. events: its present number of events."""
    return render(
        SegmentOutput,
        segment,
        event_count=events,
        file_name=segment.file_name or None,
        format_version=segment.format_version or None,
        sha256=segment.sha256 or None,
        damage=segment.damage or None,
        replaced_by=str(segment.replaced_by.uuid) if segment.replaced_by else None,
    )
