"""Notes over REST (spec 001, memory REST API)."""

from datetime import UTC, date
from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.scope import Permission
from apps.core.rest.views import HubView, validate_query
from apps.core.schemas.bodies import BASE_VALUES, CHARACTER_BYTES, BodyLimit, document_limit, search_limit
from apps.core.schemas.paging import Page, page_links
from apps.core.schemas.serializers import Problem, validate
from apps.notes import selectors, services
from apps.notes.domain.places import MAIN, NotePlace, daily_place, parse_place
from apps.notes.schemas import notes, search
from apps.notes.schemas.config import ConfigInput, ConfigOutput, changes_of, config_json
from apps.notes.schemas.notes import CommandInput, CommandOutput, OwnerInput, command_json, command_of
from apps.notes.schemas.search import PromptInput, PromptOutput, origin_json, section_json


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


class ConfigView(HubView):
    """The settings of a user's notes, which are in memory-config.json."""

    query_methods = frozenset({"GET", "HEAD"})

    @extend_schema(operation_id="notes_config_retrieve", parameters=[OwnerInput], responses={200: ConfigOutput})
    def get(self, request: Request) -> Response:
        """Show the settings, with defaults for those that the file does not have."""
        data = validate_query(OwnerInput, request)
        return Response(config_json(selectors.config_get(self.access, data.get("user_id"))))

    @extend_schema(operation_id="notes_config_update", request=ConfigInput, responses={200: ConfigOutput})
    def put(self, request: Request) -> Response:
        """Change the settings that are sent; the rest of the file stays as it is."""
        return self.change(request)

    @extend_schema(operation_id="notes_config_partial_update", request=ConfigInput, responses={200: ConfigOutput})
    def patch(self, request: Request) -> Response:
        """Change the settings that are sent, as PUT does."""
        return self.change(request)

    def change(self, request: Request) -> Response:
        """Change settings."""
        data = validate(ConfigInput, request.data)
        changed = services.config_update(access=self.access, user_id=data.get("user_id"), values=changes_of(data))
        return Response(config_json(changed))


class PromptView(HubView):
    """Composes what a model is shown of a person's notes."""

    needed_permission = Permission.READ
    body_limit = staticmethod(search_limit)

    @extend_schema(operation_id="notes_prompt", request=PromptInput, responses={200: PromptOutput})
    def post(self, request: Request) -> Response:
        """Compose MEMORY.md, the last two days and what a search finds as a text for a system prompt."""
        data = validate(PromptInput, request.data)
        composed = selectors.prompt_compose(
            self.access,
            data.get("user_id"),
            data.get("message", ""),
            budget=data["budget_tokens"],
            limit=data["limit"],
            include_daily=data["include_daily"],
            include_memories=data["include_memories"],
            zone=data.get("timezone"),
        )
        prompt = composed.prompt
        left_out: list[Any] = [{**origin_json(each), "reason": each.reason} for each in prompt.left_out]
        return Response(
            {
                "text": prompt.text,
                "tokens": prompt.tokens,
                "sections": [section_json(each) for each in prompt.sections],
                "left_out": left_out,
                "search": {"mode": composed.mode, "reason": composed.reason},
            }
        )


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


class CommandsView(HubView):
    """Carries out file commands."""

    needed_permission = Permission.READ  # a command that writes needs more, which `memory_command` checks
    body_limit = staticmethod(text_limit)

    @extend_schema(operation_id="notes_command", request=CommandInput, responses={200: CommandOutput})
    def post(self, request: Request) -> Response:
        """Carry out `view`, `create`, `str_replace`, `insert`, `delete` or `rename` on the notes below /memories."""
        data = validate(CommandInput, request.data)
        result = services.memory_command(access=self.access, user_id=data.get("user_id"), command=command_of(data))
        return Response(command_json(result))
