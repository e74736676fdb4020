"""What the answer to a query of the timeline looks like."""

from collections.abc import Iterator
from typing import Any

from rest_framework import serializers

from apps.core.domain.scope import Access
from apps.core.schemas.fields import JSONObjectField
from apps.episodic.domain.window import QueryResult
from apps.episodic.schemas.event_outputs import AnySerializer, EventOutput, event_json
from apps.retrieval.domain.explain import explain_hit
from apps.retrieval.domain.query import SearchMode


class FoundEventOutput(EventOutput):
    """An event, and with a text how well it answers."""

    score = serializers.FloatField(required=False, help_text="With a `query`: by which the events are ordered.")
    similarity = serializers.FloatField(
        required=False, allow_null=True, help_text="Cosine, -1 to 1; null when none was computed."
    )
    explain = JSONObjectField(required=False)


class DroppedOutput(AnySerializer):
    """Why events of the scope were not returned; each counts under the first reason. The last three: with a `query`."""

    outside_window = serializers.IntegerField()
    event_type = serializers.IntegerField(help_text="Of other types than asked for.")
    beyond_top_k = serializers.IntegerField(help_text="More than `top_k`.")
    beyond_text_limit = serializers.IntegerField(
        required=False, help_text="Older than the newest 20,000, or 4 MB of them."
    )
    not_compared = serializers.IntegerField(
        required=False, help_text="No word in common, and their meaning was not compared."
    )
    no_match = serializers.IntegerField(required=False, help_text="No word in common, in the mode `keyword`.")


class FilesOutput(AnySerializer):
    """Segment files."""

    total = serializers.IntegerField(help_text="With events of the scope in or around the window.")
    read = serializers.IntegerField(help_text="Those that had to be read; the others were counted by an index.")
    quarantined = serializers.IntegerField(
        allow_null=True, help_text="Damaged ones of the whole hub; null for a key with a bound."
    )


class TimelineDiagnosticsOutput(AnySerializer):
    """How a query came to its events: scanned = returned + the sum of dropped = hot + archived."""

    scanned = serializers.IntegerField(help_text="Events of the scope.")
    returned = serializers.IntegerField()
    dropped = DroppedOutput()
    hot = serializers.IntegerField(help_text="Scanned events in the database.")
    archived = serializers.IntegerField(help_text="Scanned events in segment files.")
    complete = serializers.BooleanField(help_text="False while a damaged file may hold events that are not counted.")
    segments = FilesOutput()
    took_ms = serializers.FloatField()
    mode = serializers.ChoiceField(
        choices=[mode.value for mode in SearchMode], required=False, help_text="How the `query` was compared."
    )
    index = serializers.CharField(required=False, help_text="How vectors were searched.")
    compared_by_meaning = serializers.IntegerField(required=False)
    fallback = serializers.CharField(
        required=False, allow_null=True, help_text="Why the `query` was not compared in the mode asked for."
    )


class EventQueryOutput(AnySerializer):
    """The events found: the newest first, or with a `query` the best first."""

    events = FoundEventOutput(many=True)
    count = serializers.IntegerField()
    diagnostics = TimelineDiagnosticsOutput()


def query_json(access: Access, result: QueryResult, explain: bool) -> dict[str, Any]:
    """An answer as EventQueryOutput describes it, as much of it as a caller may know."""
    account = result.diagnostics.as_json()
    damaged = account["segments"]["quarantined"]
    account["complete"] = not damaged
    # How many files others have is nothing for a key with a bound; that some cannot be read concerns it, too.
    account["segments"] = {**account["segments"], "quarantined": None if access.bound.named() else damaged}
    return {"events": list(_events(result, explain)), "count": len(result.events), "diagnostics": account}


def _events(result: QueryResult, explain: bool) -> Iterator[dict[str, Any]]:
    text = result.diagnostics.text
    if text is None:
        yield from map(event_json, result.events)
        return
    for event, hit in zip(result.events, result.hits, strict=True):
        found = {**event_json(event), "score": hit.score, "similarity": hit.similarity}
        yield {**found, "explain": explain_hit(hit, text.mode)} if explain else found
