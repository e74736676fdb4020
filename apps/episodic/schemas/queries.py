"""Inputs and outputs of the API for queries of the timeline."""

import math
from typing import Annotated, Any, NotRequired, TypedDict, cast

from rest_framework import serializers

from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.errors import InvalidInputError
from apps.core.domain.filters.expression import EVERYTHING
from apps.core.domain.scope import Access
from apps.core.schemas.fields import (
    BoundedListField,
    OwnersField,
    OwnersTextField,
    StrictBooleanField,
    StrictCharField,
    StrictChoiceField,
    StrictFloatField,
    StrictIntegerField,
)
from apps.core.schemas.filters import FilterField, FilterTextField
from apps.core.schemas.outputs import JSONObject
from apps.core.schemas.paging import DEFAULT_PAGE, PageInput, chosen_limit
from apps.core.schemas.serializers import ScopeInput, scope_of
from apps.core.schemas.windows import (
    MAX_DAYS,
    AskedAtField,
    Fields,
    TimezoneField,
    WindowInput,
    settle_time_window,
    settle_window,
    window_ends,
)
from apps.episodic.domain.event import EVENT_FIELDS, MAX_EVENT_TYPE_CHARS
from apps.episodic.domain.window import DEFAULT_TOP_K, MAX_EVENT_TYPES, MAX_TOP_K, EventQuery, QueryResult
from apps.episodic.schemas.events import EventOutput, EventTypeField, event_json
from apps.retrieval.domain.explain import explain_hit
from apps.retrieval.domain.query import SearchMode

MAX_QUERY_CHARS = 10_000
# Of what a query left out: by the names of the API, and what had only no room.
RENAMED = {"outside_window": "time_window"}
BEYOND_LIMIT = "beyond_top_k"
MAX_TYPES_CHARS = MAX_EVENT_TYPES * (MAX_EVENT_TYPE_CHARS + 1)
_TYPE = EventTypeField()
INCLUDE = "Owners to search besides the scope, such as team:platform: everything of theirs that the key may read."
MODES = [mode.value for mode in SearchMode]


class EventQueryInput(ScopeInput):
    """A window of the timeline: `time_window`, or its two ends as `from` and `to`, or `last_days`."""

    time_window = WindowInput(required=False, allow_null=True)

    last_days = StrictFloatField(
        required=False,
        allow_null=True,
        min_value=0,
        max_value=MAX_DAYS,
        help_text="The last so many days, instead of a window.",
    )
    timezone = TimezoneField()
    asked_at = AskedAtField()
    limit = StrictIntegerField(
        required=False, min_value=1, max_value=MAX_TOP_K, help_text=f"How many events at most. Default {DEFAULT_TOP_K}."
    )
    top_k = StrictIntegerField(
        required=False, min_value=1, max_value=MAX_TOP_K, help_text="The same as `limit`; send one of the two."
    )
    event_types = BoundedListField(
        child=EventTypeField(),
        required=False,
        allow_null=True,
        min_length=1,
        max_length=MAX_EVENT_TYPES,
        help_text="Only events of these types.",
    )
    filter = FilterField(EVENT_FIELDS, source="where")
    include = OwnersField(help_text=INCLUDE)
    query = StrictCharField(
        required=False, allow_null=True, max_length=MAX_QUERY_CHARS, help_text="What the events are about."
    )
    mode = StrictChoiceField(choices=MODES, required=False, help_text="How the `query` is compared.")
    explain = StrictBooleanField(required=False, default=False, help_text="Explain the rank of each event.")

    def get_fields(self) -> Fields:
        return {**super().get_fields(), **window_ends()}

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        attrs = settle_window(settle_time_window(attrs), attrs.get("timezone"))
        ends = [name for name in ("start", "end", "last_days") if attrs.get(name) is not None]
        if attrs.get("time_window") and ends:
            name = "last_days" if ends == ["last_days"] else "time_window"
            raise serializers.ValidationError({name: ["Give one of time_window, last_days, and from with to."]})
        query = query_of(attrs)
        if query.mode is not None and query.text is None:
            raise serializers.ValidationError({"query": [f"The mode {query.mode} needs a query."]}, code="required")
        check_window(query)
        return attrs


def query_of(data: dict[str, Any]) -> EventQuery:
    """Return the query that validated EventQueryInput describes."""
    mode = data.get("mode")
    window = data.get("time_window") or data
    return EventQuery(
        scope=scope_of(data),
        include=tuple(data.get("include", ())),
        start=window.get("start"),
        end=window.get("end"),
        last_days=data.get("last_days"),
        top_k=chosen_limit(data, DEFAULT_TOP_K),
        event_types=tuple(data.get("event_types") or ()),
        where=data.get("where") or EVERYTHING,
        text=data.get("query"),
        mode=SearchMode(mode) if mode else None,
        explain=data["explain"],
        zone=data.get("timezone"),
        asked_at=data.get("asked_at"),
    )


class FiniteNumberField(serializers.FloatField):
    """A number in a query string, which is text."""

    def to_internal_value(self, data: Any) -> float:
        """Return the number. Raises ValidationError, also for one that is not finite."""
        value = super().to_internal_value(data)
        if not math.isfinite(value):
            self.fail("invalid")
        return value


class EventListInput(PageInput):
    """The query string of the list of events."""

    event_types = StrictCharField(
        required=False, max_length=MAX_TYPES_CHARS, help_text="Only these types, separated by commas."
    )
    last_days = FiniteNumberField(
        required=False, min_value=0, max_value=MAX_DAYS, help_text="The last so many days, instead of a window."
    )
    timezone = TimezoneField()
    filter = FilterTextField(EVENT_FIELDS, source="where")
    include = OwnersTextField(help_text=f"{INCLUDE} Separated by commas.")

    def get_fields(self) -> Fields:
        return {**super().get_fields(), **window_ends()}

    def validate_event_types(self, value: str) -> tuple[str, ...]:
        """Return the types of a list with commas."""
        types = tuple(value.split(","))
        if len(types) > MAX_EVENT_TYPES:
            raise serializers.ValidationError(f"At most {MAX_EVENT_TYPES} types.")
        for one in types:
            _TYPE.run_validation(one)
        return types

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        attrs = settle_window(attrs, attrs.get("timezone"))
        check_window(list_query_of(attrs))
        return attrs


def list_query_of(data: dict[str, Any]) -> EventQuery:
    """Return the query that validated EventListInput describes, of which `top_k` is the length of a page."""
    return EventQuery(
        scope=scope_of(data),
        include=tuple(data.get("include", ())),
        start=data.get("start"),
        end=data.get("end"),
        last_days=data.get("last_days"),
        top_k=data.get("limit", DEFAULT_PAGE),
        event_types=data.get("event_types", ()),
        where=data.get("where") or EVERYTHING,
        zone=data.get("timezone"),
    )


def check_window(query: EventQuery) -> None:
    """Raise DRF's ValidationError for a window that is none."""
    try:
        query.window(utcnow(SYSTEM_CLOCK))
    except InvalidInputError as error:
        raise serializers.ValidationError({str(error.attr): [error.detail]}, code=error.code) from error


class FoundEventOutput(EventOutput):
    """An event, and with a `query` how well it matches."""

    score: NotRequired[Annotated[float, "With a `query`: by which the events are ordered."]]
    similarity: NotRequired[Annotated[float | None, "Cosine, -1 to 1; null when none was computed."]]
    explain: NotRequired[JSONObject]


class FilteredOutput(TypedDict):
    """Why events of the scope did not match; each counts under the first reason. The last three: with a `query`."""

    time_window: int
    event_type: Annotated[int, "Events of other types."]
    filter: int
    beyond_text_limit: NotRequired[Annotated[int, "Older than the newest 20,000, or 4 MB of them."]]
    not_compared: NotRequired[Annotated[int, "No word in common, and their meaning was not compared."]]
    no_match: NotRequired[Annotated[int, "No word in common, in the mode `keyword`."]]


class FilesOutput(TypedDict):
    """Segment files."""

    total: Annotated[int, "With events of the scope in or around the window."]
    read: Annotated[int, "Segments that had to be read; the others were counted through an index."]
    quarantined: Annotated[int | None, "Damaged segments of the whole hub; null for a key with a bound."]


class TimelineDiagnosticsOutput(TypedDict):
    """How a query came to its events: considered = matched + filtered = hot + archived."""

    matched_count: Annotated[int, "Passed every filter, before `limit`."]
    filtered_count: Annotated[int, "Failed a filter."]
    considered_count: Annotated[int, "Events of the scope."]
    filtered: Annotated[FilteredOutput, "By the first filter that they failed."]
    hot: Annotated[int, "Considered events in the database."]
    archived: Annotated[int, "Considered events in segment files."]
    complete: Annotated[bool, "False while a damaged file may contain events that are not counted."]
    segments: FilesOutput
    took_ms: float
    mode: NotRequired[Annotated[str, serializers.ChoiceField(choices=MODES), "How the `query` was compared."]]
    index: NotRequired[Annotated[str, "How vectors were searched."]]
    compared_by_meaning: NotRequired[int]
    fallback: NotRequired[Annotated[str | None, "Why the `query` was not compared in the mode asked for."]]


class EventQueryOutput(TypedDict):
    """The events found: the newest first, or with a `query` the best first."""

    results: list[FoundEventOutput]
    count: int
    diagnostics: TimelineDiagnosticsOutput


def query_json(access: Access, result: QueryResult, explain: bool) -> EventQueryOutput:
    """Return the answer to a query, as much of it as the caller may know."""
    found = result.diagnostics
    files = found.segments
    filtered = {RENAMED.get(reason, reason): count for reason, count in found.dropped.items() if reason != BEYOND_LIMIT}
    filtered_count = sum(filtered.values())
    diagnostics: TimelineDiagnosticsOutput = {
        "matched_count": found.scanned - filtered_count,
        "filtered_count": filtered_count,
        "considered_count": found.scanned,
        "filtered": cast("FilteredOutput", filtered),
        "hot": found.hot,
        "archived": found.archived,
        "complete": not files.quarantined,
        # A key with a bound may know that files cannot be read, which concerns it too, but not how many others have.
        "segments": {
            "total": files.total,
            "read": files.read,
            "quarantined": files.quarantined if access.bound.is_everything else None,
        },
        "took_ms": round(found.took_ms, 3),
    }
    events: list[FoundEventOutput] = [{**event_json(event)} for event in result.events]
    if found.text is not None:
        diagnostics |= {
            "mode": found.text.mode,
            "index": found.text.index,
            "compared_by_meaning": found.text.compared_by_meaning,
            "fallback": found.text.fallback,
        }
        for event, hit in zip(events, result.hits, strict=True):
            event |= {"score": hit.score, "similarity": hit.similarity}
            if explain:
                event["explain"] = explain_hit(hit, found.text.mode)
    return {"results": events, "count": len(events), "diagnostics": diagnostics}
