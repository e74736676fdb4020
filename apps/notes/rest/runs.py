"""Runs of extraction over REST: what was learnt from conversations, why, and taking it back (spec 001)."""

from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.core.rest.views import HubView, refuse_body, validate_query
from apps.core.schemas.paging import Page, page_links
from apps.core.schemas.serializers import Problem
from apps.notes import selectors, services
from apps.notes.schemas import runs
from apps.notes.schemas.notes import OwnerInput


class RunsView(HubView):
    """The runs of extraction of a user."""

    query_methods = frozenset({"GET", "HEAD"})

    @extend_schema(
        operation_id="extraction_runs_list",
        parameters=[runs.RunListInput],
        responses={200: runs.RunPageOutput, 404: Problem},
    )
    def get(self, request: Request) -> Response:
        """List the extraction runs of a user, newest first."""
        data = validate_query(runs.RunListInput, request)
        filters = {name: data[name] for name in ("session_id", "state") if name in data}
        listed = selectors.run_list(self.access, data.get("user_id"), filters)
        page: Page[selectors.ExtractionRun] = Page(listed, self.access, data.get("cursor"), data.get("limit"))
        return Response({**page_links(page, request), "results": [runs.run_json(run) for run in page.rows]})


class RunView(HubView):
    """One run of extraction."""

    @extend_schema(operation_id="extraction_runs_retrieve", responses={200: runs.RunDetailOutput, 404: Problem})
    def get(self, request: Request, uuid: UUID) -> Response:
        """Show a run: what came in, what each step decided and why, and what was written."""
        run = selectors.run_get(self.access, uuid)
        return Response(runs.run_detail_json(run, selectors.run_facts(run)))


class FactUndoView(HubView):
    """Takes back a fact."""

    @extend_schema(
        operation_id="extracted_facts_undo",
        request=None,
        responses={200: runs.FactOutput, 404: Problem, 409: Problem},
    )
    def post(self, request: Request, uuid: UUID) -> Response:
        """Take back a fact: its line in MEMORY.md, unless a person has changed it, and its memory.

        Undoing it once more changes nothing.
        """
        refuse_body(request)
        return Response(runs.fact_json(services.fact_undo(access=self.access, uuid=uuid)))


class AutoMemoryStatusView(HubView):
    """How automatic memory is doing."""

    query_methods = frozenset({"GET", "HEAD"})

    @extend_schema(
        operation_id="auto_memory_status",
        parameters=[OwnerInput],
        responses={200: runs.AutoMemoryOutput, 404: Problem},
    )
    def get(self, request: Request) -> Response:
        """Show a user's settings of automatic memory, what is waiting, and what was learnt."""
        data = validate_query(OwnerInput, request)
        return Response(runs.status_json(selectors.auto_memory_status(self.access, data.get("user_id"))))
