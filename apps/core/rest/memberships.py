"""Who belongs to which household and persona, over REST."""

from uuid import UUID

from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.core import selectors, services
from apps.core.rest.views import LOCATION, HubView, created, operation
from apps.core.schemas.memberships import (
    MembershipInput,
    MembershipListInput,
    MembershipOutput,
    render_membership,
)
from apps.core.schemas.outputs import Url
from apps.core.schemas.paging import page_output
from apps.core.schemas.serializers import scope_of


class MembershipsView(HubView):
    """Who belongs to the households and personas inside the bound of a key."""

    @operation(
        "memberships_list",
        query=MembershipListInput,
        answer=page_output(MembershipOutput, "memberships", link=Url, total=int, results_first=True),
        errors=(404,),
    )
    def get(self, request: Request) -> Response:
        """List who belongs to which household or persona, the newest first.

        A key that is bound to a user lists what they belong to. A key without a bound also lists foreign writes.
        """
        data = self.read_query()
        listed = selectors.membership_list(self.access, scope_of(data), data.get("state"))
        return self.page(listed, data, render_membership)

    @operation(
        "memberships_create",
        body=MembershipInput,
        answer={201: MembershipOutput, 200: MembershipOutput},
        headers=[LOCATION],
    )
    def post(self, request: Request) -> Response:
        """Add a user to a household or a persona; 200 if they already belong to it.

        From then on applications of the user may save there. Needs a key without a bound, or one that is bound to the
        household or persona and to no user.
        """
        scope = scope_of(self.read_body())
        membership, is_new = services.membership_create(access=self.access, scope=scope)
        body = render_membership(membership)
        return created(body, "membership", membership.uuid) if is_new else Response(body)


class MembershipView(HubView):
    """That one user belongs to one household or persona."""

    @operation("memberships_retrieve", answer=MembershipOutput, errors=(404,))
    def get(self, request: Request, uuid: UUID) -> Response:
        """Show a membership."""
        return Response(render_membership(selectors.membership_get(self.access, uuid)))

    @operation("memberships_end", answer={204: None}, errors=(404,))
    def delete(self, request: Request, uuid: UUID) -> Response:
        """End a membership. What the user has there stays theirs, but is no longer found there."""
        services.membership_end(access=self.access, uuid=uuid)
        return Response(status=status.HTTP_204_NO_CONTENT)
