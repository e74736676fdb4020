"""Lists of users, households, personas, projects, types and sessions, and the figures of one user."""

from typing import ClassVar

from rest_framework.request import Request
from rest_framework.response import Response

from apps.core.domain.cursors import Cursor
from apps.core.rest.views import HubView, operation
from apps.core.schemas.outputs import Url
from apps.core.schemas.paging import DEFAULT_PAGE, page_output
from apps.core.schemas.serializers import scope_of
from apps.people import selectors
from apps.people.schemas.names import NameListInput, NameOutput, UserOutput, render_name, render_user
from apps.people.selectors import NameKind

NAME_PAGE = page_output(
    NameOutput, "names", ", in the order of their characters", link=Url, total=int, results_first=True
)


class NamesView(HubView):
    """The names of one kind that memories and events have."""

    kind: ClassVar[NameKind]
    is_heavy = True

    def answer(self, request: Request) -> Response:
        """Return a page of names."""
        data = self.read_query()
        page = selectors.name_page(
            self.access,
            scope_of(data),
            self.kind,
            cursor=Cursor.read(data["cursor"]) if "cursor" in data else None,
            limit=data.get("limit", DEFAULT_PAGE),
            count=data.get("count", False),
        )
        return self.answer_page(page, [render_name(row, self.kind) for row in page.rows])


class UsersView(NamesView):
    """The users of this hub."""

    kind = NameKind.USERS

    @operation("users_list", query=NameListInput, answer=NAME_PAGE, errors=(404,))
    def get(self, request: Request) -> Response:
        """List users who have memories or events, with the number of both, sorted by id."""
        return self.answer(request)


class HouseholdsView(NamesView):
    """The households of this hub."""

    kind = NameKind.HOUSEHOLDS

    @operation("households_list", query=NameListInput, answer=NAME_PAGE, errors=(404,))
    def get(self, request: Request) -> Response:
        """List households that have memories or events, with the number of both."""
        return self.answer(request)


class PersonasView(NamesView):
    """The personas of this hub."""

    kind = NameKind.PERSONAS

    @operation("personas_list", query=NameListInput, answer=NAME_PAGE, errors=(404,))
    def get(self, request: Request) -> Response:
        """List personas that have memories or events, with the number of both."""
        return self.answer(request)


class ProjectsView(NamesView):
    """The projects that memories are tagged with."""

    kind = NameKind.PROJECTS

    @operation("projects_list", query=NameListInput, answer=NAME_PAGE, errors=(404,))
    def get(self, request: Request) -> Response:
        """List the projects that memories are tagged with, and the number of memories."""
        return self.answer(request)


class TypesView(NamesView):
    """The types that memories are tagged with."""

    kind = NameKind.TYPES

    @operation("types_list", query=NameListInput, answer=NAME_PAGE, errors=(404,))
    def get(self, request: Request) -> Response:
        """List the types that memories are tagged with, and the number of memories."""
        return self.answer(request)


class SessionsView(NamesView):
    """The sessions in which memories were saved."""

    kind = NameKind.SESSIONS

    @operation("sessions_list", query=NameListInput, answer=NAME_PAGE, errors=(404,))
    def get(self, request: Request) -> Response:
        """List the sessions in which memories were first said, and the number of memories."""
        return self.answer(request)


class UserView(HubView):
    """One user."""

    @operation("users_retrieve", answer=UserOutput)
    def get(self, request: Request, user_id: str) -> Response:
        """Show a user in figures: memories by status, receipts by state, events, and how many names of each kind."""
        return Response(render_user(selectors.user_figures(self.access, user_id)))
