"""Forgetting a person over REST; for operators."""

from uuid import UUID

from django.urls import reverse
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.core.domain.scope import Permission
from apps.core.rest.views import LOCATION, HubView, operation
from apps.core.schemas.outputs import Url
from apps.core.schemas.paging import page_output
from apps.people import selectors, services
from apps.people.schemas.erasures import (
    ErasureInput,
    ErasureListInput,
    ErasureOutput,
    PreviewOutput,
    render_erasure,
)


class ErasuresView(HubView):
    """Forget people; for operators."""

    needed_permission = Permission.OPERATOR
    is_heavy = True

    @operation(
        "erasures_list",
        query=ErasureListInput,
        answer=page_output(ErasureOutput, "erasures", link=Url, total=int, results_first=True),
        errors=(404,),
    )
    def get(self, request: Request) -> Response:
        """List erasures and their certificates, newest first."""
        data = self.read_query()
        self.access.refuse_stopped(data.get("user_id"))
        return self.page(selectors.erasure_list(data.get("user_id")), data, render_erasure)

    @operation(
        "erasures_create",
        body=ErasureInput,
        answer={202: ErasureOutput, 200: PreviewOutput},
        errors=(404, 409),
        headers=[LOCATION],
    )
    def post(self, request: Request) -> Response:
        """Forget a user: everything that the hub has of them is removed in the background. This cannot be undone.

        From then on nothing is written for them until it is done. With `dry_run` it only reports how much there is.
        """
        data = self.read_body()
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

    @operation("erasures_retrieve", answer=ErasureOutput)
    def get(self, request: Request, uuid: UUID) -> Response:
        """Show the progress of an erasure, and its certificate once it has finished."""
        erasure = selectors.erasure_get(uuid)
        self.access.refuse_stopped(erasure.user_id)
        left = dict(services.erasure_preview(erasure.user_id)) if erasure.is_open else None
        return Response(render_erasure(erasure, left))
