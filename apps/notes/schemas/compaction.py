"""Inputs and outputs of compactions of MEMORY.md (spec 001, compaction)."""

from collections import Counter
from typing import Annotated, TypedDict

from rest_framework import serializers

from apps.core.schemas.outputs import render
from apps.core.schemas.paging import cursor_field, limit_field
from apps.notes.compaction.decide import CompactionDetail
from apps.notes.domain.compaction.draft import FactAction
from apps.notes.models import Compaction, CompactionState
from apps.notes.schemas.notes import OwnerInput

FACT_ACTIONS = [action.value for action in FactAction]


class CompactInput(OwnerInput):
    """Whose MEMORY.md is to become shorter."""


class CompactionListInput(OwnerInput):
    """The query string of the compactions of a user."""

    limit = limit_field()
    cursor = cursor_field()


class ModelUseOutput(TypedDict):
    """Which model was asked, and what that cost."""

    asked: Annotated[str, "The model of the settings."]
    provider: Annotated[str, "The model that answered; empty without an answer."]
    model: str
    code: Annotated[str, "Why there is no answer, such as model_not_available or budget_exceeded; empty with one."]
    cost_usd: Annotated[str | None, "Decimal text; null where a price is unknown."]
    attempts: int


class FactCountsOutput(TypedDict):
    """How many facts a draft keeps as they were, shortens, merges and drops."""

    kept: int
    shortened: int
    merged: int
    dropped: int


class CompactionOutput(TypedDict):
    """A compaction of MEMORY.md."""

    id: str
    user_id: str
    state: Annotated[str, serializers.ChoiceField(choices=CompactionState.choices)]
    automatic: Annotated[bool, "True if it followed an extraction, false if someone asked for it."]
    code: Annotated[str, "Why there is no draft, or why it was not applied; empty otherwise."]
    detail: str
    facts_before: Annotated[int, "Items of lists in MEMORY.md."]
    facts_after: int
    counts: FactCountsOutput
    model: ModelUseOutput | None
    created_at: Annotated[str, serializers.DateTimeField()]
    drafted_at: Annotated[str | None, serializers.DateTimeField(allow_null=True)]
    decided_at: Annotated[str | None, serializers.DateTimeField(allow_null=True)]
    decided_by: Annotated[str, "Who applied, discarded or undid it."]


class FactChangeOutput(TypedDict):
    """What a draft does with one fact."""

    number: int
    text: str
    action: Annotated[str, serializers.ChoiceField(choices=FACT_ACTIONS)]
    into: Annotated[str, "The sentence that replaces it; empty if it is kept or dropped."]
    reason: Annotated[str, "For a dropped fact: the model's reason."]
    code: Annotated[str, "Why a fact was kept unchanged against the model's advice; empty otherwise."]


class CompactionDetailOutput(CompactionOutput):
    """A compaction with its draft."""

    text: Annotated[str | None, "The whole draft; null without one."]
    diff: Annotated[str | None, "The lines that differ, as in a unified diff."]
    is_current: Annotated[bool, "Whether MEMORY.md is still the text that the draft was made from."]
    facts: list[FactChangeOutput]


def compaction_json(row: Compaction) -> CompactionOutput:
    """Return a compaction as the API shows it."""
    counts = Counter(fact["action"] for fact in row.facts)
    return render(
        CompactionOutput,
        row,
        counts=render(FactCountsOutput, counts),
        model=render(ModelUseOutput, row.model_use) if row.model_use else None,
        created_at=row.created_at.isoformat(),
        drafted_at=None if row.drafted_at is None else row.drafted_at.isoformat(),
        decided_at=None if row.decided_at is None else row.decided_at.isoformat(),
    )


def compaction_detail_json(detail: CompactionDetail) -> CompactionDetailOutput:
    """Return a compaction with its draft as the API shows it."""
    return {
        **compaction_json(detail.compaction),
        "text": detail.text,
        "diff": detail.diff,
        "is_current": detail.is_current,
        "facts": detail.compaction.facts,
    }
