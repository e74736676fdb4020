"""Reads of `core`."""

from datetime import datetime
from uuid import UUID

from django.db.models import Q, QuerySet

from apps.core.db.prepared import PreparedSelect
from apps.core.domain import keys
from apps.core.domain.errors import NotFoundError
from apps.core.domain.scope import AccessStoppedError
from apps.core.models import ApiKey

# The actor of what was done with a key begins so.
KEY_ACTOR = "key:"

# The condition of `usable_keys`, prepared: every request reads its key.
_USABLE_KEY = PreparedSelect(
    ApiKey,
    where="(digest = %(digest)s OR (previous_digest = %(digest)s AND previous_until > %(now)s)) "
    "AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > %(now)s)",
)


def key_verify(secret: str, now: datetime) -> ApiKey | None:
    """Return the valid key of this secret, or None when it is unknown, replaced, revoked or expired.

    Nothing remembers the answer: a key that is revoked is refused by every process from then on.
    """
    if not keys.is_well_formed(secret):
        return None
    found = _USABLE_KEY.rows({"digest": keys.digest(secret), "now": now})
    return found[0] if found else None


def usable_keys(now: datetime) -> QuerySet[ApiKey]:
    """Return the keys that are neither revoked nor expired."""
    return ApiKey.objects.filter(Q(expires_at=None) | Q(expires_at__gt=now), revoked_at=None)


def actors_of(key: ApiKey) -> frozenset[str]:
    """Return the actors under which histories have what was done with a key: of its name, and of those it had."""
    return frozenset(f"{KEY_ACTOR}{name}" for name in (key.name, *key.former_names))


def namesakes(key: ApiKey) -> QuerySet[ApiKey]:
    """Return the other keys that have or had a name of this one: what each of them wrote cannot be distinguished."""
    names = [key.name, *key.former_names]
    return ApiKey.objects.exclude(pk=key.pk).filter(Q(name__in=names) | Q(former_names__overlap=names))


def require_let_in(actor: str, user_id: str) -> None:
    """Raise AccessStoppedError where a user has stopped the key in whose name something is done later.

    actor: its name after `key:`. Of several keys of one name one that was stopped is enough.
    """
    named = Q(name=actor.removeprefix(KEY_ACTOR)) | Q(former_names__contains=[actor.removeprefix(KEY_ACTOR)])
    if actor.startswith(KEY_ACTOR) and ApiKey.objects.filter(named, stopped_by__contains=[user_id]).exists():
        raise AccessStoppedError


def key_list() -> QuerySet[ApiKey]:
    """Return all keys, the newest first."""
    return ApiKey.objects.all()


def key_get(uuid: UUID) -> ApiKey:
    """Return one key. Raises NotFoundError."""
    key = ApiKey.objects.filter(uuid=uuid).first()
    if key is None:
        raise NotFoundError("There is no such key.")
    return key
