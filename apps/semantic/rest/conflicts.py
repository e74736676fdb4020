"""Views of receipts (DESIGN section 5)."""

from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.core.rest.views import HubView, refuse_body, validate_query
from apps.core.schemas.paging import Page, page_filters, page_links
from apps.core.schemas.serializers import Problem, scope_of, validate
from apps.semantic import selectors, services
from apps.semantic.schemas.conflicts import (
    ConflictListInput,
    ConflictOutput,
    ConflictPage,
    OverrideInput,
    render_conflict,
)


class ConflictsView(HubView):
    """All receipts of the caller's."""

    query_methods = frozenset({"GET", "HEAD"})

    @extend_schema(
        operation_id="conflicts_list", parameters=[ConflictListInput], responses={200: ConflictPage, 404: Problem}
    )
    def get(self, request: Request) -> Response:
        """List decisions about memories that disagree, newest first."""
        data = validate_query(ConflictListInput, request)
        receipts = selectors.conflict_list(self.access, scope_of(data), page_filters(data))
        page = Page(receipts, self.access, data.get("cursor"), data.get("limit"), count=data.get("count", False))
        results = [render_conflict(receipt, self.access) for receipt in page.rows]
        return Response({**page_links(page, request), "results": results})


class ReceiptView(HubView):
    """A view that answers a receipt."""

    def answer(self, uuid: UUID) -> Response:
        """Return a receipt as it is now, with its memories as they are after a change."""
        return Response(render_conflict(selectors.conflict_get(self.access, uuid), self.access))


class ConflictView(ReceiptView):
    """One receipt."""

    @extend_schema(operation_id="conflicts_retrieve", responses={200: ConflictOutput})
    def get(self, request: Request, uuid: UUID) -> Response:
        """Show a receipt: the signals, the rule, the decision, and every row that it changed."""
        return self.answer(uuid)


class RevertView(ReceiptView):
    """Undo a decision."""

    @extend_schema(operation_id="conflicts_revert", request=None, responses={200: ConflictOutput, 409: Problem})
    def post(self, request: Request, uuid: UUID) -> Response:
        """Restore the state before the decision, and return the receipt of the revert.

        What the decision created, including the saved memory, is soft-deleted. To keep both memories,
        override it with `both`.
        """
        refuse_body(request)
        return self.answer(services.conflict_revert(access=self.access, uuid=uuid).uuid)


class AcceptView(ReceiptView):
    """Say that a decision is right."""

    @extend_schema(operation_id="conflicts_accept", request=None, responses={200: ConflictOutput, 409: Problem})
    def post(self, request: Request, uuid: UUID) -> Response:
        """Accept a decision, so that it leaves the review queue."""
        refuse_body(request)
        return self.answer(services.conflict_accept(access=self.access, uuid=uuid).uuid)


class OverrideView(ReceiptView):
    """Decide otherwise."""

    @extend_schema(
        operation_id="conflicts_override", request=OverrideInput, responses={200: ConflictOutput, 409: Problem}
    )
    def post(self, request: Request, uuid: UUID) -> Response:
        """Make the candidate, the existing memory, or both active, and return the new receipt."""
        winner = services.Winner(validate(OverrideInput, request.data)["winner"])
        return self.answer(services.conflict_override(access=self.access, uuid=uuid, winner=winner).uuid)
