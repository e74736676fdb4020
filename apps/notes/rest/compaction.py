"""Compactions of MEMORY.md over REST (spec 001, compaction)."""

from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.core.rest.views import HubView, validate_query
from apps.core.schemas.paging import Page, page_links
from apps.core.schemas.serializers import Problem, validate
from apps.notes import selectors, services
from apps.notes.schemas import compaction as schemas


class CompactView(HubView):
    """Asks for a compaction."""

    @extend_schema(
        operation_id="notes_compact", request=schemas.CompactInput, responses={202: schemas.CompactionOutput}
    )
    def post(self, request: Request) -> Response:
        """Have a model draft a shorter MEMORY.md in the background; if one is in progress, return that one.

        It runs whether `llmCompactionEnabled` is on or off.
        """
        data = validate(schemas.CompactInput, request.data)
        asked = services.compaction_create(access=self.access, user_id=data.get("user_id"))
        return Response(schemas.compaction_json(asked), status=status.HTTP_202_ACCEPTED)


class CompactionsView(HubView):
    """The compactions of a user."""

    query_methods = frozenset({"GET", "HEAD"})

    @extend_schema(
        operation_id="notes_compactions_list",
        parameters=[schemas.CompactionListInput],
        responses={200: schemas.CompactionPageOutput, 404: Problem},
    )
    def get(self, request: Request) -> Response:
        """List the compactions of MEMORY.md, newest first."""
        data = validate_query(schemas.CompactionListInput, request)
        listed = selectors.compaction_list(self.access, data.get("user_id"))
        page: Page[selectors.Compaction] = Page(listed, self.access, data.get("cursor"), data.get("limit"))
        results = [schemas.compaction_json(each) for each in page.rows]
        return Response({**page_links(page, request), "results": results})


class CompactionView(HubView):
    """One compaction."""

    @extend_schema(operation_id="notes_compactions_retrieve", responses={200: schemas.CompactionDetailOutput})
    def get(self, request: Request, uuid: UUID) -> Response:
        """Show a compaction with its draft, what that changes, and what became of each fact."""
        found = selectors.compaction_get(self.access, uuid)
        return Response(schemas.compaction_detail_json(selectors.compaction_detail(found)))


class CompactionApplyView(HubView):
    """Applies a draft."""

    @extend_schema(
        operation_id="notes_compactions_apply",
        request=None,
        responses={200: schemas.CompactionOutput, 409: Problem},
    )
    def post(self, request: Request, uuid: UUID) -> Response:
        """Make a draft the text of MEMORY.md; what was there stays as a version.

        409 `compaction_stale` if MEMORY.md has changed since the draft was made: ask for a new one.
        """
        return Response(schemas.compaction_json(services.compaction_apply(access=self.access, uuid=uuid)))


class CompactionDiscardView(HubView):
    """Discards a draft."""

    @extend_schema(
        operation_id="notes_compactions_discard",
        request=None,
        responses={200: schemas.CompactionOutput, 409: Problem},
    )
    def post(self, request: Request, uuid: UUID) -> Response:
        """Discard a draft; it can still be read."""
        return Response(schemas.compaction_json(services.compaction_discard(access=self.access, uuid=uuid)))


class CompactionUndoView(HubView):
    """Undoes an applied draft."""

    @extend_schema(
        operation_id="notes_compactions_undo",
        request=None,
        responses={200: schemas.CompactionOutput, 409: Problem},
    )
    def post(self, request: Request, uuid: UUID) -> Response:
        """Bring back the text that MEMORY.md had before.

        409 `changed_since` if it has changed since; `current` is the version to restore instead.
        """
        return Response(schemas.compaction_json(services.compaction_undo(access=self.access, uuid=uuid)))
