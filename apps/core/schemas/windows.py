"""Spans of time in requests, and the time zone in which their days are meant."""

import datetime as dt
import re
from typing import Any
from zoneinfo import ZoneInfo

from rest_framework import serializers

from apps.core.domain.zones import MAX_ZONE_CHARS, end_of, find_zone, start_of
from apps.core.schemas.fields import AwareDateTimeField, OffsetDateTimeField, StrictCharField
from apps.core.schemas.serializers import StrictSerializer

MAX_DAYS = 36_500
DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
NAIVE = "A datetime needs an offset, for example 2023-05-08T13:56:00Z, unless the request has a `timezone`."
BOTH_ENDS = "Inclusive. With a `timezone`, also a date or a datetime without an offset, in that zone."
Fields = dict[str, serializers.Field[Any, Any, Any, Any]]


class TimezoneField(StrictCharField):
    """A time zone by its IANA name; returns the zone."""

    default_error_messages = {"unknown_timezone": "Expected an IANA name of a time zone, for example Europe/Berlin."}

    def __init__(self, **kwargs: Any) -> None:
        meaning = (
            "IANA name, for example Europe/Berlin: used for `last_days`, for dates and datetimes "
            "without an offset, and for days and weekdays in the query. Default: UTC; for days in a "
            "query, the writer's day."
        )
        options = {"required": False, "allow_null": True, "max_length": MAX_ZONE_CHARS, "help_text": meaning, **kwargs}
        super().__init__(**options)

    def run_validation(self, data: Any = serializers.empty) -> Any:
        """Return the zone, or None where the request names none."""
        name = super().run_validation(data)
        if name is None:
            return None
        try:
            return find_zone(name)
        except ValueError:
            self.fail("unknown_timezone")


class AskedAtField(OffsetDateTimeField):
    """When a question is asked, in the offset of whoever asks."""

    def __init__(self, **kwargs: Any) -> None:
        meaning = (
            "When the query is asked, with an offset: for times in it such as `last summer`. Default: now. "
            "Without a `timezone`, they are meant in this offset."
        )
        super().__init__(**{"required": False, "allow_null": True, "help_text": meaning, **kwargs})


class WindowEndField(AwareDateTimeField):
    """An end of a window: a datetime, or a date or a datetime without an offset for `settle_window`."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"required": False, "allow_null": True, "help_text": BOTH_ENDS, **kwargs})

    def to_internal_value(self, value: Any) -> Any:
        """Return an aware datetime in UTC, a naive one, or a date."""
        try:
            day = dt.date.fromisoformat(value)
        except (ValueError, TypeError):
            return super().to_internal_value(value)
        # Other ways to write a day would be read as its midnight.
        return day if DAY.fullmatch(value) else self.fail("invalid", format="YYYY-MM-DD")

    def enforce_timezone(self, value: dt.datetime) -> dt.datetime:
        """Leave a datetime without an offset as it is."""
        return value if value.tzinfo is None else super().enforce_timezone(value)


def window_ends() -> Fields:
    """Return the fields of the two ends, both included; `from` is a keyword of Python, so they are added by name."""
    return {"from": WindowEndField(source="start"), "to": WindowEndField(source="end")}


class WindowInput(StrictSerializer):
    """A span of time, both ends included; to be settled by `settle_window` once the time zone is known."""

    def get_fields(self) -> Fields:
        return window_ends()


def settle_window(window: dict[str, Any], zone: ZoneInfo | None) -> dict[str, Any]:
    """Return a validated window with both ends as moments in UTC. Raises DRF's ValidationError, which names the end."""
    settled = dict(window)
    for source, name, settle in (("start", "from", start_of), ("end", "to", end_of)):
        end = window.get(source)
        if end is None or (isinstance(end, dt.datetime) and end.tzinfo is not None):
            continue
        if zone is None:
            raise serializers.ValidationError({name: [NAIVE]}, code="naive")
        try:
            settled[source] = settle(end, zone)
        except OverflowError:
            raise serializers.ValidationError({name: ["This datetime is out of range."]}, code="overflow") from None
    return settled


def settle_time_window(attrs: dict[str, Any]) -> dict[str, Any]:
    """Return validated input with its `time_window` settled in its `timezone`. Raises DRF's ValidationError."""
    if not attrs.get("time_window"):
        return attrs
    try:
        window = settle_window(attrs["time_window"], attrs.get("timezone"))
        if window.get("start") and window.get("end") and window["start"] > window["end"]:
            raise serializers.ValidationError({"from": ["`from` is after `to`."]})
    except serializers.ValidationError as error:
        raise serializers.ValidationError({"time_window": error.detail}) from None
    return {**attrs, "time_window": window}
