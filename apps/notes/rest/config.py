"""Settings of notes over REST (spec 001, settings API)."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.core.rest.views import HubView, validate_query
from apps.core.schemas.serializers import validate
from apps.notes import selectors, services
from apps.notes.schemas.config import ConfigInput, ConfigOutput, changes_of, config_json
from apps.notes.schemas.notes import OwnerInput


class ConfigView(HubView):
    """The settings of a user's notes, which are in memory-config.json."""

    query_methods = frozenset({"GET", "HEAD"})

    @extend_schema(operation_id="notes_config_retrieve", parameters=[OwnerInput], responses={200: ConfigOutput})
    def get(self, request: Request) -> Response:
        """Show the settings, with defaults for those that the file does not have."""
        data = validate_query(OwnerInput, request)
        return Response(config_json(selectors.config_get(self.access, data.get("user_id"))))

    @extend_schema(operation_id="notes_config_update", request=ConfigInput, responses={200: ConfigOutput})
    def put(self, request: Request) -> Response:
        """Change the settings that are sent; the rest of the file stays as it is."""
        return self.change(request)

    @extend_schema(operation_id="notes_config_partial_update", request=ConfigInput, responses={200: ConfigOutput})
    def patch(self, request: Request) -> Response:
        """Change the settings that are sent, as PUT does."""
        return self.change(request)

    def change(self, request: Request) -> Response:
        """Change settings."""
        data = validate(ConfigInput, request.data)
        changed = services.config_update(access=self.access, user_id=data.get("user_id"), values=changes_of(data))
        return Response(config_json(changed))
