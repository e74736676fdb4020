"""The address of the store."""

from django.urls import path
from rest_framework.request import Request
from rest_framework.response import Response

from apps.core.domain.scope import Permission
from apps.core.rest.views import HubView, operation
from apps.core.schemas.serializers import scope_of
from apps.store import services
from apps.store.schemas.operations import StoreInput, StoreResultsOutput, operation_of, render_result, store_limit


class StoreView(HubView):
    """Carries out operations on values that applications keep."""

    needed_permission = Permission.READ  # what writes needs more, which `store_run` checks
    body_limit = staticmethod(store_limit)

    @operation("store_run", body=StoreInput, answer=StoreResultsOutput)
    def post(self, request: Request) -> Response:
        """Put, get, delete and search values by namespace and key, and list namespaces: in order, all or none."""
        data = self.read_body()
        operations = [operation_of(one) for one in data["operations"]]
        results = services.store_run(access=self.access, scope=scope_of(data), operations=operations)
        rendered = [render_result(*each) for each in zip(operations, results, strict=True)]
        return Response({"results": rendered})


urlpatterns = [path("store", StoreView.as_view(), name="store")]
