"""Notes over REST: their texts, settings, search, prompt and file commands (spec 001)."""

from datetime import UTC, date
from uuid import UUID

from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.scope import Permission
from apps.core.rest.views import HubView, operation
from apps.core.schemas.bodies import BASE_VALUES, CHARACTER_BYTES, BodyLimit, document_limit, search_limit
from apps.core.schemas.paging import page_output
from apps.notes import selectors, services
from apps.notes.domain.places import MAIN, NotePlace, daily_place, parse_place
from apps.notes.schemas import notes, search
from apps.notes.schemas.commands import CommandInput, CommandOutput, command_json, command_of
from apps.notes.schemas.config import ConfigInput, ConfigOutput, changes_of, config_json
from apps.notes.schemas.prompt import PromptInput, PromptOutput, prompt_json


def text_limit() -> BodyLimit:
    """Return the limit of a request with the whole text of a note."""
    return BodyLimit(notes.MAX_TEXT_CHARS + CHARACTER_BYTES * 10_000, BASE_VALUES)


class NoteView(HubView):
    """One note: reads it as it is on the disk, and replaces its text."""

    body_limit = staticmethod(text_limit)

    def show(self, request: Request, place: NotePlace) -> Response:
        """Answer with a note."""
        data = self.read_query()
        return Response(notes.note_json(selectors.note_get(self.access, data.get("user_id"), place)))

    def replace(self, request: Request, place: NotePlace) -> Response:
        """Replace the text of a note."""
        data = self.read_body()
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

    @operation("notes_main_retrieve", query=notes.OwnerInput, answer=notes.NoteOutput)
    def get(self, request: Request) -> Response:
        """Show MEMORY.md as it is on the disk now."""
        return self.show(request, MAIN)

    @operation("notes_main_update", body=notes.NoteEditInput, answer=notes.VersionOutput, errors=(409,))
    def put(self, request: Request) -> Response:
        """Replace MEMORY.md if it is unchanged since you read it; otherwise 409, with the present text in `current`."""
        return self.replace(request, MAIN)


class DailyView(NoteView):
    """The log of a day."""

    @operation("notes_daily_retrieve", query=notes.OwnerInput, answer=notes.NoteOutput)
    def get(self, request: Request, day: date) -> Response:
        """Show the log of a day as it is on the disk now."""
        return self.show(request, daily_place(day))

    @operation("notes_daily_update", body=notes.NoteEditInput, answer=notes.VersionOutput, errors=(409,))
    def put(self, request: Request, day: date) -> Response:
        """Replace the log of a day if it has not changed since you read it; otherwise 409, as for MEMORY.md."""
        return self.replace(request, daily_place(day))


class TodayView(NoteView):
    """The log of today."""

    @operation("notes_today_retrieve", query=notes.TodayInput, answer=notes.NoteOutput)
    def get(self, request: Request) -> Response:
        """Show the log of today as it is on the disk now."""
        data = self.read_query()
        today = utcnow(SYSTEM_CLOCK).astimezone(data.get("timezone") or UTC)
        return Response(
            notes.note_json(selectors.note_get(self.access, data.get("user_id"), daily_place(today.date())))
        )


class DailyListView(HubView):
    """The daily logs of a user."""

    @operation("notes_daily_list", query=notes.OwnerInput, answer=notes.DailyListOutput)
    def get(self, request: Request) -> Response:
        """List the daily logs, the latest day first."""
        data = self.read_query()
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

    @operation(
        "notes_main_append", body=notes.MainEntryInput, answer={201: notes.ChangeOutput, 200: notes.ChangeOutput}
    )
    def post(self, request: Request) -> Response:
        """Add a fact to MEMORY.md, under the heading of its category. Nothing else in the file changes."""
        data = self.read_body()
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

    @operation(
        "notes_daily_append", body=notes.DailyEntryInput, answer={201: notes.ChangeOutput, 200: notes.ChangeOutput}
    )
    def post(self, request: Request) -> Response:
        """Add an entry with its time to the log of today."""
        data = self.read_body()
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

    @operation(
        "notes_versions_list",
        query=notes.VersionListInput,
        answer=page_output(notes.VersionOutput, "versions"),
        errors=(404,),
    )
    def get(self, request: Request) -> Response:
        """List the versions of a note, newest first: who changed it, and when."""
        data = self.read_query()
        listed = selectors.note_versions(self.access, data.get("user_id"), parse_place(data["path"]))
        return self.page(listed, data, notes.version_json)


class VersionView(HubView):
    """One version of a note."""

    @operation("notes_versions_retrieve", answer=notes.VersionTextOutput)
    def get(self, request: Request, uuid: UUID) -> Response:
        """Show a version with its text."""
        version = selectors.version_get(self.access, uuid)
        return Response(notes.version_text_json(version, selectors.version_text(version)))


class VersionRestoreView(HubView):
    """Restores a version."""

    @operation("notes_versions_restore", answer=notes.VersionOutput)
    def post(self, request: Request, uuid: UUID) -> Response:
        """Restore a former version; the present text stays as a version."""
        return Response(notes.version_json(services.note_restore(access=self.access, uuid=uuid)))


class CommandsView(HubView):
    """Carries out file commands."""

    needed_permission = Permission.READ  # a command that writes needs more, which `memory_command` checks
    body_limit = staticmethod(text_limit)

    @operation("notes_command", body=CommandInput, answer=CommandOutput)
    def post(self, request: Request) -> Response:
        """Carry out `view`, `create`, `str_replace`, `insert`, `delete` or `rename` on the notes below /memories."""
        data = self.read_body()
        result = services.memory_command(access=self.access, user_id=data.get("user_id"), command=command_of(data))
        return Response(command_json(result))


class ConfigView(HubView):
    """The settings of a user's notes, which are in memory-config.json."""

    @operation("notes_config_retrieve", query=notes.OwnerInput, answer=ConfigOutput)
    def get(self, request: Request) -> Response:
        """Show the settings, with defaults for those that the file does not have."""
        data = self.read_query()
        return Response(config_json(selectors.config_get(self.access, data.get("user_id"))))

    @operation("notes_config_update", body=ConfigInput, answer=ConfigOutput)
    def put(self, request: Request) -> Response:
        """Change the settings that are sent; the rest of the file stays as it is."""
        return self.change(request)

    @operation("notes_config_partial_update", body=ConfigInput, answer=ConfigOutput)
    def patch(self, request: Request) -> Response:
        """Change the settings that are sent, as PUT does."""
        return self.change(request)

    def change(self, request: Request) -> Response:
        """Change settings."""
        data = self.read_body()
        changed = services.config_update(access=self.access, user_id=data.get("user_id"), values=changes_of(data))
        return Response(config_json(changed))


class PromptView(HubView):
    """Composes what a model is shown of a person's notes."""

    needed_permission = Permission.READ
    body_limit = staticmethod(search_limit)

    @operation("notes_prompt", body=PromptInput, answer=PromptOutput)
    def post(self, request: Request) -> Response:
        """Compose MEMORY.md, the last two days and what a search finds as a text for a system prompt."""
        data = self.read_body()
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
        return Response(prompt_json(composed))


class NoteSearchView(HubView):
    """Searches the notes of a user."""

    @operation("notes_search", query=search.NoteSearchInput, answer=search.NoteSearchOutput)
    def get(self, request: Request) -> Response:
        """Search notes, best match first, in the files as they are now."""
        data = self.read_query()
        found = selectors.notes_search(self.access, data.get("user_id"), data["q"], limit=data["limit"], is_answer=True)
        return Response(search.search_json(found))


class NoteStatusView(HubView):
    """The index of a user's notes."""

    @operation("notes_status", query=notes.OwnerInput, answer=search.NoteStatusOutput)
    def get(self, request: Request) -> Response:
        """Show what the search index of notes contains, and whether it uses vectors."""
        data = self.read_query()
        return Response(search.status_json(selectors.index_status(self.access, data.get("user_id"))))
