"""What answers of the timeline look like: the shapes for the OpenAPI document, and plain functions that fill them.

Functions, because a batch answers with a thousand events and DRF's field machinery would take longer than recording.
"""

from datetime import datetime
from typing import Any

from rest_framework import serializers

from apps.core.schemas.fields import JSONObjectField
from apps.core.schemas.serializers import ProblemItem
from apps.episodic.domain.event import EventRecord
from apps.episodic.domain.warnings import HINTS, WarningKind
from apps.episodic.models import Segment, TimelineWarning
from apps.episodic.models.segment import RowsStateChoices, SegmentStateChoices
from apps.episodic.models.warning import SeverityChoices, WarningKindChoices
from apps.episodic.recording.record import RecordAction, RecordResult
from apps.episodic.selectors import TimelineStatus

AnySerializer = serializers.Serializer[Any]
RECORD_ACTIONS = tuple(action.value for action in RecordAction)
READINESS = ("ready", "not_ready")


def iso(moment: datetime | None) -> str | None:
    """ISO 8601 in UTC, with microseconds where there are any."""
    return None if moment is None else moment.isoformat().replace("+00:00", "Z")


class EventOutput(AnySerializer):
    """An event."""

    id = serializers.UUIDField()
    user_id = serializers.CharField()
    household_id = serializers.CharField(allow_null=True)
    persona_id = serializers.CharField(allow_null=True)
    timestamp = serializers.DateTimeField(help_text="When it happened.")
    event_type = serializers.CharField()
    content = serializers.CharField()
    importance = serializers.FloatField()
    source = serializers.CharField()
    metadata = JSONObjectField()
    recorded_at = serializers.DateTimeField(help_text="When the hub was told.")


def event_json(record: EventRecord) -> dict[str, Any]:
    """An event as EventOutput describes it."""
    return {
        "id": str(record.uuid),
        "user_id": record.key.user_id,
        "household_id": record.key.household_id or None,
        "persona_id": record.key.persona_id or None,
        "timestamp": iso(record.timestamp),
        "event_type": record.event_type,
        "content": record.content,
        "importance": record.importance,
        "source": record.source,
        "metadata": record.metadata,
        "recorded_at": iso(record.recorded_at),
    }


class RecordOutput(AnySerializer):
    """What recording did."""

    action = serializers.ChoiceField(choices=RECORD_ACTIONS)
    event = EventOutput(help_text="The event as it is kept; of a duplicate, as it was recorded first.")


def record_json(result: RecordResult) -> dict[str, Any]:
    """A recording as RecordOutput describes it."""
    return {"action": result.action.value, "event": event_json(result.record)}


class EventBatchItemOutput(AnySerializer):
    """What became of one item: as in recording one, or `errors`."""

    status = serializers.IntegerField(help_text="The HTTP status that recording it alone would have had.")
    action = serializers.ChoiceField(choices=RECORD_ACTIONS, required=False)
    event = EventOutput(required=False)
    type = serializers.CharField(required=False)
    errors = ProblemItem(many=True, required=False)


class EventBatchOutput(AnySerializer):
    """One answer per item, in order."""

    results = EventBatchItemOutput(many=True)
    count = serializers.IntegerField()


class WarningOutput(AnySerializer):
    """Something that is wrong with the timeline."""

    kind = serializers.ChoiceField(choices=WarningKindChoices.choices)
    severity = serializers.ChoiceField(choices=SeverityChoices.choices)
    detail = serializers.CharField()
    hint = serializers.CharField(help_text="What to do about it.")
    segment_id = serializers.UUIDField(allow_null=True)
    began_at = serializers.DateTimeField()
    last_seen_at = serializers.DateTimeField()


def warning_json(warning: TimelineWarning) -> dict[str, Any]:
    """A warning as WarningOutput describes it."""
    return {
        "kind": warning.kind,
        "severity": warning.severity,
        "detail": warning.detail,
        "hint": HINTS[WarningKind(warning.kind)],
        "segment_id": str(warning.segment.uuid) if warning.segment else None,
        "began_at": iso(warning.began_at),
        "last_seen_at": iso(warning.last_seen_at),
    }


class EventCountsOutput(AnySerializer):
    """How many events; all but `total` are null for a key with a bound."""

    total = serializers.IntegerField(allow_null=True, help_text="That this key can see; null while it is loading.")
    hot = serializers.IntegerField(allow_null=True, help_text="Are rows.")
    archived = serializers.IntegerField(allow_null=True, help_text="Are in segment files.")
    unreadable = serializers.IntegerField(allow_null=True, help_text="Are in damaged files, and in no answer.")


class TimelineStatusOutput(AnySerializer):
    """How the timeline is. What is about everybody's events is null for a key with a bound."""

    status = serializers.ChoiceField(choices=READINESS)
    detail = serializers.CharField(allow_null=True, help_text="Why it is not ready.")
    healthy = serializers.BooleanField(help_text="False while events are not made into memories.")
    events = EventCountsOutput()
    segments = serializers.DictField(
        child=serializers.IntegerField(), allow_null=True, help_text="How many there are, by state."
    )
    archive_bytes = serializers.IntegerField(allow_null=True, help_text="The size of the files in service.")
    warnings = WarningOutput(many=True, allow_null=True)


def status_json(status: TimelineStatus) -> dict[str, Any]:
    """A status as TimelineStatusOutput describes it."""
    figures = status.figures
    return {
        "status": READINESS[0] if status.problem is None else READINESS[1],
        "detail": status.problem,
        "healthy": status.healthy,
        "events": {
            "total": status.total,
            "hot": figures and figures.hot,
            "archived": figures and figures.archived,
            "unreadable": figures and figures.unreadable,
        },
        "segments": figures and {state.value: count for state, count in figures.segments.items()},
        "archive_bytes": figures and figures.archive_bytes,
        "warnings": None if status.warnings is None else [warning_json(warning) for warning in status.warnings],
    }


class SegmentOutput(AnySerializer):
    """A segment: a stretch of the timeline that is sealed, archived, merged and pruned as one."""

    id = serializers.UUIDField()
    state = serializers.ChoiceField(choices=SegmentStateChoices.choices)
    rows = serializers.ChoiceField(choices=RowsStateChoices.choices, help_text="What is left of its rows.")
    event_count = serializers.IntegerField()
    first_timestamp = serializers.DateTimeField(allow_null=True, help_text="Of its events, once it is sealed.")
    last_timestamp = serializers.DateTimeField(allow_null=True)
    file_name = serializers.CharField(allow_null=True, help_text="In the directory `timeline`, without its ending.")
    format_version = serializers.IntegerField(allow_null=True)
    size_bytes = serializers.IntegerField()
    sha256 = serializers.CharField(allow_null=True)
    opened_at = serializers.DateTimeField()
    closed_at = serializers.DateTimeField(allow_null=True)
    sealed_at = serializers.DateTimeField(allow_null=True)
    archived_at = serializers.DateTimeField(allow_null=True)
    ended_at = serializers.DateTimeField(allow_null=True, help_text="When it was compacted or pruned.")
    checked_at = serializers.DateTimeField(allow_null=True, help_text="When its file was last read from end to end.")
    damage = serializers.CharField(allow_null=True, help_text="What is wrong with its file.")
    lost_count = serializers.IntegerField(help_text="Events that could not be saved from a damaged file.")
    replaced_by = serializers.UUIDField(allow_null=True, help_text="The segment that holds its events now.")


class SegmentPageOutput(AnySerializer):
    """A page of segments, the newest first."""

    next = serializers.URLField(allow_null=True)
    results = SegmentOutput(many=True)


def segment_json(segment: Segment, events: int) -> dict[str, Any]:
    """A segment as SegmentOutput describes it. events: how many it has by now."""
    moments = ("first_timestamp", "last_timestamp", "opened_at", "closed_at", "sealed_at", "archived_at", "ended_at",
               "checked_at")  # fmt: skip
    return {
        "id": str(segment.uuid),
        "state": segment.state,
        "rows": segment.rows,
        "event_count": events,
        "file_name": segment.file_name or None,
        "format_version": segment.format_version or None,
        "size_bytes": segment.size_bytes,
        "sha256": segment.sha256 or None,
        "damage": segment.damage or None,
        "lost_count": segment.lost_count,
        "replaced_by": str(segment.replaced_by.uuid) if segment.replaced_by else None,
        **{name: iso(getattr(segment, name)) for name in moments},
    }
