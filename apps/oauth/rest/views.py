"""Where apps fetch tokens, give them up, and register: in the words of OAuth, and not in those of the API."""

import json
from collections.abc import Callable
from typing import Any

from allauth.core import ratelimit
from django.conf import settings
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from drf_spectacular.utils import extend_schema
from rest_framework.parsers import FormParser
from rest_framework.request import Request

from apps.core.domain.errors import InvalidInputError
from apps.core.rest.views import HubView
from apps.oauth import services

JSON = {"Content-Type": "application/json"}
NO_STORE = {"Cache-Control": "no-store", "Pragma": "no-cache"}
# The limit of registrations of an address (settings.ACCOUNT_RATE_LIMITS).
LIMIT = "register_app"


class TokenView(HubView):
    """An app that a person let in fetches its tokens."""

    authentication_classes = ()
    permission_classes = ()
    parser_classes = (FormParser,)

    @extend_schema(exclude=True)
    def post(self, request: Request) -> HttpResponse:
        """Give tokens for a code, or for a refresh token."""
        return self.answer(request._request, "create_token_response")

    def answer(self, request: HttpRequest, method: str) -> HttpResponse:
        """Have the authorization server answer, in one transaction: two that bring the same code wait for another."""
        from apps.oauth.server import server

        if not services.are_plain(request.POST):
            return refusal("invalid_request", "Parameters must be short and printable.")
        work: Callable[[HttpRequest], Any] = getattr(server(), method)
        with transaction.atomic():
            _, headers, body, status = work(request)
        return HttpResponse(body or "", status=status, headers={**JSON, **headers, **NO_STORE})


class RevokeView(TokenView):
    """An app gives up what it was let in for."""

    @extend_schema(exclude=True)
    def post(self, request: Request) -> HttpResponse:
        """End a token, and with it the key (RFC 7009)."""
        return self.answer(request._request, "create_revocation_response")


class RegisterView(HubView):
    """An app that no person knows yet says what it is."""

    authentication_classes = ()
    permission_classes = ()

    @extend_schema(exclude=True)
    def post(self, request: Request) -> HttpResponse:
        """Register an app (RFC 7591)."""
        if not settings.MEMORYHUB.app_registration:
            raise Http404
        if not ratelimit.consume(request._request, action=LIMIT):
            return refusal("temporarily_unavailable", "Too many apps registered. Wait ten minutes.", 429)
        try:
            said = json.loads(request._request.body)
        except (ValueError, RecursionError):
            said = None
        if not isinstance(said, dict):
            return refusal("invalid_client_metadata", "The body must be an object in JSON.")
        try:
            client, secret, method = services.client_register(said)
        except InvalidInputError as error:
            return refusal(error.code, str(error.detail))
        answer = {
            "client_id": client.client_id,
            "client_id_issued_at": int(client.created.timestamp()),
            "client_name": client.name,
            "redirect_uris": client.redirect_uris.split(),
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "token_endpoint_auth_method": method,
            **({"client_secret": secret, "client_secret_expires_at": 0} if secret else {}),
        }
        return JsonResponse(answer, status=201, headers=NO_STORE)


def refusal(code: str, detail: str, status: int = 400) -> HttpResponse:
    """Return an error as RFC 7591 has it."""
    return JsonResponse({"error": code, "error_description": detail}, status=status, headers=NO_STORE)
