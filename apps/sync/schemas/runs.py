"""Inputs and outputs of syncs: runs, what they changed, checkpoints, and whether one is due."""

from typing import Annotated, Any, TypedDict

from rest_framework import serializers

from apps.core.domain.scope import Access
from apps.core.schemas.fields import OwnersTextField, StrictBooleanField, StrictCharField, StrictChoiceField
from apps.core.schemas.outputs import Moment, Uuid, iso, render
from apps.core.schemas.serializers import StrictSerializer
from apps.sync.domain.triggers import ShouldSync
from apps.sync.models import (
    MAX_ITEM_ID_CHARS,
    PointerActionChoices,
    SyncChange,
    SyncCheckpoint,
    SyncKind,
    SyncRun,
    SyncRunState,
)
from apps.sync.schemas.sources import OwnedListInput
from apps.sync.sources.access import is_inside

# Kinds that a caller may ask for, and why a sync should run or not (spec 003, sync triggers).
REQUESTED_KINDS = [SyncKind.FULL.value, SyncKind.INCREMENTAL.value, SyncKind.SINGLE.value]


class SyncInput(StrictSerializer):
    """A sync that is asked for."""

    kind = StrictChoiceField(choices=REQUESTED_KINDS, required=False, default=SyncKind.INCREMENTAL.value)
    item_id = StrictCharField(required=False, max_length=MAX_ITEM_ID_CHARS, help_text="Required for a `single` sync.")
    wait = StrictBooleanField(
        required=False, default=False, help_text="Answer when it has finished rather than at once; for small sources."
    )
    allow_empty = StrictBooleanField(
        required=False, default=False, help_text="If no files are left, delete all pointers rather than fail."
    )


class RollbackInput(StrictSerializer):
    """The checkpoint that a source is taken back to."""

    checkpoint = serializers.UUIDField()


class PauseInput(StrictSerializer):
    """Why a source is paused."""

    reason = StrictCharField(required=False, allow_blank=True, max_length=500)


class SyncRunListInput(OwnedListInput):
    """The query string of the list of runs."""

    source = serializers.UUIDField(required=False)
    include = OwnersTextField(help_text="Owners granted to the key, separated by commas.")
    kind = StrictChoiceField(choices=SyncKind.choices, required=False)
    state = StrictChoiceField(choices=SyncRunState.choices, required=False)


class SyncProgressOutput(TypedDict):
    """How far a run is in its present step."""

    step: Annotated[str, "Blank before it begins and after it has ended."]
    done: int
    total: int


class SyncCountsOutput(TypedDict):
    """What a run did."""

    added: int
    updated: int
    deleted: int
    unchanged: int
    conflicts: int
    failed: Annotated[int, "Files that could not be read."]
    remaining: Annotated[int, "Items that `max_items` leaves for the next run."]


class SyncRunOutput(TypedDict):
    """A run of a source."""

    id: Uuid
    source: Uuid
    kind: Annotated[str, serializers.ChoiceField(choices=SyncKind.choices)]
    state: Annotated[str, serializers.ChoiceField(choices=SyncRunState.choices)]
    reason: Annotated[str, "What started it: `manual`, `threshold`, `scheduled`, `webhook`, ..."]
    actor: Annotated[str | None, "null for keys that only have a grant for the owner."]
    item_id: Annotated[str, "For a sync of a single item."]
    from_commit: str
    to_commit: str
    fallback: Annotated[str, "Why an incremental sync became a full one."]
    progress: SyncProgressOutput
    counts: SyncCountsOutput
    code: Annotated[str, "Why it failed or is not complete: `KNOWLEDGE_UNAVAILABLE`, `PARTIAL_FAILURE`, ..."]
    detail: Annotated[str | None, "null for keys that only have a grant for the owner."]
    requested_at: Moment
    started_at: Moment | None
    ended_at: Moment | None


class RefusedFileOutput(TypedDict):
    """A file that became no item."""

    path: str
    code: str
    detail: str


class SyncRunDetailOutput(SyncRunOutput):
    """A run with what failed."""

    failed_items: Annotated[
        list[RefusedFileOutput] | None, "The first thousand; null for keys that only have a grant for the owner."
    ]
    checkpoint: Annotated[str | None, serializers.UUIDField(allow_null=True), "Of the state before it."]
    rolled_back_by: Annotated[str | None, serializers.UUIDField(allow_null=True)]


class ChangeSideOutput(TypedDict):
    """An item and its pointer before or after a run."""

    path: str | None
    title: str | None
    status: str | None
    layer: str | None
    superseded_by: list[str]
    hash: str | None
    commit: str | None
    content: Annotated[str | None, "Of the pointer; null without one."]


class PointerChangeOutput(TypedDict):
    """What a run did to an item and its pointer."""

    item_id: str
    action: Annotated[str, serializers.ChoiceField(choices=PointerActionChoices.choices)]
    pointer: Annotated[str | None, serializers.UUIDField(allow_null=True)]
    before: Annotated[ChangeSideOutput | None, "null if there was none."]
    after: Annotated[ChangeSideOutput | None, "null if there is none any more."]


class CheckpointOutput(TypedDict):
    """The state of a source before a run."""

    id: Uuid
    run: Uuid
    kind: Annotated[str, serializers.ChoiceField(choices=SyncKind.choices)]
    state: Annotated[str, serializers.ChoiceField(choices=SyncRunState.choices)]
    commit: Annotated[str, "The commit of the last sync before the run; blank before the first."]
    created_at: Moment


class ShouldSyncOutput(TypedDict):
    """Whether a sync is due, and why."""

    should_sync: bool
    reason: Annotated[str, "`threshold` or `scheduled`; `manual` if no trigger is met; or what prevents a sync."]
    detail: str
    due_at: Annotated[Moment | None, "When a trigger will be met."]


def run_json(run: SyncRun, access: Access) -> SyncRunOutput:
    """Return a run as the API shows it to a caller."""
    shows_all = is_inside(access, run.source)
    return render(
        SyncRunOutput,
        run,
        source=str(run.source.uuid),
        actor=run.actor if shows_all else None,
        progress={"step": "" if run.ended_at else run.step, "done": run.done, "total": run.total},
        counts=render(SyncCountsOutput, run),
        detail=run.detail if shows_all else None,
    )


def run_detail_json(run: SyncRun, access: Access) -> SyncRunDetailOutput:
    """Return a run with what failed as the API shows it to a caller."""
    shows_all = is_inside(access, run.source)
    checkpoint = getattr(run, "checkpoint", None) if shows_all else None
    return {
        **run_json(run, access),
        "failed_items": [render(RefusedFileOutput, each) for each in run.failed_items] if shows_all else None,
        "checkpoint": str(checkpoint.uuid) if checkpoint else None,
        "rolled_back_by": str(run.rolled_back_by.uuid) if run.rolled_back_by else None,
    }


def change_json(change: SyncChange) -> PointerChangeOutput:
    """Return what a run did to an item as the API shows it."""
    return {
        "item_id": change.item_id,
        "action": change.action,
        "pointer": str(change.pointer) if change.pointer else None,
        "before": side_json(change.before),
        "after": side_json(change.after),
    }


def side_json(side: dict[str, Any]) -> ChangeSideOutput | None:
    """Return an item and its pointer before or after a run as the API shows it."""
    if not side:
        return None
    item, memory = side.get("item") or {}, side.get("memory") or {}
    return {
        "path": item.get("path"),
        "title": item.get("title"),
        "status": item.get("status"),
        "layer": item.get("layer"),
        "superseded_by": item.get("superseded_by", []),
        "hash": item.get("hash"),
        "commit": item.get("commit"),
        "content": memory.get("content"),
    }


def checkpoint_json(checkpoint: SyncCheckpoint) -> CheckpointOutput:
    """Return a checkpoint as the API shows it."""
    run = checkpoint.run
    return {
        "id": str(checkpoint.uuid),
        "run": str(run.uuid),
        "kind": run.kind,
        "state": run.state,
        "commit": run.from_commit,
        "created_at": iso(checkpoint.created_at),
    }


def should_sync_json(answer: ShouldSync) -> ShouldSyncOutput:
    """Return whether a sync is due as the API shows it."""
    return {
        "should_sync": answer.should,
        "reason": answer.reason,
        "detail": answer.detail,
        "due_at": iso(answer.due_at),
    }
