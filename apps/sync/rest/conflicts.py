"""Conflicts between pointers and items over REST (spec 003, conflict resolution)."""

from uuid import UUID

from rest_framework.request import Request
from rest_framework.response import Response

from apps.core.rest.views import HubView, operation
from apps.core.schemas.paging import page_output
from apps.sync import selectors, services
from apps.sync.domain.state import Resolution
from apps.sync.schemas import conflicts


class PointerConflictsView(HubView):
    """The conflicts of sources."""

    @operation(
        "sync_conflicts_list",
        query=conflicts.ConflictListInput,
        answer=page_output(conflicts.PointerConflictOutput, "conflicts"),
        errors=(404,),
    )
    def get(self, request: Request) -> Response:
        """List conflicts between memories and the items that they point to, newest first."""
        data = self.read_query()
        listed = selectors.conflict_list(self.access, data.get("source"))
        filters = {name: data[name] for name in ("type", "state") if name in data}
        return self.page(listed.filter(**filters), data, conflicts.conflict_json, within=listed)


class PointerConflictView(HubView):
    """One conflict."""

    @operation("sync_conflicts_retrieve", answer=conflicts.PointerConflictOutput)
    def get(self, request: Request, uuid: UUID) -> Response:
        """Show a conflict between memories and an item."""
        return Response(conflicts.conflict_json(selectors.conflict_get(self.access, uuid)))


class ResolveView(HubView):
    """Resolves a conflict."""

    @operation(
        "sync_conflicts_resolve", body=conflicts.ResolveInput, answer=conflicts.PointerConflictOutput, errors=(409,)
    )
    def post(self, request: Request, uuid: UUID) -> Response:
        """Decide a conflict that is waiting for a person; for operators."""
        resolution = Resolution(self.read_body()["resolution"])
        return Response(
            conflicts.conflict_json(services.conflict_resolve(access=self.access, uuid=uuid, resolution=resolution))
        )
