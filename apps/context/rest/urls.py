"""Contexts over REST."""

from uuid import UUID

from django.urls import path
from rest_framework.request import Request
from rest_framework.response import Response

from apps.context import services
from apps.context.schemas.context import (
    ContextInput,
    ContextOutput,
    GivenContextOutput,
    context_json,
    given_json,
    make_context_query,
)
from apps.core.domain.scope import Permission
from apps.core.rest.views import HubView, operation
from apps.core.run_name import name_run
from apps.core.schemas.bodies import search_limit


class ContextView(HubView):
    """What an assistant should know for a message."""

    needed_permission = Permission.READ
    body_limit = staticmethod(search_limit)

    @operation("context_build", body=ContextInput, answer=ContextOutput, errors=(422,))
    def post(self, request: Request) -> Response:
        """Say what an assistant should know for a message or a task, in one answer within `max_tokens`."""
        data = self.read_body()
        if "run_id" in data:
            name_run(data["run_id"])
        return Response(context_json(services.context_build(access=self.access, query=make_context_query(data))))


class GivenContextView(HubView):
    """What a context had given."""

    needed_permission = Permission.READ

    @operation("context_read", answer=GivenContextOutput)
    def get(self, request: Request, uuid: UUID) -> Response:
        """Say what a context had given, to which key and in which run, as far as this key sees it.

        It can be read some seconds after it was given.
        """
        return Response(given_json(services.context_given(self.access, uuid)))


urlpatterns = [
    path("context", ContextView.as_view(), name="context"),
    path("context/<uuid:uuid>", GivenContextView.as_view(), name="context-given"),
]
