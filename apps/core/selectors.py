"""Reads of `core`."""

from collections.abc import Iterable
from datetime import datetime
from uuid import UUID

from django.db.models import Q, QuerySet

from apps.core.db.prepared import PreparedSelect
from apps.core.domain import keys
from apps.core.domain.errors import NotFoundError
from apps.core.domain.scope import Access, AccessStoppedError, Scope
from apps.core.models import ApiKey, Membership, MembershipState, foreign_ties, tie_of

# The actor of what was done with a key begins so.
KEY_ACTOR = "key:"

# The condition of `usable_keys`, prepared: every request reads its key.
_USABLE_KEY = PreparedSelect(
    ApiKey,
    where="(digest = %(digest)s OR (previous_digest = %(digest)s AND previous_until > %(now)s)) "
    "AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > %(now)s) "
    "AND (secret_until IS NULL OR secret_until > %(now)s)",
    # What `ApiKey.foreign` is; mostly there is none.
    extra="(SELECT array_agg(ARRAY[m.user_id, m.household_id, m.persona_id]::text[]) FROM core_membership AS m "
    "WHERE m.state = 'foreign' AND core_apikey.user_id IN ('', m.user_id))",
)


def key_verify(secret: str, now: datetime, resource: str = "") -> ApiKey | None:
    """Return the valid key of this secret, or None when it is unknown, replaced, revoked, expired, or for elsewhere.

    resource: the address that is asked, where apps that signed in are let in. Nothing remembers the answer: a key that
    is revoked is refused by every process from then on.
    """
    if not keys.is_well_formed(secret):
        return None
    foreign, found = _USABLE_KEY.rows_with_extra({"digest": keys.digest(secret), "now": now})
    if not found or not keys.opens(found[0].resource, resource):
        return None
    found[0].foreign = tuple(tie_of(*row) for row in foreign or ())
    return found[0]


def with_foreign(keys: Iterable[ApiKey]) -> list[ApiKey]:
    """Return keys, each knowing its `foreign`, by one query for all of them."""
    foreign, found = foreign_ties(), list(keys)
    for key in found:
        key.foreign = tuple(tie for tie in foreign if key.user_id in ("", tie.user_id))
    return found


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


def membership_list(access: Access, scope: Scope, state: str | None = None) -> QuerySet[Membership]:
    """Return who belongs where, as far as the caller sees it; foreign writes only where it has no bound."""
    rows = Membership.objects.visible_to(access, scope)
    if access.bound.named():
        rows = rows.filter(state=MembershipState.MEMBER)
    return rows.filter(state=state) if state else rows


def membership_get(access: Access, uuid: UUID) -> Membership:
    """Return one membership that the caller sees. Raises NotFoundError."""
    found = membership_list(access, Scope()).filter(uuid=uuid).first()
    if found is None:
        raise NotFoundError("There is no such membership.")
    return found
