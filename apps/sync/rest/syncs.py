"""Syncs of a source and their runs over REST (spec 003, sync operations, triggers, checkpoint and rollback)."""

from uuid import UUID

from django.urls import reverse
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.core.rest.views import HubView, operation
from apps.core.schemas.paging import OLDEST_FIRST, page_output
from apps.core.schemas.serializers import validate
from apps.sync import selectors, services
from apps.sync.models import SyncKind
from apps.sync.rest.sources import with_ids
from apps.sync.schemas import runs
from apps.sync.schemas.preview import PreviewInput, SyncPreviewOutput, preview_json
from apps.sync.schemas.sources import OwnedListInput, SyncStateOutput, state_json


class SyncView(HubView):
    """Syncs a source."""

    is_heavy = True

    @operation(
        "sync_sources_sync",
        body=runs.SyncInput,
        answer={202: runs.SyncRunOutput, 200: runs.SyncRunDetailOutput},
        errors=(409,),
    )
    def post(self, request: Request, uuid: UUID) -> Response:
        """Sync a source in the background; if a run for the same is already waiting, return that one.

        With `wait`, the answer comes when the sync has finished.
        """
        data = self.read_body()
        kind, item_id, allow_empty = SyncKind(data["kind"]), data.get("item_id", ""), data["allow_empty"]
        if data["wait"]:
            run = services.sync_run(access=self.access, uuid=uuid, kind=kind, item_id=item_id, allow_empty=allow_empty)
            return Response(runs.run_detail_json(run, self.access))
        run = services.sync_request(access=self.access, uuid=uuid, kind=kind, item_id=item_id, allow_empty=allow_empty)
        address = {"Location": reverse("sync-run", args=[run.uuid])}
        return Response(runs.run_json(run, self.access), status=status.HTTP_202_ACCEPTED, headers=address)


class ShouldSyncView(HubView):
    """Whether a sync is due."""

    @operation("sync_sources_should_sync", answer=runs.ShouldSyncOutput)
    def get(self, request: Request, uuid: UUID) -> Response:
        """Say whether a trigger is met, and which one."""
        return Response(runs.should_sync_json(selectors.should_sync_of(self.access, uuid)))


class SessionsView(HubView):
    """Counts sessions."""

    @operation("sync_sources_session", answer=SyncStateOutput, errors=(409,))
    def post(self, request: Request, uuid: UUID) -> Response:
        """Count one more session of an assistant since the last sync."""
        self.read_body()
        state = services.session_note(access=self.access, uuid=uuid)
        return Response(state_json(selectors.source_get(self.access, uuid), state))


class PreviewView(HubView):
    """Previews a sync."""

    is_heavy = True

    @operation("sync_sources_preview", body=PreviewInput, answer=SyncPreviewOutput, errors=(409,))
    def post(self, request: Request, uuid: UUID) -> Response:
        """Show what a full sync would do, what each file would become and which cannot be read. Nothing is written.

        Settings in the body are tried instead of those of the source.
        """
        values = validate(PreviewInput, request.data or {})
        return Response(preview_json(services.sync_preview(access=self.access, uuid=uuid, values=values)))


class CheckpointsView(HubView):
    """The checkpoints of a source."""

    @operation(
        "sync_sources_checkpoints", query=OwnedListInput, answer=page_output(runs.CheckpointOutput, "checkpoints")
    )
    def get(self, request: Request, uuid: UUID) -> Response:
        """List the states that a source can be rolled back to, newest first."""
        data = self.read_query()
        checkpoints = selectors.checkpoint_list(self.access, uuid)
        return self.page(checkpoints, data, runs.checkpoint_json, within=checkpoints)


class RollbackView(HubView):
    """Takes a source back."""

    is_heavy = True

    @operation("sync_sources_rollback", body=runs.RollbackInput, answer=runs.SyncRunDetailOutput, errors=(409,))
    def post(self, request: Request, uuid: UUID) -> Response:
        """Restore memories and state as they were at a checkpoint, and pause the source; for operators."""
        checkpoint = self.read_body()["checkpoint"]
        run = services.sync_rollback(access=self.access, uuid=uuid, checkpoint=checkpoint)
        return Response(runs.run_detail_json(run, self.access))


class RunsView(HubView):
    """The runs of sources."""

    @operation(
        "sync_runs_list", query=runs.SyncRunListInput, answer=page_output(runs.SyncRunOutput, "runs"), errors=(404,)
    )
    def get(self, request: Request) -> Response:
        """List runs, newest first."""
        data = self.read_query()
        listed = selectors.run_list(self.access, data.get("source"), include=data.get("include", ()))
        filters = {name: data[name] for name in ("kind", "state") if name in data}
        shown = listed.filter(**filters)
        return self.page(shown, data, lambda run: runs.run_json(run, self.access), within=listed)


class RunView(HubView):
    """One run."""

    @operation("sync_runs_retrieve", answer=runs.SyncRunDetailOutput)
    def get(self, request: Request, uuid: UUID) -> Response:
        """Show a run: its progress, what it did, and which files failed."""
        return Response(runs.run_detail_json(selectors.run_get(self.access, uuid), self.access))


class ChangesView(HubView):
    """What a run did."""

    @operation(
        "sync_runs_changes",
        query=OwnedListInput,
        answer=page_output(runs.PointerChangeOutput, "changes", ", in the order in which they were made"),
    )
    def get(self, request: Request, uuid: UUID) -> Response:
        """List what a run did to each item and its memory, with the previous values."""
        data = self.read_query()
        changes = with_ids(selectors.change_list(self.access, uuid), "pk")
        return self.page(changes, data, runs.change_json, within=changes, order=OLDEST_FIRST)
