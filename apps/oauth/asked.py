"""What an app that wants to sign in asks a person for, and what becomes of the answer."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from django.conf import settings
from django.http import HttpRequest, QueryDict

from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.scope import Permission
from apps.core.pages.addresses import hub_address
from apps.oauth.clients import client_name
from apps.oauth.domain.clients import place_of
from apps.oauth.domain.resources import project_of, read_resource, resource_of

READ, WRITE = "read", "write"
MAX_VALUE_CHARS = 4_000


class SignInRefusedError(Exception):
    """A request of an app that cannot be asked. back: where the app is told so, None where it cannot be trusted."""

    def __init__(self, back: str | None) -> None:
        super().__init__()
        self.back = back


@dataclass(frozen=True)
class SignIn:
    """What an app asks for. credentials: of its request, for the answer. place: the host that it is at, "" for here.

    is_known: the app is at an address that vouches for it, and did not merely choose a name.
    """

    name: str
    place: str
    is_known: bool
    wants_to_write: bool
    project: str
    until: datetime
    credentials: dict[str, Any]


def ends_at() -> datetime:
    """Return until when an app that signs in now may do what it was allowed."""
    return utcnow(SYSTEM_CLOCK) + timedelta(days=settings.MEMORYHUB.app_sign_in_days)


def sign_in_read(request: HttpRequest) -> SignIn:
    """Return what the app of a request asks for. Raises SignInRefusedError."""
    from oauth2_provider.exceptions import FatalClientError, OAuthToolkitError
    from oauthlib.oauth2.rfc6749 import errors

    from apps.oauth.server import server

    if not are_plain(request.GET):
        raise SignInRefusedError(None)
    try:
        scopes, asked = server().validate_authorization_request(request)
        client, uri = asked["request"].client, asked["redirect_uri"]
        named = own_resource(request)
        refused = None
        if asked["response_type"] != "code":
            refused = errors.UnsupportedResponseTypeError(state=asked["state"])
        elif asked.get("code_challenge_method") != "S256":
            refused = errors.InvalidRequestError("Use PKCE with S256.", state=asked["state"])
        elif not named:
            refused = errors.CustomOAuth2Error("invalid_target", "No such resource here.", state=asked["state"])
        if refused is not None:
            raise OAuthToolkitError(error=refused, redirect_uri=uri)
    except FatalClientError as error:
        raise SignInRefusedError(None) from error
    except OAuthToolkitError as error:
        raise SignInRefusedError(back_of(request, error)) from error
    kept = ("client_id", "redirect_uri", "response_type", "state", "code_challenge", "code_challenge_method")
    return SignIn(
        name=client_name(client),
        place=place_of(uri),
        is_known=client.registration_source == client.RegistrationSource.CIMD,
        wants_to_write=WRITE in scopes,
        project=project_of(named),
        until=ends_at(),
        credentials={**{name: asked.get(name) for name in kept}, "resource": [named], "scopes": scopes},
    )


def are_plain(said: QueryDict) -> bool:
    """Return whether parameters are texts that a table can keep, of a length that is never reached."""
    return all(len(value) <= MAX_VALUE_CHARS and value.isprintable() for _, values in said.lists() for value in values)


def own_resource(request: HttpRequest) -> str:
    """Return the one resource that a request names, that of all where it names none; "" for any other."""
    named = request.GET.getlist("resource")
    address = hub_address(request)
    if not named:
        return resource_of(address)
    found = {read_resource(one, address) for one in named}
    return (found.pop() or "") if len(found) == 1 else ""


def sign_in_answer(
    request: HttpRequest, credentials: Mapping[str, Any], permission: Permission | None, part: Mapping[str, str]
) -> str:
    """Allow what was asked for, or less, or refuse with None; return where the app is told.

    part: the household or persona of the person with whose data alone it is allowed, empty for all. Raises
    SignInRefusedError where the app may not ask any more.
    """
    from oauth2_provider.exceptions import FatalClientError, OAuthToolkitError

    from apps.oauth.server import server

    given = {name: value for name, value in credentials.items() if name != "scopes"} | {"claims": {"part": dict(part)}}
    scopes = [READ, WRITE] if permission == Permission.WRITE else [READ]
    if permission == Permission.WRITE and WRITE not in credentials["scopes"]:
        scopes = [READ]
    try:
        url = server().create_authorization_response(request, scopes, given, permission is not None)[0]
    except FatalClientError as error:
        raise SignInRefusedError(None) from error
    except OAuthToolkitError as error:
        return back_of(request, error) or ""
    return with_issuer(url, request)


def back_of(request: HttpRequest, error: Any) -> str | None:
    """Return where an app is told of an error; None where the request names no such address."""
    found = error.oauthlib_error
    if not found.redirect_uri:
        return None
    separator = "&" if "?" in found.redirect_uri else "?"
    return with_issuer(f"{found.redirect_uri}{separator}{found.urlencoded}", request)


def with_issuer(url: str, request: HttpRequest) -> str:
    """Return an address with the hub named as the one that answers (RFC 9207)."""
    parts = urlsplit(url)
    query = [pair for pair in parse_qsl(parts.query, keep_blank_values=True) if pair[0] != "iss"]
    return urlunsplit(parts._replace(query=urlencode([*query, ("iss", hub_address(request))])))
