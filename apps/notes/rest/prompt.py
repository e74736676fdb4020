"""The prompt of notes over REST (spec 001, prompt)."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.core.domain.scope import Permission
from apps.core.rest.views import HubView
from apps.core.schemas.bodies import search_limit
from apps.core.schemas.serializers import validate
from apps.notes import selectors
from apps.notes.schemas.prompt import PromptInput, PromptOutput, origin_json, section_json


class PromptView(HubView):
    """Composes what a model is shown of a person's notes."""

    needed_permission = Permission.READ
    body_limit = staticmethod(search_limit)

    @extend_schema(operation_id="notes_prompt", request=PromptInput, responses={200: PromptOutput})
    def post(self, request: Request) -> Response:
        """Compose MEMORY.md, the last two days and what a search finds as a text for a system prompt."""
        data = validate(PromptInput, request.data)
        composed = selectors.prompt_compose(
            self.access,
            data.get("user_id"),
            data.get("message", ""),
            budget=data["budget_tokens"],
            limit=data["limit"],
            include_daily=data["include_daily"],
            include_memories=data["include_memories"],
            zone=data.get("timezone"),
        )
        prompt = composed.prompt
        left_out: list[Any] = [{**origin_json(each), "reason": each.reason} for each in prompt.left_out]
        return Response(
            {
                "text": prompt.text,
                "tokens": prompt.tokens,
                "sections": [section_json(each) for each in prompt.sections],
                "left_out": left_out,
                "search": {"mode": composed.mode, "reason": composed.reason},
            }
        )
