"""Searching notes over REST (spec 001, search API)."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.core.rest.views import HubView, validate_query
from apps.notes import selectors
from apps.notes.schemas import search
from apps.notes.schemas.notes import OwnerInput


class NoteSearchView(HubView):
    """Searches the notes of a user."""

    query_methods = frozenset({"GET", "HEAD"})

    @extend_schema(
        operation_id="notes_search", parameters=[search.NoteSearchInput], responses={200: search.NoteSearchOutput}
    )
    def get(self, request: Request) -> Response:
        """Search notes, best match first, in the files as they are now."""
        data = validate_query(search.NoteSearchInput, request)
        found = selectors.notes_search(self.access, data.get("user_id"), data["q"], limit=data["limit"])
        return Response(search.search_json(found))


class NoteStatusView(HubView):
    """The index of a user's notes."""

    query_methods = frozenset({"GET", "HEAD"})

    @extend_schema(operation_id="notes_status", parameters=[OwnerInput], responses={200: search.NoteStatusOutput})
    def get(self, request: Request) -> Response:
        """Show what the search index of notes contains, and whether it uses vectors."""
        data = validate_query(OwnerInput, request)
        return Response(search.status_json(selectors.index_status(self.access, data.get("user_id"))))
