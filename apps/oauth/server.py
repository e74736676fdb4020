"""The authorization server of Django OAuth Toolkit as the hub runs it. Imported with the first request."""

from functools import cache
from typing import Any

from oauth2_provider.cimd import CIMDError, SafeMetadataFetcher
from oauth2_provider.oauth2_backends import OAuthLibCore
from oauth2_provider.settings import oauth2_settings
from oauthlib.oauth2 import WebApplicationServer

from apps.core.domain.keys import MAX_NAME_CHARS
from apps.oauth.domain.clients import redirects_problem, shown_client_name
from apps.oauth.validator import SignInValidator


@cache
def server() -> OAuthLibCore:
    """Return the server of this process, which knows authorization codes and refresh tokens alone."""
    of_settings = oauth2_settings.server_kwargs
    named = ("token_generator", "token_expires_in", "refresh_token_generator")
    return OAuthLibCore(WebApplicationServer(SignInValidator(), **{name: of_settings[name] for name in named}))


class AskedByPersonPermission:
    """Lets an address be an app only where a signed-in person is asked: strangers have the hub fetch nothing."""

    def has_permission(self, request: Any, client_id: str) -> bool:
        """Return whether the hub may fetch what an address says of its app."""
        return str(request.uri).startswith("/apps/sign-in/")


class ClientDocumentFetcher(SafeMetadataFetcher):
    """Fetches what an address says of its app, from public hosts alone, and checks it as a registration."""

    def fetch(self, client_id: str) -> tuple[dict[str, Any], int]:
        """Return what the document says, and for how many seconds. Raises CIMDError."""
        said, age = super().fetch(client_id)
        if problem := redirects_problem(said.get("redirect_uris")):
            raise CIMDError(problem)
        return {**said, "client_name": shown_client_name(said.get("client_name"), client_id, MAX_NAME_CHARS)}, age
