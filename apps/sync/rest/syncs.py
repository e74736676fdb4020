"""Syncs over REST (spec 003): operations, runs, checkpoints, conflicts, and deliveries of forges."""

from collections.abc import Mapping
from typing import IO, Any
from uuid import UUID

from django.urls import reverse
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.parsers import BaseParser
from rest_framework.request import Request
from rest_framework.response import Response

from apps.core.rest.views import HubView, refuse_body, validate_query
from apps.core.schemas.bodies import KIB, BodyLimit, BodyTooLargeError
from apps.core.schemas.serializers import Problem, validate
from apps.sync import selectors, services
from apps.sync.domain.state import Resolution
from apps.sync.models import SyncKind, SyncRun
from apps.sync.rest.pages import OLDEST_FIRST, page_of, with_ids
from apps.sync.schemas import runs
from apps.sync.schemas.preview import PreviewInput, SyncPreviewOutput, preview_json
from apps.sync.schemas.sources import OwnedListInput, SyncStateOutput, state_json

# A push of thousands of commits; what forges send of it is cut there.
MAX_DELIVERY_KIB = 5 * 1024


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


class PointerConflictsView(HubView):
    """The conflicts of sources."""

    query_methods = frozenset({"GET", "HEAD"})

    @extend_schema(
        operation_id="sync_conflicts_list",
        parameters=[runs.ConflictListInput],
        responses={200: runs.PointerConflictPageOutput, 404: Problem},
    )
    def get(self, request: Request) -> Response:
        """List conflicts between memories and the items that they point to, newest first."""
        data = validate_query(runs.ConflictListInput, request)
        listed = selectors.conflict_list(self.access, data.get("source"))
        filters = {name: data[name] for name in ("type", "state") if name in data}
        return page_of(listed.filter(**filters), request, self.access, data, runs.conflict_json, within=listed)


class PointerConflictView(HubView):
    """One conflict."""

    @extend_schema(operation_id="sync_conflicts_retrieve", responses={200: runs.PointerConflictOutput})
    def get(self, request: Request, uuid: UUID) -> Response:
        """Show a conflict between memories and an item."""
        return Response(runs.conflict_json(selectors.conflict_get(self.access, uuid)))


class ResolveView(HubView):
    """Resolves a conflict."""

    @extend_schema(
        operation_id="sync_conflicts_resolve",
        request=runs.ResolveInput,
        responses={200: runs.PointerConflictOutput, 409: Problem},
    )
    def post(self, request: Request, uuid: UUID) -> Response:
        """Decide a conflict that is waiting for a person; for operators."""
        resolution = Resolution(validate(runs.ResolveInput, request.data)["resolution"])
        return Response(
            runs.conflict_json(services.conflict_resolve(access=self.access, uuid=uuid, resolution=resolution))
        )


class RunsView(HubView):
    """The runs of sources."""

    query_methods = frozenset({"GET", "HEAD"})

    @extend_schema(
        operation_id="sync_runs_list",
        parameters=[runs.SyncRunListInput],
        responses={200: runs.SyncRunPageOutput, 404: Problem},
    )
    def get(self, request: Request) -> Response:
        """List runs, newest first."""
        data = validate_query(runs.SyncRunListInput, request)
        listed = selectors.run_list(self.access, data.get("source"), include=data.get("include", ()))
        filters = {name: data[name] for name in ("kind", "state") if name in data}
        return page_of(listed.filter(**filters), request, self.access, data, self.shown, within=listed)

    def shown(self, run: SyncRun) -> runs.SyncRunOutput:
        """Return a run as the caller sees it."""
        return runs.run_json(run, self.access)


class RunView(HubView):
    """One run."""

    @extend_schema(operation_id="sync_runs_retrieve", responses={200: runs.SyncRunDetailOutput})
    def get(self, request: Request, uuid: UUID) -> Response:
        """Show a run: its progress, what it did, and which files failed."""
        return Response(runs.run_detail_json(selectors.run_get(self.access, uuid), self.access))


class ChangesView(HubView):
    """What a run did."""

    query_methods = frozenset({"GET", "HEAD"})

    @extend_schema(
        operation_id="sync_runs_changes", parameters=[OwnedListInput], responses={200: runs.PointerChangePageOutput}
    )
    def get(self, request: Request, uuid: UUID) -> Response:
        """List what a run did to each item and its memory, with the previous values."""
        data = validate_query(OwnedListInput, request)
        changes = with_ids(selectors.change_list(self.access, uuid), "pk")
        return page_of(changes, request, self.access, data, runs.change_json, order=OLDEST_FIRST)


def delivery_limit() -> BodyLimit:
    """Return the limit of a delivery, which is read as bytes."""
    return BodyLimit(MAX_DELIVERY_KIB * KIB, 0)


class BytesParser(BaseParser):
    """Any body, left as it is: the signature is of its bytes."""

    media_type = "*/*"

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        """Return the body, as bytes. Raises BodyTooLargeError."""
        limit = delivery_limit()
        body: bytes = stream.read(limit.size + 1)
        if len(body) > limit.size:
            raise BodyTooLargeError(limit.size)
        return body


class WebhookView(HubView):
    """Takes deliveries of GitHub, GitLab, Gitea and Forgejo, without a key: the secret of the source proves them."""

    authentication_classes = ()
    permission_classes = ()
    parser_classes = (BytesParser,)
    body_limit = staticmethod(delivery_limit)

    @extend_schema(exclude=True)
    def post(self, request: Request, uuid: UUID) -> Response:
        """Request an incremental sync; 404 for an unknown source and for a wrong signature alike."""
        body = request.data if isinstance(request.data, bytes) else b""
        answer = services.webhook_receive(uuid=uuid, headers=request.headers, body=body)
        shown = {"accepted": answer.accepted, "reason": answer.reason, "run": str(answer.run) if answer.run else None}
        return Response(shown, status=status.HTTP_202_ACCEPTED if answer.accepted else status.HTTP_200_OK)
