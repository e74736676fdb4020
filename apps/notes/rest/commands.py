"""The file commands of Anthropic's memory tool over REST."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.core.domain.scope import Permission
from apps.core.rest.views import HubView
from apps.core.schemas.serializers import validate
from apps.notes import services
from apps.notes.rest.notes import text_limit
from apps.notes.schemas.commands import CommandInput, CommandOutput, command_json, command_of


class CommandsView(HubView):
    """Carries out file commands."""

    needed_permission = Permission.READ  # a command that writes needs more, which `memory_command` checks
    body_limit = staticmethod(text_limit)

    @extend_schema(operation_id="notes_command", request=CommandInput, responses={200: CommandOutput})
    def post(self, request: Request) -> Response:
        """Carry out `view`, `create`, `str_replace`, `insert`, `delete` or `rename` on the notes below /memories."""
        data = validate(CommandInput, request.data)
        result = services.memory_command(access=self.access, user_id=data.get("user_id"), command=command_of(data))
        return Response(command_json(result))
