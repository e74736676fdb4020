"""Who belongs to which household and persona, over REST."""

from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.core import selectors, services
from apps.core.rest.openapi import LOCATION
from apps.core.rest.views import HubView, created, validate_query
from apps.core.schemas.memberships import (
    MembershipInput,
    MembershipListInput,
    MembershipOutput,
    MembershipPageOutput,
    render_membership,
)
from apps.core.schemas.paging import Page, page_links
from apps.core.schemas.serializers import Problem, scope_of, validate


class MembershipsView(HubView):
    """Who belongs to the households and personas inside the bound of a key."""

    query_methods = frozenset({"GET", "HEAD"})

    @extend_schema(
        operation_id="memberships_list",
        parameters=[MembershipListInput],
        responses={200: MembershipPageOutput, 404: Problem},
    )
    def get(self, request: Request) -> Response:
        """List who belongs to which household or persona, the newest first.

        A key that is bound to a user lists what they belong to. A key without a bound also lists foreign writes.
        """
        data = validate_query(MembershipListInput, request)
        listed = selectors.membership_list(self.access, scope_of(data), data.get("state"))
        page = Page(listed, self.access, data.get("cursor"), data.get("limit"), count=data.get("count", False))
        return Response({**page_links(page, request), "results": [render_membership(row) for row in page.rows]})

    @extend_schema(
        operation_id="memberships_create",
        request=MembershipInput,
        responses={201: MembershipOutput, 200: MembershipOutput},
        parameters=[LOCATION],
    )
    def post(self, request: Request) -> Response:
        """Add a user to a household or a persona; 200 if they already belong to it.

        From then on applications of the user may save there. Needs a key without a bound, or one that is bound to the
        household or persona and to no user.
        """
        scope = scope_of(validate(MembershipInput, request.data))
        membership, is_new = services.membership_create(access=self.access, scope=scope)
        body = render_membership(membership)
        return created(body, "membership", membership.uuid) if is_new else Response(body)


class MembershipView(HubView):
    """That one user belongs to one household or persona."""

    @extend_schema(operation_id="memberships_retrieve", responses={200: MembershipOutput, 404: Problem})
    def get(self, request: Request, uuid: UUID) -> Response:
        """Show a membership."""
        return Response(render_membership(selectors.membership_get(self.access, uuid)))

    @extend_schema(operation_id="memberships_end", responses={204: None, 404: Problem})
    def delete(self, request: Request, uuid: UUID) -> Response:
        """End a membership. What the user has there stays theirs, but is no longer found there."""
        services.membership_end(access=self.access, uuid=uuid)
        return Response(status=status.HTTP_204_NO_CONTENT)
