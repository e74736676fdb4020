"""Inputs and outputs of the API for queries of the timeline."""

from typing import Annotated, Any, NotRequired, TypedDict, cast

from rest_framework import serializers

from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.errors import InvalidInputError
from apps.core.domain.scope import Access
from apps.core.schemas.fields import (
    AwareDateTimeField,
    StrictBooleanField,
    StrictCharField,
    StrictChoiceField,
    StrictFloatField,
    StrictIntegerField,
)
from apps.core.schemas.outputs import JSONObject
from apps.core.schemas.paging import chosen_limit
from apps.core.schemas.serializers import ScopeInput, scope_of
from apps.episodic.domain.window import DEFAULT_TOP_K, MAX_EVENT_TYPES, MAX_TOP_K, EventQuery, QueryResult
from apps.episodic.schemas.events import EventOutput, EventTypeField, event_json
from apps.retrieval.domain.explain import explain_hit
from apps.retrieval.domain.query import SearchMode

MAX_QUERY_CHARS = 10_000
MAX_DAYS = 36_500
MODES = [mode.value for mode in SearchMode]
Fields = dict[str, serializers.Field[Any, Any, Any, Any]]


class EventQueryInput(ScopeInput):
    """A window of the timeline. `from` is a keyword of Python, so the two ends are added by name."""

    last_days = StrictFloatField(
        required=False,
        allow_null=True,
        min_value=0,
        max_value=MAX_DAYS,
        help_text="From so many days ago on, instead of `from` and `to`.",
    )
    limit = StrictIntegerField(
        required=False, min_value=1, max_value=MAX_TOP_K, help_text=f"How many events at most. Default {DEFAULT_TOP_K}."
    )
    top_k = StrictIntegerField(
        required=False, min_value=1, max_value=MAX_TOP_K, help_text="The same as `limit`; of both one is enough."
    )
    event_types = serializers.ListField(
        child=EventTypeField(),
        required=False,
        allow_null=True,
        min_length=1,
        max_length=MAX_EVENT_TYPES,
        help_text="Only events of these types.",
    )
    query = StrictCharField(
        required=False, allow_null=True, max_length=MAX_QUERY_CHARS, help_text="What the events are about."
    )
    mode = StrictChoiceField(choices=MODES, required=False, help_text="How a `query` is compared.")
    explain = StrictBooleanField(required=False, default=False, help_text="Explain the rank of each event.")

    def get_fields(self) -> Fields:
        ends: Fields = {
            "from": AwareDateTimeField(required=False, allow_null=True, source="start", help_text="Included."),
            "to": AwareDateTimeField(required=False, allow_null=True, source="end", help_text="Included."),
        }
        return {**super().get_fields(), **ends}

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        query = query_of(attrs)
        if query.mode is not None and query.text is None:
            raise serializers.ValidationError({"query": [f"The mode {query.mode} needs a query."]}, code="required")
        try:
            query.window(utcnow(SYSTEM_CLOCK))
        except InvalidInputError as error:
            raise serializers.ValidationError({str(error.attr): [error.detail]}, code=error.code) from error
        return attrs


def query_of(data: dict[str, Any]) -> EventQuery:
    """Return the query that validated EventQueryInput describes."""
    mode = data.get("mode")
    return EventQuery(
        scope=scope_of(data),
        start=data.get("start"),
        end=data.get("end"),
        last_days=data.get("last_days"),
        top_k=chosen_limit(data, DEFAULT_TOP_K),
        event_types=tuple(data.get("event_types") or ()),
        text=data.get("query"),
        mode=SearchMode(mode) if mode else None,
        explain=data["explain"],
    )


class FoundEventOutput(EventOutput):
    """An event, and with a `query` how well it matches."""

    score: NotRequired[Annotated[float, "With a `query`: by which the events are ordered."]]
    similarity: NotRequired[Annotated[float | None, "Cosine, -1 to 1; null when none was computed."]]
    explain: NotRequired[JSONObject]


class DroppedOutput(TypedDict):
    """Why events of the scope were not returned; each counts under the first reason. The last three: with a `query`."""

    outside_window: int
    event_type: Annotated[int, "Of other types than asked for."]
    beyond_top_k: Annotated[int, "More than `limit`."]
    beyond_text_limit: NotRequired[Annotated[int, "Older than the newest 20,000, or 4 MB of them."]]
    not_compared: NotRequired[Annotated[int, "No word in common, and their meaning was not compared."]]
    no_match: NotRequired[Annotated[int, "No word in common, in the mode `keyword`."]]


class FilesOutput(TypedDict):
    """Segment files."""

    total: Annotated[int, "With events of the scope in or around the window."]
    read: Annotated[int, "Those that had to be read; the others were counted by an index."]
    quarantined: Annotated[int | None, "Damaged ones of the whole hub; null for a key with a bound."]


class TimelineDiagnosticsOutput(TypedDict):
    """How a query came to its events: scanned = returned + the sum of dropped = hot + archived."""

    scanned: Annotated[int, "Events of the scope."]
    returned: int
    dropped: DroppedOutput
    hot: Annotated[int, "Scanned events in the database."]
    archived: Annotated[int, "Scanned events in segment files."]
    complete: Annotated[bool, "False while a damaged file may hold events that are not counted."]
    segments: FilesOutput
    took_ms: float
    mode: NotRequired[Annotated[str, serializers.ChoiceField(choices=MODES), "How the `query` was compared."]]
    index: NotRequired[Annotated[str, "How vectors were searched."]]
    compared_by_meaning: NotRequired[int]
    fallback: NotRequired[Annotated[str | None, "Why the `query` was not compared in the mode asked for."]]


class EventQueryOutput(TypedDict):
    """The events found: the newest first, or with a `query` the best first."""

    events: list[FoundEventOutput]
    count: int
    diagnostics: TimelineDiagnosticsOutput


def query_json(access: Access, result: QueryResult, explain: bool) -> EventQueryOutput:
    """Return the answer to a query, as much of it as the caller may know."""
    found = result.diagnostics
    files = found.segments
    diagnostics: TimelineDiagnosticsOutput = {
        "scanned": found.scanned,
        "returned": found.returned,
        "dropped": cast("DroppedOutput", found.dropped),
        "hot": found.hot,
        "archived": found.archived,
        "complete": not files.quarantined,
        # A key with a bound may know that files cannot be read, which concerns it too, but not how many others have.
        "segments": {
            "total": files.total,
            "read": files.read,
            "quarantined": None if access.bound.named() else files.quarantined,
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
    return {"events": events, "count": len(events), "diagnostics": diagnostics}
