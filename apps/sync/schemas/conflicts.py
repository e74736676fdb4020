"""Inputs and outputs of conflicts between pointers and items."""

from typing import Annotated, TypedDict

from rest_framework import serializers

from apps.core.schemas.fields import StrictChoiceField
from apps.core.schemas.outputs import JSONObject, Moment, Uuid, render
from apps.core.schemas.serializers import StrictSerializer
from apps.sync.domain.state import Resolution
from apps.sync.models import ConflictTypeChoices, PointerConflict, ResolutionChoices, SyncConflictState
from apps.sync.schemas.sources import OwnedListInput

# What a person decides; `manual` is what waits for one.
DECISIONS = [Resolution.UPDATE_MEMORY.value, Resolution.DELETE_MEMORY.value, Resolution.KEEP_MEMORY.value]


class ConflictListInput(OwnedListInput):
    """The query string of the list of conflicts."""

    source = serializers.UUIDField(required=False)
    type = StrictChoiceField(choices=ConflictTypeChoices.choices, required=False)
    state = StrictChoiceField(choices=SyncConflictState.choices, required=False)


class ResolveInput(StrictSerializer):
    """What is done about a conflict."""

    resolution = StrictChoiceField(choices=DECISIONS)


class PointerConflictOutput(TypedDict):
    """A conflict between pointers and an item."""

    id: Uuid
    source: Uuid
    run: Annotated[str, serializers.UUIDField(), "The run that found it."]
    type: Annotated[str, serializers.ChoiceField(choices=ConflictTypeChoices.choices)]
    item_id: str
    pointers: list[Uuid]
    detail: Annotated[JSONObject, "The values that differ."]
    suggested: Annotated[str, serializers.ChoiceField(choices=ResolutionChoices.choices)]
    resolution: Annotated[str, "What was done; blank while it is waiting."]
    state: Annotated[str, serializers.ChoiceField(choices=SyncConflictState.choices)]
    detected_at: Moment
    resolved_at: Moment | None
    resolved_by: str


def conflict_json(conflict: PointerConflict) -> PointerConflictOutput:
    """Return a conflict as the API shows it."""
    return render(
        PointerConflictOutput,
        conflict,
        source=str(conflict.source.uuid),
        run=str(conflict.run.uuid),
        pointers=[str(pointer) for pointer in conflict.pointers],
    )
