"""Queries of the timeline over REST (DESIGN section 5)."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.core.domain.scope import Permission
from apps.core.rest.views import HubView
from apps.core.schemas.serializers import validate
from apps.episodic.schemas.queries import EventQueryInput, query_of
from apps.episodic.schemas.query_outputs import EventQueryOutput, query_json
from apps.episodic.selectors import events_query


class EventQueryView(HubView):
    """Find events."""

    needed_permission = Permission.READ

    @extend_schema(operation_id="events_query", request=EventQueryInput, responses={200: EventQueryOutput})
    def post(self, request: Request) -> Response:
        """Find the events of a window, the newest first; with a `query` those that answer it best, the best first."""
        query = query_of(validate(EventQueryInput, request.data))
        return Response(query_json(self.access, events_query(self.access, query), query.explain))
