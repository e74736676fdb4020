"""Runs over REST: how far each is, and what it did."""

from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.core.rest.views import HubView, validate_query
from apps.core.schemas.serializers import Problem
from apps.sync import selectors
from apps.sync.models import SyncRun
from apps.sync.rest.pages import OLDEST_FIRST, page_of, with_ids
from apps.sync.schemas import runs
from apps.sync.schemas.sources import OwnedListInput


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
