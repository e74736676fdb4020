"""Forgetting a person over REST; for operators."""

from uuid import UUID

from django.urls import reverse
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.core.domain.scope import Permission
from apps.core.rest.openapi import LOCATION
from apps.core.rest.views import HubView, validate_query
from apps.core.schemas.paging import Page, page_links
from apps.core.schemas.serializers import Problem, validate
from apps.people import selectors, services
from apps.people.schemas.erasures import (
    ErasureInput,
    ErasureListInput,
    ErasureOutput,
    ErasurePageOutput,
    PreviewOutput,
    render_erasure,
)


class ErasuresView(HubView):
    """Forget people; for operators."""

    needed_permission = Permission.OPERATOR
    query_methods = frozenset({"GET", "HEAD"})
    is_heavy = True

    @extend_schema(
        operation_id="erasures_list", parameters=[ErasureListInput], responses={200: ErasurePageOutput, 404: Problem}
    )
    def get(self, request: Request) -> Response:
        """List erasures and their certificates, newest first."""
        data = validate_query(ErasureListInput, request)
        self.access.refuse_stopped(data.get("user_id"))
        erasures = selectors.erasure_list(data.get("user_id"))
        page = Page(erasures, self.access, data.get("cursor"), data.get("limit"), count=data.get("count", False))
        return Response({**page_links(page, request), "results": [render_erasure(erasure) for erasure in page.rows]})

    @extend_schema(
        operation_id="erasures_create",
        request=ErasureInput,
        responses={202: ErasureOutput, 200: PreviewOutput, 404: Problem, 409: Problem},
        parameters=[LOCATION],
    )
    def post(self, request: Request) -> Response:
        """Forget a user: everything that the hub has of them is removed in the background. This cannot be undone.

        From then on nothing is written for them until it is done. With `dry_run` it only reports how much there is.
        """
        data = validate(ErasureInput, request.data)
        self.access.refuse_stopped(data["user_id"])
        if data["dry_run"]:
            found = dict(services.erasure_preview(data["user_id"]))
            problems = selectors.erasure_obstacles(data["user_id"])
            return Response({"dry_run": True, "found": found, "problems": problems})
        erasure = services.erasure_request(user_id=data["user_id"], actor=self.access.actor)
        address = {"Location": reverse("erasure", args=[erasure.uuid])}
        return Response(render_erasure(erasure), status=status.HTTP_202_ACCEPTED, headers=address)


class ErasureView(HubView):
    """One erasure; for operators."""

    needed_permission = Permission.OPERATOR

    @extend_schema(operation_id="erasures_retrieve", responses={200: ErasureOutput})
    def get(self, request: Request, uuid: UUID) -> Response:
        """Show the progress of an erasure, and its certificate once it has finished."""
        erasure = selectors.erasure_get(uuid)
        self.access.refuse_stopped(erasure.user_id)
        left = dict(services.erasure_preview(erasure.user_id)) if erasure.is_open else None
        return Response(render_erasure(erasure, left))
