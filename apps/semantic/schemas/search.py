"""Inputs and outputs of searches."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, NotRequired, TypedDict

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.filters.expression import EVERYTHING
from apps.core.domain.zones import days_before
from apps.core.schemas.fields import (
    OwnersField,
    StrictBooleanField,
    StrictCharField,
    StrictChoiceField,
    StrictFloatField,
    StrictIntegerField,
    VectorField,
)
from apps.core.schemas.filters import FilterField
from apps.core.schemas.outputs import Uuid, iso
from apps.core.schemas.paging import chosen_limit
from apps.core.schemas.serializers import scope_of
from apps.core.schemas.windows import MAX_DAYS, AskedAtField, TimezoneField, WindowInput, settle_time_window
from apps.retrieval.domain.explain import explain_hit
from apps.retrieval.domain.query import DEFAULT_TOP_K, MAX_TOP_K, SearchMode, SearchQuery
from apps.retrieval.domain.relevance import MIN_RELEVANCE
from apps.semantic.domain.filters import MEMORY_FIELDS
from apps.semantic.domain.memory import TAGS
from apps.semantic.domain.standing import share_of_score
from apps.semantic.models import Memory, ReviewState
from apps.semantic.schemas.memories import Fields, MemoryOutput, TagsInput, render_memory, share_field
from apps.semantic.search.fetch import OpenConflict
from apps.semantic.search.search import Found, SearchResult

MAX_QUERY_CHARS = 10_000
INCLUDE = "Owners to search besides the scope, such as team:platform: everything of theirs that the key may read."


AUTO = "auto"


@extend_schema_field({"oneOf": [{"type": "number", "minimum": 0, "maximum": 1}, {"type": "string", "enum": [AUTO]}]})
class RelevanceField(StrictFloatField):
    """A number from 0 to 1, or `auto`, which becomes the number for what is asked for."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(min_value=0, max_value=1, **kwargs)

    def to_internal_value(self, data: Any) -> float:
        return MIN_RELEVANCE if data == AUTO else super().to_internal_value(data)


class SearchInput(TagsInput):
    """A search: by words (`query`), by a vector of the active model (`embedding`), or both."""

    query = StrictCharField(required=False, allow_null=True, max_length=MAX_QUERY_CHARS)
    embedding = VectorField(required=False, allow_null=True)
    limit = StrictIntegerField(
        required=False,
        min_value=1,
        max_value=MAX_TOP_K,
        help_text=f"How many memories at most. Default {DEFAULT_TOP_K}.",
    )
    top_k = StrictIntegerField(
        required=False, min_value=1, max_value=MAX_TOP_K, help_text="The same as `limit`; send one of the two."
    )
    min_similarity = StrictFloatField(required=False, allow_null=True, min_value=-1, max_value=1)
    min_relevance = RelevanceField(
        required=False,
        allow_null=True,
        help_text="Leave out what is less relevant than this, 0 to 1; `auto` for the hub's choice. Default: nothing is "
        "left out. The answer may be empty.",
    )
    min_confidence = share_field("Only memories whose present confidence is at least this.")
    time_window = WindowInput(required=False, allow_null=True)
    last_days = StrictFloatField(required=False, allow_null=True, min_value=0, max_value=MAX_DAYS)
    timezone = TimezoneField()
    asked_at = AskedAtField()
    source = StrictCharField(required=False, max_length=64)
    filter = FilterField(MEMORY_FIELDS, source="where")
    include = OwnersField(help_text=INCLUDE)
    mode = StrictChoiceField(choices=[mode.value for mode in SearchMode], required=False)
    explain = StrictBooleanField(required=False, default=False)
    current_first = StrictBooleanField(
        required=False,
        help_text="If two results are about the same matter, put the newer one first. Default: the hub's "
        "setting in hybrid mode.",
    )

    history = StrictChoiceField(
        choices=["show", "hide"],
        required=False,
        help_text="`hide` leaves out memories that the rules replaced without anyone having accepted it "
        "yet. Default: `show`.",
    )
    in_force = StrictBooleanField(
        required=False,
        help_text=(
            "Leave out decisions and other items of knowledge that are not in force. Default "
            "false: they are ranked below what took their place."
        ),
    )

    def get_fields(self) -> Fields:
        meaning = (
            "A search for an agent, personality or project also finds global memories: false leaves "
            "them out, true finds nothing else."
        )
        return {
            **super().get_fields(),
            "global": StrictBooleanField(required=False, source="is_global", help_text=meaning),
        }

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs.get("time_window") and attrs.get("last_days") is not None:
            raise serializers.ValidationError({"last_days": ["Send either time_window or last_days, not both."]})
        chosen_limit(attrs, DEFAULT_TOP_K)
        return settle_time_window(attrs)


def make_query(data: Mapping[str, Any]) -> SearchQuery:
    """Return the search that validated SearchInput describes."""
    window = data.get("time_window") or {}
    start = window.get("start")
    if data.get("last_days") is not None:
        start = days_before(utcnow(SYSTEM_CLOCK), data["last_days"], data.get("timezone"))
    tags = {name: data[name] for name in (*TAGS, "session_id", "source") if data.get(name)}
    if "is_global" in data:
        tags["is_global"] = "true" if data["is_global"] else "false"
    return SearchQuery(
        scope=scope_of(data),
        include=tuple(data.get("include", ())),
        query=data.get("query"),
        embedding=data.get("embedding"),
        mode=SearchMode(data["mode"]) if data.get("mode") else None,
        top_k=chosen_limit(data, DEFAULT_TOP_K),
        min_similarity=data.get("min_similarity"),
        min_confidence=data.get("min_confidence"),
        min_relevance=data.get("min_relevance"),
        start=start,
        end=window.get("end"),
        tags=tags,
        explain=data["explain"],
        current_first=data.get("current_first"),
        history=data.get("history") != "hide",
        in_force=data.get("in_force", False),
        zone=data.get("timezone"),
        asked_at=data.get("asked_at"),
        where=None if data.get("where") is EVERYTHING else data.get("where"),
    )


class RerankOutput(TypedDict):
    """What the reranker did."""

    provider: Annotated[str, "Which server was asked."]
    model: str
    took_ms: float
    problem: Annotated[
        str | None,
        "Why it gave no order, so that results are in the hub's own: `timeout`, `connection`, `bad_response`, `open` "
        "(it failed too often and is not asked for a while), or another code of calls to models; null where it did.",
    ]


class DiagnosticsOutput(TypedDict):
    """How a search came to its results: considered = matched + filtered."""

    matched_count: Annotated[int, "Passed every filter, before `limit`."]
    filtered_count: Annotated[int, "Failed a filter."]
    considered_count: Annotated[int, "Visible in the scope."]
    filtered: Annotated[
        dict[str, int], "By the first filter that they failed; `min_relevance` is how many were too weak."
    ]
    index: Annotated[str | None, "How the vectors were searched; null for a key with a household or persona."]
    mode: Annotated[str, serializers.ChoiceField(choices=[mode.value for mode in SearchMode])]
    took_ms: float
    rerank: NotRequired[
        Annotated[
            RerankOutput,
            "Where the hub has a reranker, and it was asked: what became of the order of the first hits.",
        ]
    ]


# `with` is a keyword of Python.
WithOutput = TypedDict("WithOutput", {"with": Annotated[Uuid, "The other memory."]})


class OpenConflictOutput(WithOutput):
    """A conflict that waits for a review."""

    id: Annotated[Uuid, "The receipt."]
    state: Annotated[str, serializers.ChoiceField(choices=[ReviewState.OPEN.value])]


class ReplacedOutput(TypedDict):
    """By what a result was replaced, by the rules alone; nobody has accepted it yet."""

    by: Annotated[Uuid, "The memory that replaced it."]
    at: Annotated[str, "When."]
    why: str
    receipt: Annotated[Uuid, "The receipt, through which it can be accepted or undone."]


class FoundOutput(TypedDict):
    """One result."""

    memory: MemoryOutput
    score: Annotated[float, "What results are ordered by, apart from `current_first` and whether an item is in force."]
    similarity: Annotated[float | None, "Cosine, -1 to 1; null when none was computed."]
    confidence: float
    relevance: Annotated[
        float | None,
        "How likely it is what was asked for, 0 to 1, the same for every search; null where nothing tells.",
    ]
    conflict: Annotated[OpenConflictOutput | None, "An open conflict that concerns the memory."]
    replaced: Annotated[ReplacedOutput | None, "For a replaced memory: what replaced it. It is ranked after that one."]
    in_force: Annotated[bool, "False for an item of knowledge that is not in force."]
    succeeds: Annotated[Uuid | None, "The memory in the results, no longer in force, whose place this one took."]
    explain: NotRequired[
        Annotated[
            dict[str, Any],
            "With `explain`: the parts of the score. `time` is there where the query names a time: what was read "
            "(`named`), how near to it the memory is (`closeness`, 0 to 1) and by how much the score is multiplied "
            "(`factor`).",
        ]
    ]


class SearchOutput(TypedDict):
    """The memories found, the best first."""

    results: list[FoundOutput]
    count: int
    diagnostics: DiagnosticsOutput


def render_search(result: SearchResult, now: datetime, explain: bool) -> SearchOutput:
    """Return the results of a search as JSON. explain: say of each how its score came about."""
    results: list[FoundOutput] = []
    for one in result.found:
        memory, hit = one.memory, one.hit
        found: FoundOutput = {
            "memory": render_memory(memory, now),
            "score": hit.score,
            "similarity": hit.similarity,
            "confidence": hit.confidence,
            "relevance": hit.relevance,
            "conflict": render_conflict(memory, one.conflict),
            "replaced": None,
            "in_force": memory.is_in_force,
            "succeeds": str(one.succeeds) if one.succeeds else None,
        }
        if one.replaced is not None:
            found["replaced"] = {
                "by": str(one.replaced.by),
                "at": iso(one.replaced.at),
                "why": one.replaced.why,
                "receipt": str(one.replaced.receipt),
            }
        if explain:
            found["explain"] = explain_hit(hit, result.mode) | explain_place(one)
        results.append(found)
    ranking, said = result.ranking, result.reranked
    diagnostics: DiagnosticsOutput = {
        "matched_count": ranking.matched,
        "filtered_count": ranking.considered - ranking.matched,
        "considered_count": ranking.considered,
        "filtered": dict(ranking.filtered),
        "index": result.index,
        "mode": result.mode,
        "took_ms": round(result.took_ms, 3),
    }
    if said is not None:
        took_ms, problem = round(said.took_ms, 3), said.problem or None
        diagnostics["rerank"] = {
            "provider": said.provider,
            "model": said.model,
            "took_ms": took_ms,
            "problem": problem,
        }
    return {"results": results, "count": len(results), "diagnostics": diagnostics}


def render_conflict(memory: Memory, conflict: OpenConflict | None) -> OpenConflictOutput | None:
    """Return an open conflict of a memory as the API shows it."""
    if conflict is None:
        return None
    return {"id": str(conflict.id), "with": str(conflict.other(memory.pk)), "state": conflict.state}


def explain_place(found: Found) -> dict[str, Any]:
    """Return what else than its score decides about the place of a result.

    current_first: before which older memory it was put, why, and its place by the score alone; None if it was not.
    in_force: the status of the item that it follows, and what that means for its place; None if it follows none. share:
    of the score that counts. succeeded_by: the memories that took its place.
    """
    memory, precedence = found.memory, found.hit.precedence
    first = standing = None
    if precedence is not None:
        first = {"before": str(found.before), "by": precedence.by, "place_by_score": precedence.place}
    if memory.managed_by:
        standing = {
            "status": memory.metadata.get("status"),
            "share": share_of_score(memory.managed_by, memory.metadata),
            "succeeds": str(found.succeeds) if found.succeeds else None,
            "succeeded_by": [str(one) for one in found.succeeded_by],
        }
    return {"current_first": first, "in_force": standing}
