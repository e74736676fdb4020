"""The apps that may ask a person to sign in: those that registered, and those that are an address."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.core.exceptions import ValidationError
from django.db.models import Exists, OuterRef
from oauth2_provider.models import AccessToken, Application, Grant, RefreshToken, clear_expired

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.errors import InvalidInputError
from apps.core.domain.keys import MAX_NAME_CHARS
from apps.core.models import ApiKey
from apps.oauth.domain.clients import redirects_problem, shown_client_name

METHODS = {"none": Application.CLIENT_PUBLIC, **dict.fromkeys(
    ("client_secret_basic", "client_secret_post"), Application.CLIENT_CONFIDENTIAL)}  # fmt: skip
GRANTS = {"authorization_code", "refresh_token"}
# Nobody signed in by them for so long, and more of them than so many are not kept.
UNUSED_DAYS = 7
MAX_UNUSED = 2_000
# RFC 7591, 3.2.2.
INVALID_REDIRECT, INVALID_METADATA = "invalid_redirect_uri", "invalid_client_metadata"


def client_name(client: Application) -> str:
    """Return what an app calls itself, as people may be shown it."""
    return shown_client_name(client.name, client.client_id, MAX_NAME_CHARS)


def client_register(said: Mapping[str, Any]) -> tuple[Application, str, str]:
    """Register an app by what it says of itself (RFC 7591); return it, its secret, and how it shows that.

    The secret is kept as a hash, and "" for an app that cannot keep one. Raises InvalidInputError with a code of RFC
    7591.
    """
    if problem := redirects_problem(said.get("redirect_uris")):
        raise InvalidInputError(problem, code=INVALID_REDIRECT)
    method = said.get("token_endpoint_auth_method", "client_secret_basic")
    grants = said.get("grant_types", ["authorization_code"])
    if not isinstance(method, str) or method not in METHODS:
        detail = f"token_endpoint_auth_method must be one of: {', '.join(METHODS)}."
        raise InvalidInputError(detail, code=INVALID_METADATA)
    if not isinstance(grants, list) or not {"authorization_code"} <= {str(one) for one in grants} <= GRANTS:
        raise InvalidInputError("grant_types must be authorization_code, refresh_token.", code=INVALID_METADATA)
    client = Application(
        name=shown_client_name(said.get("client_name"), "", MAX_NAME_CHARS),
        redirect_uris=" ".join(said["redirect_uris"]),
        client_type=METHODS[method],
        authorization_grant_type=Application.GRANT_AUTHORIZATION_CODE,
        registration_source=Application.RegistrationSource.DCR,
    )
    secret = "" if method == "none" else client.client_secret
    try:
        client.full_clean(exclude=["client_secret"])
    except ValidationError as error:
        raise InvalidInputError(" ".join(error.messages), code=INVALID_METADATA) from error
    client.save()
    # The newest are kept: whoever registers in crowds keeps nobody from it.
    crowd = unused_clients().order_by("-created", "-pk").values_list("pk", flat=True)[MAX_UNUSED:]
    Application.objects.filter(pk__in=list(crowd)).delete()
    return client, secret, method


def unused_clients() -> Any:
    """Return the apps by which nobody is signed in."""
    used = RefreshToken.objects.filter(application=OuterRef("pk"))
    asked = Grant.objects.filter(application=OuterRef("pk"))
    return Application.objects.filter(~Exists(used), ~Exists(asked))


def sign_ins_trim(*, clock: Clock = SYSTEM_CLOCK) -> int:
    """Delete codes and tokens that are over, and apps that nobody uses; return how many apps."""
    clear_expired()
    keys = ApiKey.objects.filter(revoked_at=None).exclude(expires_at__lte=utcnow(clock)).exclude(resource="")
    over = RefreshToken.objects.exclude(token_family__in=keys.values("uuid"))
    AccessToken.objects.filter(refresh_token__in=over).delete()
    over.delete()
    old = unused_clients().filter(updated__lt=utcnow(clock) - timedelta(days=UNUSED_DAYS))
    return int(old.delete()[0])
