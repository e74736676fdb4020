"""Notes over REST (spec 001, memory REST API)."""

from datetime import UTC, date
from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.rest.views import HubView, validate_query
from apps.core.schemas.bodies import BASE_VALUES, CHARACTER_BYTES, BodyLimit, document_limit
from apps.core.schemas.paging import Page, page_links
from apps.core.schemas.serializers import Problem, validate
from apps.notes import selectors, services
from apps.notes.domain.places import MAIN, NotePlace, daily_place, parse_place
from apps.notes.schemas import notes


def text_limit() -> BodyLimit:
    """Return the limit of a request with the whole text of a note."""
    return BodyLimit(notes.MAX_TEXT_CHARS + CHARACTER_BYTES * 10_000, BASE_VALUES)


class NoteView(HubView):
    """One note: reads it as it is on the disk, and replaces its text."""

    body_limit = staticmethod(text_limit)
    query_methods = frozenset({"GET", "HEAD"})

    def show(self, request: Request, place: NotePlace) -> Response:
        """Answer with a note."""
        data = validate_query(notes.OwnerInput, request)
        return Response(notes.note_json(selectors.note_get(self.access, data.get("user_id"), place)))

    def replace(self, request: Request, place: NotePlace) -> Response:
        """Replace the text of a note."""
        data = validate(notes.NoteEditInput, request.data)
        version = services.note_edit(
            access=self.access,
            user_id=data.get("user_id"),
            place=place,
            text=data["text"],
            base=data.get("base_sha256"),
        )
        return Response(notes.version_json(version))


class MainView(NoteView):
    """MEMORY.md."""

    @extend_schema(operation_id="notes_main_retrieve", parameters=[notes.OwnerInput], responses={200: notes.NoteOutput})
    def get(self, request: Request) -> Response:
        """Show MEMORY.md as it is on the disk now."""
        return self.show(request, MAIN)

    @extend_schema(
        operation_id="notes_main_update",
        request=notes.NoteEditInput,
        responses={200: notes.VersionOutput, 409: Problem},
    )
    def put(self, request: Request) -> Response:
        """Replace MEMORY.md if it is unchanged since you read it; otherwise 409, with the present text in `current`."""
        return self.replace(request, MAIN)


class DailyView(NoteView):
    """The log of a day."""

    @extend_schema(
        operation_id="notes_daily_retrieve", parameters=[notes.OwnerInput], responses={200: notes.NoteOutput}
    )
    def get(self, request: Request, day: date) -> Response:
        """Show the log of a day as it is on the disk now."""
        return self.show(request, daily_place(day))

    @extend_schema(
        operation_id="notes_daily_update",
        request=notes.NoteEditInput,
        responses={200: notes.VersionOutput, 409: Problem},
    )
    def put(self, request: Request, day: date) -> Response:
        """Replace the log of a day if it has not changed since you read it; otherwise 409, as for MEMORY.md."""
        return self.replace(request, daily_place(day))


class TodayView(NoteView):
    """The log of today."""

    @extend_schema(
        operation_id="notes_today_retrieve", parameters=[notes.TodayInput], responses={200: notes.NoteOutput}
    )
    def get(self, request: Request) -> Response:
        """Show the log of today as it is on the disk now."""
        data = validate_query(notes.TodayInput, request)
        today = utcnow(SYSTEM_CLOCK).astimezone(data.get("timezone") or UTC)
        return Response(
            notes.note_json(selectors.note_get(self.access, data.get("user_id"), daily_place(today.date())))
        )


class DailyListView(HubView):
    """The daily logs of a user."""

    query_methods = frozenset({"GET", "HEAD"})

    @extend_schema(
        operation_id="notes_daily_list", parameters=[notes.OwnerInput], responses={200: notes.DailyListOutput}
    )
    def get(self, request: Request) -> Response:
        """List the daily logs, the latest day first."""
        data = validate_query(notes.OwnerInput, request)
        places = selectors.daily_list(self.access, data.get("user_id"))
        results = [{"day": place.name.removesuffix(".md"), "path": str(place)} for place in places]
        return Response({"results": results, "count": len(results)})


class EntriesView(HubView):
    """Adds entries."""

    body_limit = staticmethod(document_limit)

    def answer(self, version: selectors.NoteVersion, is_new: bool) -> Response:
        """Answer 201 for a new entry, 200 for one that was added before."""
        code = status.HTTP_201_CREATED if is_new else status.HTTP_200_OK
        return Response(notes.change_json(version, is_new=is_new), status=code)


class MainEntriesView(EntriesView):
    """Adds facts to MEMORY.md."""

    @extend_schema(
        operation_id="notes_main_append",
        request=notes.MainEntryInput,
        responses={201: notes.ChangeOutput, 200: notes.ChangeOutput},
    )
    def post(self, request: Request) -> Response:
        """Add a fact to MEMORY.md, under the heading of its category. Nothing else in the file changes."""
        data = validate(notes.MainEntryInput, request.data)
        version, is_new = services.main_append(
            access=self.access,
            user_id=data.get("user_id"),
            entry=data["entry"],
            category=data.get("category", ""),
            operation=data.get("operation_id", ""),
        )
        return self.answer(version, is_new)


class DailyEntriesView(EntriesView):
    """Adds entries to the log of today."""

    @extend_schema(
        operation_id="notes_daily_append",
        request=notes.DailyEntryInput,
        responses={201: notes.ChangeOutput, 200: notes.ChangeOutput},
    )
    def post(self, request: Request) -> Response:
        """Add an entry with its time to the log of today."""
        data = validate(notes.DailyEntryInput, request.data)
        version, is_new = services.daily_append(
            access=self.access,
            user_id=data.get("user_id"),
            entry=data["entry"],
            zone=data.get("timezone"),
            operation=data.get("operation_id", ""),
        )
        return self.answer(version, is_new)


class VersionsView(HubView):
    """The versions of a note."""

    query_methods = frozenset({"GET", "HEAD"})

    @extend_schema(
        operation_id="notes_versions_list",
        parameters=[notes.VersionListInput],
        responses={200: notes.VersionPageOutput, 404: Problem},
    )
    def get(self, request: Request) -> Response:
        """List the versions of a note, newest first: who changed it, and when."""
        data: dict[str, Any] = validate_query(notes.VersionListInput, request)
        listed = selectors.note_versions(self.access, data.get("user_id"), parse_place(data["path"]))
        page: Page[selectors.NoteVersion] = Page(listed, self.access, data.get("cursor"), data.get("limit"))
        return Response({**page_links(page, request), "results": [notes.version_json(each) for each in page.rows]})


class VersionView(HubView):
    """One version of a note."""

    @extend_schema(operation_id="notes_versions_retrieve", responses={200: notes.VersionTextOutput})
    def get(self, request: Request, uuid: UUID) -> Response:
        """Show a version with its text."""
        version = selectors.version_get(self.access, uuid)
        return Response(notes.version_text_json(version, selectors.version_text(version)))


class VersionRestoreView(HubView):
    """Restores a version."""

    @extend_schema(operation_id="notes_versions_restore", request=None, responses={200: notes.VersionOutput})
    def post(self, request: Request, uuid: UUID) -> Response:
        """Restore a former version; the present text stays as a version."""
        return Response(notes.version_json(services.note_restore(access=self.access, uuid=uuid)))
