"""Writes of `core`: create, use and revoke API keys."""

from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction

from apps.core.domain import keys
from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.errors import InvalidInputError, NotFoundError
from apps.core.domain.scope import Permission, Scope
from apps.core.models import ApiKey

LAST_USED_RESOLUTION = timedelta(minutes=1)


@transaction.atomic
def key_create(
    *,
    name: str,
    scope: Scope,
    permission: Permission,
    actor: str,
    expires_at: datetime | None = None,
    secret: str | None = None,
    clock: Clock = SYSTEM_CLOCK,
) -> tuple[ApiKey, str]:
    """Create an API key and return it with its secret, which cannot be read again.

    Raises InvalidInputError for an operator key with a bound, an expiry in the past, or a given secret
    that is malformed or in use.
    """
    if permission is Permission.OPERATOR and scope.named():
        raise InvalidInputError("An operator key is bound to nothing.", attr="permissions")
    now = utcnow(clock)
    if expires_at is not None and expires_at <= now:
        raise InvalidInputError("The expiry must lie in the future.", attr="expires_at")
    secret = secret or keys.generate_secret()
    if not keys.is_well_formed(secret):
        raise InvalidInputError("A key is 32 to 200 printable characters without spaces.", attr="key")
    if ApiKey.objects.filter(digest=keys.digest(secret)).exists():
        raise InvalidInputError("This key is in use already.", attr="key")
    key = ApiKey(
        name=name,
        digest=keys.digest(secret),
        shown=keys.shown_part(secret),
        permission=permission,
        expires_at=expires_at,
        created_at=now,
        created_by=actor,
        **scope.named(),
    )
    key.full_clean()
    key.save()
    return key, secret


def key_revoke(*, uuid: UUID, clock: Clock = SYSTEM_CLOCK) -> None:
    """Revoke a key at once. Raises NotFoundError when there is none, or it was revoked before."""
    if not ApiKey.objects.filter(uuid=uuid, revoked_at=None).update(revoked_at=utcnow(clock)):
        raise NotFoundError("There is no such key.")


def key_touch(*, key: ApiKey, clock: Clock = SYSTEM_CLOCK) -> None:
    """Note that a key was used, at most once a minute, so that reading stays cheap."""
    now = utcnow(clock)
    if key.last_used_at is not None and now - key.last_used_at < LAST_USED_RESOLUTION:
        return
    ApiKey.objects.filter(pk=key.pk).update(last_used_at=now)
