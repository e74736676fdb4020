"""Compactions of MEMORY.md over REST (spec 001, compaction)."""

from uuid import UUID

from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.core.rest.views import HubView, operation
from apps.core.schemas.paging import page_output
from apps.notes import selectors, services
from apps.notes.schemas import compaction as schemas


class CompactView(HubView):
    """Asks for a compaction."""

    @operation("notes_compact", body=schemas.CompactInput, answer={202: schemas.CompactionOutput})
    def post(self, request: Request) -> Response:
        """Have a model draft a shorter MEMORY.md in the background; if one is in progress, return that one.

        It runs whether `llmCompactionEnabled` is on or off.
        """
        data = self.read_body()
        asked = services.compaction_create(access=self.access, user_id=data.get("user_id"))
        return Response(schemas.compaction_json(asked), status=status.HTTP_202_ACCEPTED)


class CompactionsView(HubView):
    """The compactions of a user."""

    @operation(
        "notes_compactions_list",
        query=schemas.CompactionListInput,
        answer=page_output(schemas.CompactionOutput, "compactions"),
        errors=(404,),
    )
    def get(self, request: Request) -> Response:
        """List the compactions of MEMORY.md, newest first."""
        data = self.read_query()
        listed = selectors.compaction_list(self.access, data.get("user_id"))
        return self.page(listed, data, schemas.compaction_json)


class CompactionView(HubView):
    """One compaction."""

    @operation("notes_compactions_retrieve", answer=schemas.CompactionDetailOutput)
    def get(self, request: Request, uuid: UUID) -> Response:
        """Show a compaction with its draft, what that changes, and what became of each fact."""
        found = selectors.compaction_get(self.access, uuid)
        return Response(schemas.compaction_detail_json(selectors.compaction_detail(found)))


class CompactionApplyView(HubView):
    """Applies a draft."""

    @operation("notes_compactions_apply", answer=schemas.CompactionOutput, errors=(409,))
    def post(self, request: Request, uuid: UUID) -> Response:
        """Make a draft the text of MEMORY.md; what was there stays as a version.

        409 `compaction_stale` if MEMORY.md has changed since the draft was made: ask for a new one.
        """
        return Response(schemas.compaction_json(services.compaction_apply(access=self.access, uuid=uuid)))


class CompactionDiscardView(HubView):
    """Discards a draft."""

    @operation("notes_compactions_discard", answer=schemas.CompactionOutput, errors=(409,))
    def post(self, request: Request, uuid: UUID) -> Response:
        """Discard a draft; it can still be read."""
        return Response(schemas.compaction_json(services.compaction_discard(access=self.access, uuid=uuid)))


class CompactionUndoView(HubView):
    """Undoes an applied draft."""

    @operation("notes_compactions_undo", answer=schemas.CompactionOutput, errors=(409,))
    def post(self, request: Request, uuid: UUID) -> Response:
        """Bring back the text that MEMORY.md had before.

        409 `changed_since` if it has changed since; `current` is the version to restore instead.
        """
        return Response(schemas.compaction_json(services.compaction_undo(access=self.access, uuid=uuid)))
