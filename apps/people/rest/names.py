"""Lists of users, households, personas, projects, types and sessions, and the figures of one user."""

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


def names_view(kind: NameKind, description: str) -> type[HubView]:
    """Return the view that lists the names of one kind. description: what the OpenAPI document says of it."""

    class NamesView(HubView):
        """The names of one kind that memories and events have."""

        is_heavy = True

        @operation(
            f"{kind.name.lower()}_list", query=NameListInput, answer=NAME_PAGE, errors=(404,), description=description
        )
        def get(self, request: Request) -> Response:
            """Return a page of names."""
            data = self.read_query()
            page = selectors.name_page(
                self.access,
                scope_of(data),
                kind,
                cursor=Cursor.read(data["cursor"]) if "cursor" in data else None,
                limit=data.get("limit", DEFAULT_PAGE),
                count=data.get("count", False),
            )
            return self.answer_page(page, [render_name(row, kind) for row in page.rows])

    return NamesView


UsersView = names_view(NameKind.USERS, "List users who have memories or events, with the number of both, sorted by id.")
HouseholdsView = names_view(
    NameKind.HOUSEHOLDS, "List households that have memories or events, with the number of both."
)
PersonasView = names_view(NameKind.PERSONAS, "List personas that have memories or events, with the number of both.")
ProjectsView = names_view(
    NameKind.PROJECTS, "List the projects that memories are tagged with, and the number of memories."
)
TypesView = names_view(NameKind.TYPES, "List the types that memories are tagged with, and the number of memories.")
SessionsView = names_view(
    NameKind.SESSIONS, "List the sessions in which memories were first said, and the number of memories."
)


class UserView(HubView):
    """One user."""

    @operation("users_retrieve", answer=UserOutput)
    def get(self, request: Request, user_id: str) -> Response:
        """Show a user in figures: memories by status, receipts by state, events, and how many names of each kind."""
        return Response(render_user(selectors.user_figures(self.access, user_id)))
