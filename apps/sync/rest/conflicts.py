"""Conflicts between pointers and items over REST (spec 003, conflict resolution)."""

from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.core.rest.views import HubView, validate_query
from apps.core.schemas.serializers import Problem, validate
from apps.sync import selectors, services
from apps.sync.domain.state import Resolution
from apps.sync.rest.pages import page_of
from apps.sync.schemas import runs


class PointerConflictsView(HubView):
    """The conflicts of sources."""

    query_methods = frozenset({"GET", "HEAD"})

    @extend_schema(
        operation_id="sync_conflicts_list",
        parameters=[runs.ConflictListInput],
        responses={200: runs.PointerConflictPageOutput, 404: Problem},
    )
    def get(self, request: Request) -> Response:
        """List conflicts between memories and the items that they point to, newest first."""
        data = validate_query(runs.ConflictListInput, request)
        listed = selectors.conflict_list(self.access, data.get("source"))
        filters = {name: data[name] for name in ("type", "state") if name in data}
        return page_of(listed.filter(**filters), request, self.access, data, runs.conflict_json, within=listed)


class PointerConflictView(HubView):
    """One conflict."""

    @extend_schema(operation_id="sync_conflicts_retrieve", responses={200: runs.PointerConflictOutput})
    def get(self, request: Request, uuid: UUID) -> Response:
        """Show a conflict between memories and an item."""
        return Response(runs.conflict_json(selectors.conflict_get(self.access, uuid)))


class ResolveView(HubView):
    """Resolves a conflict."""

    @extend_schema(
        operation_id="sync_conflicts_resolve",
        request=runs.ResolveInput,
        responses={200: runs.PointerConflictOutput, 409: Problem},
    )
    def post(self, request: Request, uuid: UUID) -> Response:
        """Decide a conflict that is waiting for a person; for operators."""
        resolution = Resolution(validate(runs.ResolveInput, request.data)["resolution"])
        return Response(
            runs.conflict_json(services.conflict_resolve(access=self.access, uuid=uuid, resolution=resolution))
        )
