"""Syncs of a source over REST (spec 003, sync operations, triggers, checkpoint and rollback)."""

from uuid import UUID

from django.urls import reverse
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.core.rest.views import HubView, refuse_body, validate_query
from apps.core.schemas.serializers import Problem, validate
from apps.sync import selectors, services
from apps.sync.models import SyncKind
from apps.sync.rest.pages import page_of
from apps.sync.schemas import runs
from apps.sync.schemas.preview import PreviewInput, SyncPreviewOutput, preview_json
from apps.sync.schemas.sources import OwnedListInput, SyncStateOutput, state_json


class SyncView(HubView):
    """Syncs a source."""

    is_heavy = True

    @extend_schema(
        operation_id="sync_sources_sync",
        request=runs.SyncInput,
        responses={202: runs.SyncRunOutput, 200: runs.SyncRunDetailOutput, 409: Problem},
    )
    def post(self, request: Request, uuid: UUID) -> Response:
        """Sync a source in the background; if a run for the same is already waiting, return that one.

        With `wait`, the answer comes when the sync has finished.
        """
        data = validate(runs.SyncInput, request.data)
        kind, item_id, allow_empty = SyncKind(data["kind"]), data.get("item_id", ""), data["allow_empty"]
        if data["wait"]:
            run = services.sync_run(access=self.access, uuid=uuid, kind=kind, item_id=item_id, allow_empty=allow_empty)
            return Response(runs.run_detail_json(run, self.access))
        run = services.sync_request(access=self.access, uuid=uuid, kind=kind, item_id=item_id, allow_empty=allow_empty)
        address = {"Location": reverse("sync-run", args=[run.uuid])}
        return Response(runs.run_json(run, self.access), status=status.HTTP_202_ACCEPTED, headers=address)


class ShouldSyncView(HubView):
    """Whether a sync is due."""

    @extend_schema(operation_id="sync_sources_should_sync", responses={200: runs.ShouldSyncOutput})
    def get(self, request: Request, uuid: UUID) -> Response:
        """Say whether a trigger is met, and which one."""
        return Response(runs.should_sync_json(selectors.should_sync_of(self.access, uuid)))


class SessionsView(HubView):
    """Counts sessions."""

    @extend_schema(operation_id="sync_sources_session", request=None, responses={200: SyncStateOutput, 409: Problem})
    def post(self, request: Request, uuid: UUID) -> Response:
        """Count one more session of an assistant since the last sync."""
        refuse_body(request)
        state = services.session_note(access=self.access, uuid=uuid)
        return Response(state_json(selectors.source_get(self.access, uuid), state))


class PreviewView(HubView):
    """Previews a sync."""

    is_heavy = True

    @extend_schema(
        operation_id="sync_sources_preview", request=PreviewInput, responses={200: SyncPreviewOutput, 409: Problem}
    )
    def post(self, request: Request, uuid: UUID) -> Response:
        """Show what a full sync would do, what each file would become and which cannot be read. Nothing is written.

        Settings in the body are tried instead of those of the source.
        """
        values = validate(PreviewInput, request.data or {})
        return Response(preview_json(services.sync_preview(access=self.access, uuid=uuid, values=values)))


class CheckpointsView(HubView):
    """The checkpoints of a source."""

    query_methods = frozenset({"GET", "HEAD"})

    @extend_schema(
        operation_id="sync_sources_checkpoints",
        parameters=[OwnedListInput],
        responses={200: runs.CheckpointPageOutput},
    )
    def get(self, request: Request, uuid: UUID) -> Response:
        """List the states that a source can be rolled back to, newest first."""
        data = validate_query(OwnedListInput, request)
        checkpoints = selectors.checkpoint_list(self.access, uuid)
        return page_of(checkpoints, request, self.access, data, runs.checkpoint_json)


class RollbackView(HubView):
    """Takes a source back."""

    is_heavy = True

    @extend_schema(
        operation_id="sync_sources_rollback",
        request=runs.RollbackInput,
        responses={200: runs.SyncRunDetailOutput, 409: Problem},
    )
    def post(self, request: Request, uuid: UUID) -> Response:
        """Restore memories and state as they were at a checkpoint, and pause the source; for operators."""
        checkpoint = validate(runs.RollbackInput, request.data)["checkpoint"]
        run = services.sync_rollback(access=self.access, uuid=uuid, checkpoint=checkpoint)
        return Response(runs.run_detail_json(run, self.access))
