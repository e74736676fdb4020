"""Inputs and outputs of sources of knowledge, and of what the last sync of each left."""

import re
from collections.abc import Mapping
from datetime import time
from typing import Annotated, Any, TypedDict

from django.urls import reverse
from rest_framework import serializers

from apps.core.domain.errors import InvalidInputError
from apps.core.domain.scope import Access
from apps.core.schemas.fields import (
    BoundedListField,
    IdentifierField,
    JSONObjectField,
    OwnersTextField,
    StrictBooleanField,
    StrictCharField,
    StrictChoiceField,
    StrictIntegerField,
)
from apps.core.schemas.outputs import JSONObject, Moment, Uuid, render
from apps.core.schemas.paging import cursor_field, limit_field
from apps.core.schemas.serializers import StrictSerializer
from apps.sync.domain.state import ConflictType
from apps.sync.domain.triggers import format_duration, parse_duration
from apps.sync.models import (
    MAX_NAME_CHARS,
    MAX_PATH_CHARS,
    MAX_PATTERNS,
    ConventionChoices,
    KnowledgeSource,
    LayerChoices,
    ResolutionChoices,
    SourceKind,
    SyncState,
)
from apps.sync.sources.access import is_inside, may_configure

MAX_SECONDS = 366 * 86_400
MAX_NUMBER = 1_000_000
NAME_PATTERN = r"^(?:\w|\w[\w .:-]*\w)$"
WORD_PATTERN = r"^(?:[A-Za-z0-9][A-Za-z0-9_-]*)?$"
TIME_PATTERN = r"^(?:[01][0-9]|2[0-3]):[0-5][0-9]$"
OF_SERVER = "The name of a secret on the server: MEMORYHUB_SYNC_SECRET_<NAME>, or a file in sync-secrets/."
MAPPING = (
    "How the source's own words map to the hub's: `fields` (name -> field, as `stage` -> "
    "`status`), `statuses` (words -> status, as "
    "`discontinued` -> `deprecated`), `kinds` (folder -> kind of its numbers, as `text` -> `RFC`)."
)
DAILY_AT = "Every day at this time, UTC: `03:00`."


class WordField(serializers.RegexField):
    """Text of a pattern: refuses numbers."""

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        text: str = super().to_internal_value(data)
        return text


def resolution_field() -> StrictChoiceField:
    """Return the field of what is done about a type of conflict."""
    return StrictChoiceField(choices=ResolutionChoices.choices, required=False)


class ResolutionsInput(StrictSerializer):
    """What is done about conflicts instead of the default, by type."""

    hash_mismatch = resolution_field()
    orphaned_pointer = resolution_field()
    duplicate_pointer = resolution_field()
    status_change = resolution_field()
    layer_mismatch = resolution_field()


def patterns_field(help_text: str) -> BoundedListField:
    """Return the field of patterns of paths."""
    child = StrictCharField(max_length=200)
    return BoundedListField(child=child, required=False, max_length=MAX_PATTERNS, help_text=help_text)


def number_field(most: int, help_text: str) -> StrictIntegerField:
    """Return the field of a threshold; null for none."""
    return StrictIntegerField(required=False, allow_null=True, min_value=1, max_value=most, help_text=help_text)


class SourceChanges(StrictSerializer):
    """What may change of a source. Its owner and its kind stay; for others create another source."""

    name = WordField(NAME_PATTERN, required=False, max_length=MAX_NAME_CHARS)
    project = StrictCharField(required=False, allow_blank=True, max_length=200, help_text="Tag for its memories.")
    location = StrictCharField(
        required=False,
        max_length=MAX_PATH_CHARS,
        help_text="An address (https, ssh), or a path below a permitted folder.",
    )
    branch = StrictCharField(
        required=False, allow_blank=True, max_length=200, help_text="Blank: the branch that is checked out."
    )
    folder = StrictCharField(
        required=False, allow_blank=True, max_length=MAX_PATH_CHARS, help_text="Only what is below it."
    )
    include = patterns_field("Only files that match one of these; by default Markdown and reStructuredText.")
    exclude = patterns_field("Excludes files that match one of these.")
    layer = StrictChoiceField(choices=LayerChoices.choices, required=False, help_text="For items that do not name one.")
    convention = StrictChoiceField(choices=ConventionChoices.choices, required=False)
    mapping = JSONObjectField(required=False, help_text=MAPPING)
    resolutions = ResolutionsInput(required=False)
    credentials = WordField(WORD_PATTERN, required=False, allow_blank=True, max_length=100, help_text=OF_SERVER)
    webhook_secret = WordField(WORD_PATTERN, required=False, allow_blank=True, max_length=100, help_text=OF_SERVER)
    staleness_seconds = number_field(MAX_SECONDS, "Sync when the last sync is older than this; null: never.")
    staleness = StrictCharField(
        required=False,
        max_length=40,
        help_text="The same as a time span, such as `6h` or `1d12h`; send one of the two.",
    )
    session_threshold = number_field(MAX_NUMBER, "Sync after this many sessions; null: never.")
    daily_at = WordField(TIME_PATTERN, required=False, allow_null=True, help_text=DAILY_AT)
    max_items = number_field(MAX_NUMBER, "The most changes in one incremental sync; null: no limit.")
    enabled = StrictBooleanField(required=False)


class SourceInput(SourceChanges):
    """A source to be created, and whose memories its pointers will be."""

    name = WordField(NAME_PATTERN, max_length=MAX_NAME_CHARS)
    user_id = IdentifierField(required=False, help_text="Usually a team: `team:platform`.")
    kind = StrictChoiceField(choices=SourceKind.choices)
    location = StrictCharField(
        max_length=MAX_PATH_CHARS, help_text="An address (https, ssh), or a path below a permitted folder."
    )


class OwnedListInput(StrictSerializer):
    """The query string of a list of what sources have."""

    limit = limit_field()
    cursor = cursor_field()
    count = serializers.BooleanField(
        required=False, default=serializers.empty, help_text="Add the total number of rows, as `total`."
    )


class SourceListInput(OwnedListInput):
    """The query string of the list of sources."""

    user_id = IdentifierField(required=False)
    include = OwnersTextField(help_text="Owners granted to the key, separated by commas.")


class SourceOutput(TypedDict):
    """A source of knowledge."""

    id: Uuid
    name: str
    user_id: str
    project: str
    kind: Annotated[str, serializers.ChoiceField(choices=SourceKind.choices)]
    location: Annotated[str | None, "null for keys that only have a grant for the owner."]
    branch: str
    folder: str
    include: list[str]
    exclude: list[str]
    layer: Annotated[str, serializers.ChoiceField(choices=LayerChoices.choices)]
    convention: Annotated[str, serializers.ChoiceField(choices=ConventionChoices.choices)]
    mapping: JSONObject
    resolutions: JSONObject
    credentials: Annotated[str | None, "The name of a secret; null for everyone but its operators."]
    webhook_secret: Annotated[str | None, "The name of a secret; null for everyone but its operators."]
    webhook: Annotated[str, "Where the Git host reports pushes."]
    staleness_seconds: int | None
    staleness: Annotated[str | None, "The same as a time span, such as `6h`."]
    session_threshold: int | None
    daily_at: str | None
    max_items: int | None
    enabled: bool
    paused: Annotated[str, "Why no trigger starts a sync; blank if nothing prevents it."]
    created_at: Moment
    created_by: Annotated[str | None, "null for everyone but its operators."]
    updated_at: Moment


class SyncStateOutput(TypedDict):
    """What the last complete sync of a source left."""

    last_sync_at: Moment | None
    last_full_sync_at: Moment | None
    last_commit: Annotated[str, "Blank before the first sync."]
    sessions_since_sync: int
    items: int
    pointers: Annotated[int, "Items that have a memory."]
    refused_files: int
    open_conflicts: int
    retries: Annotated[int, "How many times in a row the source could not be read."]
    next_try_at: Annotated[Moment | None, "For a source that could not be read."]
    checksum: Annotated[str, "Over hashes, pointers, commit and time."]
    paused: str


def read_values(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return validated input as the values of a source."""
    values = dict(data)
    if "staleness" in values:
        seconds = parse_duration(values.pop("staleness"), attr="staleness")
        if values.setdefault("staleness_seconds", seconds) != seconds:
            raise InvalidInputError("Send either staleness or staleness_seconds, not both.", attr="staleness")
    if values.get("daily_at") is not None:
        values["daily_at"] = read_time(values["daily_at"])
    return values


def read_time(text: str) -> time:
    """Return a time of the day. Raises InvalidInputError."""
    if not re.match(TIME_PATTERN, text):
        raise InvalidInputError("Send a time of day such as 03:00.", attr="daily_at")
    return time.fromisoformat(text)


def source_json(source: KnowledgeSource, access: Access) -> SourceOutput:
    """Return a source as the API shows it to a caller."""
    is_operator = may_configure(access, source)
    return render(
        SourceOutput,
        source,
        location=source.location if is_inside(access, source) else None,
        resolutions={name: source.resolutions[name] for name in ConflictType if name in source.resolutions},
        credentials=source.credentials if is_operator else None,
        webhook_secret=source.webhook_secret if is_operator else None,
        webhook=reverse("sync-webhook", args=[source.uuid]),
        staleness=format_duration(source.staleness_seconds) if source.staleness_seconds else None,
        daily_at=source.daily_at.strftime("%H:%M") if source.daily_at else None,
        created_by=source.created_by if is_operator else None,
    )


def state_json(source: KnowledgeSource, state: SyncState) -> SyncStateOutput:
    """Return the state of a source as the API shows it."""
    return render(
        SyncStateOutput,
        state,
        items=source.items.count(),
        pointers=source.items.exclude(pointer=None).count(),
        refused_files=source.files.exclude(code="").count(),
        open_conflicts=source.conflicts.filter(state="open").count(),
        paused=source.paused,
    )
