"""Inputs and outputs of items: what a source has, and the full text of each."""

from typing import Annotated, Any, TypedDict

from rest_framework import serializers

from apps.core.schemas.fields import OwnersTextField, StrictCharField, StrictChoiceField
from apps.core.schemas.outputs import Moment, Uuid, iso, render
from apps.core.schemas.serializers import StrictSerializer
from apps.sync.domain.knowledge import Severity
from apps.sync.models import (
    ItemStatusChoices,
    ItemTypeChoices,
    KnowledgeItem,
    LayerChoices,
)
from apps.sync.repository.entries import LoggedCommit
from apps.sync.schemas.sources import OwnedListInput, WordField
from apps.sync.sources.texts import ItemDiff, ItemText

SEVERITIES = [each.value for each in Severity]
COMMIT_PATTERN = r"^(?:[0-9a-f]{40}|[0-9a-f]{64})$"


class ItemListInput(OwnedListInput):
    """The query string of the list of items."""

    source = serializers.UUIDField(required=False)
    type = StrictChoiceField(choices=ItemTypeChoices.choices, required=False)
    layer = StrictChoiceField(choices=LayerChoices.choices, required=False)
    status = StrictChoiceField(choices=ItemStatusChoices.choices, required=False)
    q = StrictCharField(required=False, max_length=200, help_text="Only items with this text in the title or id.")
    include = OwnersTextField(help_text="Owners granted to the key, separated by commas.")


class ItemInput(StrictSerializer):
    """The query string of an item."""

    commit = WordField(
        COMMIT_PATTERN, required=False, help_text="The commit to read it at. Default: that of the last sync."
    )


class DiffInput(StrictSerializer):
    """The query string of a difference."""

    to = WordField(COMMIT_PATTERN, required=False, help_text="Default: that of the last sync.")

    def get_fields(self) -> Any:
        """Return all fields: `from` is a keyword of Python, so it is added by name."""
        return {"from": WordField(COMMIT_PATTERN, help_text="The commit to compare with."), **super().get_fields()}


class FileListInput(OwnedListInput):
    """The query string of the files of a source."""

    refused = serializers.BooleanField(
        required=False, default=serializers.empty, help_text="Only those that could not be read."
    )


class ConstraintOutput(TypedDict):
    """A rule that an item lays down."""

    text: str
    severity: Annotated[str, serializers.ChoiceField(choices=SEVERITIES)]


class ItemOutput(TypedDict):
    """An item as the last sync left it."""

    id: Uuid
    source: Uuid
    source_name: str
    item_id: str
    path: str
    type: Annotated[str, serializers.ChoiceField(choices=ItemTypeChoices.choices)]
    title: str
    summary: str
    status: Annotated[str, serializers.ChoiceField(choices=ItemStatusChoices.choices)]
    layer: Annotated[str, serializers.ChoiceField(choices=LayerChoices.choices)]
    constraints: list[ConstraintOutput]
    tags: list[str]
    supersedes: Annotated[list[str], "Ids of items of the source."]
    superseded_by: list[str]
    hash: Annotated[str, "Hash of text, constraints and status."]
    commit: Annotated[str, "The commit at which it was read."]
    pointer: Annotated[str | None, serializers.UUIDField(allow_null=True), "Its memory."]
    synced_at: Moment


class ItemTextOutput(TypedDict):
    """The text of an item at a commit."""

    commit: Annotated[str, "Blank for a file in a folder that has changed since the last sync."]
    path: str
    text: str


class ItemDetailOutput(ItemOutput):
    """An item with its full text."""

    content: ItemTextOutput


class ItemDiffOutput(TypedDict):
    """What changed in the text of an item between two commits."""

    old: str
    new: str
    path: str
    diff: Annotated[str, "A unified diff; blank where nothing changed."]


class CommitOutput(TypedDict):
    """A commit that changed the file of an item."""

    commit: str
    at: Moment
    subject: Annotated[str, "The first line of its message."]


class ItemHistoryOutput(TypedDict):
    """The commits that changed the file of an item, the newest first."""

    results: list[CommitOutput]
    count: int


class ManifestEntryOutput(TypedDict):
    """A line of the manifest."""

    id: Uuid
    item_id: str
    path: str
    type: Annotated[str, serializers.ChoiceField(choices=ItemTypeChoices.choices)]
    title: str
    status: Annotated[str, serializers.ChoiceField(choices=ItemStatusChoices.choices)]
    layer: Annotated[str, serializers.ChoiceField(choices=LayerChoices.choices)]
    hash: str
    commit: str
    pointer: Annotated[str | None, serializers.UUIDField(allow_null=True)]


class ManifestOutput(TypedDict):
    """All items of a source as the last sync left them, in the order of their ids."""

    results: list[ManifestEntryOutput]
    count: int


class KnowledgeFileOutput(TypedDict):
    """A file of a source as it was read last."""

    path: str
    item_id: Annotated[str | None, "What it became; null for a file that could not be read."]
    code: Annotated[str, "Why it did not become an item; blank otherwise."]
    detail: str


def item_json(item: KnowledgeItem) -> ItemOutput:
    """Return an item as the API shows it."""
    return render(
        ItemOutput,
        item,
        source=str(item.source.uuid),
        source_name=item.source.name,
        constraints=[{"text": each["text"], "severity": each["severity"]} for each in item.constraints],
        pointer=str(item.pointer) if item.pointer else None,
    )


def item_detail_json(item: KnowledgeItem, text: ItemText) -> ItemDetailOutput:
    """Return an item with its full text as the API shows it."""
    return {**item_json(item), "content": {"commit": text.commit, "path": text.path, "text": text.text}}


def diff_json(found: ItemDiff) -> ItemDiffOutput:
    """Return a difference as the API shows it."""
    return render(ItemDiffOutput, found)


def commit_json(logged: LoggedCommit) -> CommitOutput:
    """Return a commit as the API shows it."""
    return {"commit": logged.commit, "at": iso(logged.at), "subject": logged.subject}


def manifest_json(entry: KnowledgeItem) -> ManifestEntryOutput:
    """Return a line of the manifest as the API shows it."""
    return render(ManifestEntryOutput, entry, pointer=str(entry.pointer) if entry.pointer else None)


def file_json(file: Any) -> KnowledgeFileOutput:
    """Return a file as the API shows it. file: with `became`, the id of its item."""
    return {
        "path": file.path,
        "item_id": None if file.code else file.became,
        "code": file.code,
        "detail": file.detail,
    }
