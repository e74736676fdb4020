"""Views of receipts (DESIGN section 5)."""

from uuid import UUID

from rest_framework.request import Request
from rest_framework.response import Response

from apps.core.rest.views import HubView, operation
from apps.core.schemas.outputs import Url
from apps.core.schemas.paging import Total, page_filters, page_output
from apps.core.schemas.serializers import scope_of
from apps.semantic import selectors, services
from apps.semantic.schemas.conflicts import (
    ConflictListInput,
    ConflictOutput,
    OverrideInput,
    render_conflict,
)


class ConflictsView(HubView):
    """All receipts of the caller's."""

    @operation(
        "conflicts_list",
        query=ConflictListInput,
        answer=page_output(ConflictOutput, "receipts", link=Url, total=Total, name="ConflictPage"),
        errors=(404,),
    )
    def get(self, request: Request) -> Response:
        """List decisions about memories that disagree, newest first."""
        data = self.read_query()
        receipts = selectors.conflict_list(self.access, scope_of(data), page_filters(data))
        return self.page(receipts, data, lambda receipt: render_conflict(receipt, self.access))


class ReceiptView(HubView):
    """A view that answers a receipt."""

    def answer(self, uuid: UUID) -> Response:
        """Return a receipt as it is now, with its memories as they are after a change."""
        return Response(render_conflict(selectors.conflict_get(self.access, uuid), self.access))


class ConflictView(ReceiptView):
    """One receipt."""

    @operation("conflicts_retrieve", answer=ConflictOutput)
    def get(self, request: Request, uuid: UUID) -> Response:
        """Show a receipt: the signals, the rule, the decision, and every row that it changed."""
        return self.answer(uuid)


class RevertView(ReceiptView):
    """Undo a decision."""

    @operation("conflicts_revert", answer=ConflictOutput, errors=(409,))
    def post(self, request: Request, uuid: UUID) -> Response:
        """Restore the state before the decision, and return the receipt of the revert.

        What the decision created, including the saved memory, is soft-deleted. To keep both memories,
        override it with `both`.
        """
        self.read_body()
        return self.answer(services.conflict_revert(access=self.access, uuid=uuid).uuid)


class AcceptView(ReceiptView):
    """Say that a decision is right."""

    @operation("conflicts_accept", answer=ConflictOutput, errors=(409,))
    def post(self, request: Request, uuid: UUID) -> Response:
        """Accept a decision, so that it leaves the review queue."""
        self.read_body()
        return self.answer(services.conflict_accept(access=self.access, uuid=uuid).uuid)


class OverrideView(ReceiptView):
    """Decide otherwise."""

    @operation("conflicts_override", body=OverrideInput, answer=ConflictOutput, errors=(409,))
    def post(self, request: Request, uuid: UUID) -> Response:
        """Make the candidate, the existing memory, or both active, and return the new receipt."""
        winner = services.Winner(self.read_body()["winner"])
        return self.answer(services.conflict_override(access=self.access, uuid=uuid, winner=winner).uuid)
