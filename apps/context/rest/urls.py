"""Contexts over REST."""

from django.urls import path
from rest_framework.request import Request
from rest_framework.response import Response

from apps.context import services
from apps.context.schemas.context import ContextInput, ContextOutput, context_json, make_context_query
from apps.core.domain.scope import Permission
from apps.core.rest.views import HubView, operation
from apps.core.schemas.bodies import search_limit


class ContextView(HubView):
    """What an assistant should know for a message."""

    needed_permission = Permission.READ
    body_limit = staticmethod(search_limit)

    @operation("context_build", body=ContextInput, answer=ContextOutput, errors=(422,))
    def post(self, request: Request) -> Response:
        """Say what an assistant should know for a message or a task, in one answer within `max_tokens`."""
        query = make_context_query(self.read_body())
        return Response(context_json(services.context_build(access=self.access, query=query)))


urlpatterns = [path("context", ContextView.as_view(), name="context")]
