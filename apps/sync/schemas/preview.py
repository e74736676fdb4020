"""Inputs and outputs of dry runs."""

from typing import Annotated, TypedDict

from rest_framework import serializers

from apps.core.schemas.fields import JSONObjectField, StrictCharField, StrictChoiceField
from apps.core.schemas.outputs import JSONObject, render
from apps.core.schemas.serializers import StrictSerializer
from apps.sync.models import (
    MAX_PATH_CHARS,
    ConflictTypeChoices,
    ConventionChoices,
    ItemStatusChoices,
    ItemTypeChoices,
    LayerChoices,
    PointerActionChoices,
    ResolutionChoices,
)
from apps.sync.runs.sync import Preview, PreviewFile
from apps.sync.schemas.items import ConstraintOutput
from apps.sync.schemas.sources import MAPPING, patterns_field


class PreviewItemOutput(TypedDict):
    """What a file would become."""

    item_id: str
    type: Annotated[str, serializers.ChoiceField(choices=ItemTypeChoices.choices)]
    title: str
    summary: str
    status: Annotated[str, serializers.ChoiceField(choices=ItemStatusChoices.choices)]
    layer: Annotated[str, serializers.ChoiceField(choices=LayerChoices.choices)]
    constraints: list[ConstraintOutput]
    tags: list[str]
    superseded_by: list[str]


class PreviewFileOutput(TypedDict):
    """A file of a source: the item that it would become, or why it cannot be read."""

    path: str
    item: PreviewItemOutput | None
    code: str
    detail: str


class DeltaOutput(TypedDict):
    """Which items are new, changed and gone, by their ids."""

    added: list[str]
    updated: list[str]
    deleted: list[str]
    unchanged: int


class PreviewConflictOutput(TypedDict):
    """A conflict that a sync would find, and what it would do about it."""

    type: Annotated[str, serializers.ChoiceField(choices=ConflictTypeChoices.choices)]
    item_id: str
    pointers: list[str]
    detail: JSONObject
    suggested: Annotated[str, serializers.ChoiceField(choices=ResolutionChoices.choices)]
    resolution: Annotated[str, serializers.ChoiceField(choices=ResolutionChoices.choices)]


class PreviewChangeOutput(TypedDict):
    """What would be done to a pointer."""

    action: Annotated[str, serializers.ChoiceField(choices=PointerActionChoices.choices)]
    item_id: str
    pointer: Annotated[str | None, serializers.UUIDField(allow_null=True)]
    reason: str


class SyncPreviewOutput(TypedDict):
    """What a sync would do now. Nothing was written."""

    from_commit: str
    commit: str
    files: list[PreviewFileOutput]
    delta: DeltaOutput
    conflicts: list[PreviewConflictOutput]
    changes: list[PreviewChangeOutput]
    advice: Annotated[str, "A suggestion for the source, such as naming a folder; blank if there is none."]
    statuses: Annotated[dict[str, int], "How many items would have each status."]


class PreviewInput(StrictSerializer):
    """Settings to be tried instead of those of the source; nothing of them is kept."""

    mapping = JSONObjectField(required=False, help_text=MAPPING)
    folder = StrictCharField(required=False, allow_blank=True, max_length=MAX_PATH_CHARS)
    include = patterns_field("Only files that match one of these.")
    exclude = patterns_field("Excludes files that match one of these.")
    layer = StrictChoiceField(choices=LayerChoices.choices, required=False)
    convention = StrictChoiceField(choices=ConventionChoices.choices, required=False)


def preview_json(preview: Preview) -> SyncPreviewOutput:
    """Return a dry run as the API shows it."""
    delta = preview.delta
    return render(
        SyncPreviewOutput,
        preview,
        files=[preview_file_json(file) for file in preview.files],
        delta={
            "added": list(delta.added),
            "updated": list(delta.updated),
            "deleted": list(delta.deleted),
            "unchanged": len(delta.unchanged),
        },
        conflicts=[
            render(
                PreviewConflictOutput,
                conflict,
                pointers=[str(pointer) for pointer in conflict.pointers],
                detail=dict(conflict.detail),
                resolution=resolution.value,
            )
            for conflict, resolution in preview.conflicts
        ],
        changes=[render(PreviewChangeOutput, change) for change in preview.changes],
    )


def preview_file_json(file: PreviewFile) -> PreviewFileOutput:
    """Return what a file would become as the API shows it."""
    item, refused = file.item, file.refused
    shown = None
    if item is not None:
        rules = [render(ConstraintOutput, each) for each in item.constraints]
        shown = render(PreviewItemOutput, item, constraints=rules)
    return {
        "path": file.path,
        "item": shown,
        "code": refused.code if refused else "",
        "detail": refused.detail if refused else "",
    }
