"""Inputs and outputs of runs of extraction, and of the facts that they found."""

from collections.abc import Iterable
from typing import Annotated, Any, TypedDict

from django.conf import settings
from rest_framework import serializers

from apps.core.schemas.fields import IdentifierField, StrictChoiceField
from apps.core.schemas.outputs import JSONObject, Moment, Uuid, iso, render
from apps.core.schemas.paging import cursor_field, limit_field
from apps.notes.conversations.reads import AutoMemoryStatus
from apps.notes.models import ExtractedFact, ExtractionRun, FactState, RunState, RunTrigger
from apps.notes.schemas.notes import OwnerInput

NOTE_UNDONE = ("removed", "changed", "gone")
MEMORY_UNDONE = ("deleted", "reverted", "changed", "gone")


class RunListInput(OwnerInput):
    """The query string of the list of runs."""

    session_id = IdentifierField(required=False)
    state = StrictChoiceField(choices=RunState.choices, required=False)
    limit = limit_field()
    cursor = cursor_field()


class RunOutput(TypedDict):
    """A run of extraction."""

    id: Uuid
    session_id: str
    trigger: Annotated[str, serializers.ChoiceField(choices=RunTrigger.choices)]
    state: Annotated[str, serializers.ChoiceField(choices=RunState.choices)]
    actor: str
    requested_at: Moment
    started_at: Moment | None
    ended_at: Moment | None
    next_try_at: Annotated[Moment | None, "Of one that waits."]
    duration_ms: Annotated[int, "All tries combined."]
    tries: int
    error: Annotated[str, "A code: why the last try failed."]
    messages: int
    facts: Annotated[int, "How many were found."]
    applied: Annotated[int, "How many hold now."]
    model: Annotated[str, "That extracted; blank for patterns."]
    cost_usd: Annotated[str, "The cost of the model calls, as far as prices are known."]


class UndoOutput(TypedDict):
    """What undoing a fact did."""

    note: Annotated[
        str | None,
        serializers.ChoiceField(choices=NOTE_UNDONE, allow_null=True),
        "changed: a person has changed the line since, so it stays.",
    ]
    memory: Annotated[
        str | None,
        serializers.ChoiceField(choices=MEMORY_UNDONE, allow_null=True),
        "changed: a person has corrected the memory since, so it stays.",
    ]
    at: Moment | None
    by: str


class FactOutput(TypedDict):
    """A fact that a run found, and what became of it."""

    id: Uuid
    content: str
    category: str
    confidence: float
    pattern: Annotated[str, "The pattern that found it; `model` for a model."]
    message: Annotated[str | None, serializers.UUIDField(allow_null=True), "That it was taken from."]
    message_number: int | None
    state: Annotated[str, serializers.ChoiceField(choices=FactState.choices)]
    reason: Annotated[str, "Why it was dropped."]
    note_version: Annotated[str | None, serializers.UUIDField(allow_null=True), "Of its line in MEMORY.md."]
    memory: Annotated[str | None, serializers.UUIDField(allow_null=True)]
    memory_action: Annotated[str, "What saving it to semantic memory did."]
    receipt: Annotated[str | None, serializers.UUIDField(allow_null=True), "Of the decision about a conflict."]
    undo: UndoOutput


class RunDetailOutput(RunOutput):
    """A run with what came in, what each step decided, and the facts."""

    received: JSONObject
    steps: list[JSONObject]
    results: list[FactOutput]


class AutoMemoryOutput(TypedDict):
    """How automatic memory is doing."""

    enabled: bool
    auto_extract: bool
    extract_interval_seconds: int
    min_new_messages: int
    flush_threshold: float
    conversations: int
    new_messages: Annotated[int, "Messages from which nothing has been extracted yet."]
    runs: Annotated[JSONObject, "How many, by state."]
    facts: Annotated[JSONObject, "How many, by state."]
    last_extraction_at: Moment | None
    conversation_days: Annotated[int, "How long the contents of messages are kept."]


def run_json(run: Any) -> RunOutput:
    """Return a run as the API shows it. run: with the counts of its facts."""
    return render(
        RunOutput,
        run,
        next_try_at=iso(run.next_try_at) if run.state == RunState.WAITING else None,
        messages=run.received.get("messages", 0),
        facts=run.found,
        cost_usd=str(run.cost_usd.normalize()),
    )


def fact_json(fact: ExtractedFact) -> FactOutput:
    """Return a fact as the API shows it."""
    return render(
        FactOutput,
        fact,
        message=str(fact.message.uuid) if fact.message else None,
        note_version=str(fact.note_version) if fact.note_version else None,
        memory=str(fact.memory) if fact.memory else None,
        receipt=str(fact.receipt) if fact.receipt else None,
        undo={
            "note": fact.undo.get("note"),
            "memory": fact.undo.get("memory"),
            "at": iso(fact.undone_at),
            "by": fact.undone_by,
        },
    )


def run_detail_json(run: ExtractionRun, facts: Iterable[ExtractedFact]) -> RunDetailOutput:
    """Return a run with its steps and facts as the API shows it."""
    return {
        **run_json(run),
        "received": run.received,
        "steps": run.steps,
        "results": [fact_json(fact) for fact in facts],
    }


def status_json(status: AutoMemoryStatus) -> AutoMemoryOutput:
    """Return how automatic memory is doing as the API shows it."""
    config = status.config
    return render(
        AutoMemoryOutput,
        config,
        conversations=status.conversations,
        new_messages=status.new_messages,
        runs=status.runs,
        facts=status.facts,
        last_extraction_at=iso(status.last_extraction_at),
        conversation_days=settings.MEMORYHUB.conversation_days,
    )
