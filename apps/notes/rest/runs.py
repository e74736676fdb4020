"""Runs of extraction over REST: what was learnt from conversations, why, and taking it back (spec 001)."""

from uuid import UUID

from rest_framework.request import Request
from rest_framework.response import Response

from apps.core.rest.views import HubView, operation
from apps.core.schemas.paging import page_output
from apps.notes import selectors, services
from apps.notes.schemas import runs
from apps.notes.schemas.notes import OwnerInput


class RunsView(HubView):
    """The runs of extraction of a user."""

    @operation(
        "extraction_runs_list", query=runs.RunListInput, answer=page_output(runs.RunOutput, "runs"), errors=(404,)
    )
    def get(self, request: Request) -> Response:
        """List the extraction runs of a user, newest first."""
        data = self.read_query()
        filters = {name: data[name] for name in ("session_id", "state") if name in data}
        listed = selectors.run_list(self.access, data.get("user_id"), filters)
        return self.page(listed, data, runs.run_json)


class RunView(HubView):
    """One run of extraction."""

    @operation("extraction_runs_retrieve", answer=runs.RunDetailOutput, errors=(404,))
    def get(self, request: Request, uuid: UUID) -> Response:
        """Show a run: what came in, what each step decided and why, and what was written."""
        run = selectors.run_get(self.access, uuid)
        return Response(runs.run_detail_json(run, selectors.run_facts(run)))


class FactUndoView(HubView):
    """Takes back a fact."""

    @operation("extracted_facts_undo", answer=runs.FactOutput, errors=(404, 409))
    def post(self, request: Request, uuid: UUID) -> Response:
        """Take back a fact: its line in MEMORY.md, unless a person has changed it, and its memory.

        Undoing it once more changes nothing.
        """
        self.read_body()
        return Response(runs.fact_json(services.fact_undo(access=self.access, uuid=uuid)))


class AutoMemoryStatusView(HubView):
    """How automatic memory is doing."""

    @operation("auto_memory_status", query=OwnerInput, answer=runs.AutoMemoryOutput, errors=(404,))
    def get(self, request: Request) -> Response:
        """Show a user's settings of automatic memory, what is waiting, and what was learnt."""
        data = self.read_query()
        return Response(runs.status_json(selectors.auto_memory_status(self.access, data.get("user_id"))))
