"""The view that rehearses a change of a merge rule (DESIGN section 5)."""

from django.urls import path
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from apps.core.domain.scope import Permission
from apps.core.rest.views import HubView, operation
from apps.core.schemas.bodies import document_limit
from apps.core.schemas.serializers import scope_of
from apps.rules.domain.documents.problems import InvalidRuleError
from apps.semantic import services
from apps.semantic.schemas.rehearsal import RehearsalOutput, RehearseInput, render_rehearsal


class RehearseView(HubView):
    """What a change would do."""

    needed_permission = Permission.READ
    body_limit = staticmethod(document_limit)
    is_heavy = True

    @operation("rules_rehearse", body=RehearseInput, answer=RehearsalOutput, errors=(404,))
    def post(self, request: Request, name: str) -> Response:
        """Replay recorded decisions under a changed rule, and report which would differ. Changes nothing."""
        data = self.read_body()
        rehearsal = services.rehearse(
            self.access,
            name,
            data.get("changes"),
            scope=scope_of(data),
            limit=data["limit"],
            include_neighbours=data["neighbours"],
            max_pairs=data["max_pairs"],
        )
        return Response(render_rehearsal(self.access, rehearsal))

    def handle_exception(self, exc: Exception) -> Response:
        """Answer bad changes with all of their problems, each with the path of its field."""
        if isinstance(exc, InvalidRuleError):
            problems = exc.below("changes").problems
            exc = ValidationError({path: [message] for path, message in problems}, code=exc.code)
        return super().handle_exception(exc)


# Among the addresses of the rules, although it needs memories and receipts to answer.
urlpatterns = [path("rules/<str:name>/rehearse", RehearseView.as_view(), name="rule-rehearse")]
