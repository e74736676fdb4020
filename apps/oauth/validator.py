"""What Django OAuth Toolkit asks the hub: codes are digests, and a token is the secret of a key.

The toolkit checks requests, turns refresh tokens over and notices one that is used twice. Whether a token opens
anything says its key alone (`core.selectors.key_verify`), so that a person stops it on their page *Apps*. The family of
refresh tokens of a sign-in has the id of its key.

Imported with the first request: the toolkit brings what a hub without such apps need not load.
"""

import json
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db.models import Q
from oauth2_provider.models import AccessToken, Grant, RefreshToken
from oauth2_provider.oauth2_validators import OAuth2Validator
from oauth2_provider.settings import oauth2_settings
from oauthlib.oauth2.rfc6749 import errors

from apps.audit.services import record
from apps.core.db.memberships import names_of_member
from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.errors import MemoryHubError
from apps.core.domain.keys import digest
from apps.core.domain.scope import Permission, Scope
from apps.core.models import PERSON_ACTOR, ApiKey
from apps.core.selectors import usable_keys
from apps.core.services import key_create, key_renew, key_revoke, unused_name
from apps.oauth.asked import READ, WRITE, ends_at
from apps.oauth.clients import client_name
from apps.oauth.domain.resources import read_resource

SCOPES = [READ, WRITE]


class SignInValidator(OAuth2Validator):
    """Every method runs in the transaction of its request (`apps.oauth.rest.views`)."""

    # --- what may be asked for -------------------------------------------------------------------------

    def validate_scopes(self, client_id: str, scopes: Any, client: Any, request: Any, *args: Any, **kw: Any) -> bool:
        """Take any words: of those that the hub does not know, it grants none (RFC 6749, 3.3)."""
        return True

    def get_default_scopes(self, client_id: str, request: Any, *args: Any, **kwargs: Any) -> list[str]:
        """Return what an app asks for that says nothing."""
        return SCOPES

    # --- codes, of which the digest is kept --------------------------------------------------------------

    def _create_authorization_code(self, request: Any, code: Any, expires: Any = None) -> Any:
        return super()._create_authorization_code(request, {**code, "code": digest(code["code"])}, expires)

    def validate_code(self, client_id: str, code: str, client: Any, request: Any, *args: Any, **kwargs: Any) -> bool:
        """Take a code once. Of one that comes again, what it led to ends (RFC 6749, 10.5)."""
        grant = Grant.objects.select_for_update().filter(code=digest(code), application=client).first()
        if grant is None:
            return False
        said = json.loads(grant.claims)
        if used_for := said.get("key"):
            end_key(UUID(used_for))
            return False
        request.scopes, request.user, request.part = grant.scope.split(" "), grant.user, said["part"]
        return not grant.is_expired()

    def confirm_redirect_uri(self, client_id: str, code: str, *args: Any, **kwargs: Any) -> Any:
        return super().confirm_redirect_uri(client_id, digest(code), *args, **kwargs)

    def get_code_challenge(self, code: str, request: Any) -> Any:
        return super().get_code_challenge(digest(code), request)

    def get_code_challenge_method(self, code: str, request: Any) -> Any:
        return super().get_code_challenge_method(digest(code), request)

    def invalidate_authorization_code(self, client_id: str, code: str, request: Any, *args: Any, **kwargs: Any) -> None:
        """Note what a code led to, until it is removed with what is over."""
        Grant.objects.filter(code=digest(code)).update(claims=json.dumps({"key": str(request.signed_in)}))

    # --- tokens, which are secrets of keys ------------------------------------------------------------------

    def _check_and_set_request_resource(self, request: Any) -> None:
        """Set the one resource of the tokens: that of the sign-in, which a request may name and not leave."""
        if request.grant_type == "authorization_code":
            signed = Grant.objects.get(code=digest(request.code), application=request.client)
        else:
            signed = request.refresh_token_instance
        named = [value for name, value in request.decoded_body or [] if name == "resource"]
        [own] = signed.resource
        address = own.partition("/mcp")[0]
        if any(read_resource(one, address) != own for one in named):
            raise errors.CustomOAuth2Error("invalid_target", description="The app signed in for another resource.")
        request.resource = [own]

    def _save_bearer_token(self, token: Any, request: Any, *args: Any, **kwargs: Any) -> None:
        previous = getattr(request, "refresh_token_instance", None)
        super()._save_bearer_token(token, request, *args, **kwargs)
        until = utcnow(SYSTEM_CLOCK) + timedelta(seconds=oauth2_settings.ACCESS_TOKEN_EXPIRE_SECONDS)
        if previous is not None:
            key_renew(uuid=previous.token_family, secret=token["access_token"], until=until)
            return
        request.signed_in = make_key(request, token["access_token"], until).uuid
        made = RefreshToken.objects.filter(token_checksum=digest(token["refresh_token"]))
        made.update(token_family=request.signed_in)

    def validate_refresh_token(self, refresh_token: str, client: Any, request: Any, *args: Any, **kwargs: Any) -> bool:
        """Take a refresh token once, as long as its key may be used. Of one that comes again, the key ends."""
        known = RefreshToken.objects.select_for_update(of=["self"]).filter(token_checksum=digest(refresh_token)).first()
        is_valid: bool = super().validate_refresh_token(refresh_token, client, request, *args, **kwargs)
        if known is None:
            return False
        if known.revoked is not None:
            end_key(known.token_family)
            return False
        # One that asks for less would have a token that says less than its key may.
        request.scope = None
        key = usable_keys(utcnow(SYSTEM_CLOCK)).filter(uuid=known.token_family).first()
        return is_valid and key is not None and key.user_id not in key.stopped_by

    def revoke_token(self, token: str, token_type_hint: Any, request: Any, *args: Any, **kwargs: Any) -> None:
        """End the key of a token with it (RFC 7009)."""
        checksum = digest(token)
        of_token = Q(token_checksum=checksum) | Q(access_token__token_checksum=checksum)
        own = RefreshToken.objects.filter(of_token, application_id=getattr(request.client, "pk", None))
        families = list(own.values_list("token_family", flat=True))
        super().revoke_token(token, token_type_hint, request, *args, **kwargs)
        for family in families:
            end_key(family)


def make_key(request: Any, secret: str, until: Any) -> ApiKey:
    """Make the key of an app that signs in. Raises an error of OAuth where it may not be made any more."""
    user_id = getattr(getattr(request.user, "account", None), "person_id", "")
    is_member = all(value in names_of_member(user_id, name) for name, value in request.part.items())
    if not user_id or not is_member or not request.user.is_active:
        raise errors.InvalidGrantError(request=request)
    actor = f"{PERSON_ACTOR}{user_id}"
    try:
        key, _ = key_create(
            name=unused_name(client_name(request.client)),
            scope=Scope(user_id, **request.part),
            permission=Permission.WRITE if WRITE in request.scopes else Permission.READ,
            actor=actor,
            expires_at=ends_at(),
            secret=secret,
            resource=request.resource[0],
            secret_until=until,
        )
    except MemoryHubError as error:  # such as for a person who is being forgotten
        raise errors.InvalidGrantError(description=str(error.detail), request=request) from error
    record(
        actor_kind="person", actor=actor, action="app.connected", object_type="core.apikey", object_id=str(key.pk),
        scope=Scope(user_id), detail={"name": key.name},
    )  # fmt: skip
    return key


def end_key(uuid: UUID | None) -> None:
    """Revoke the key of a sign-in, with its tokens; one that has ended stays as it is."""
    if uuid is None:
        return
    AccessToken.objects.filter(refresh_token__token_family=uuid).delete()
    RefreshToken.revoke_family(uuid)
    if ApiKey.objects.filter(uuid=uuid, revoked_at=None).exists():
        key_revoke(uuid=uuid)
