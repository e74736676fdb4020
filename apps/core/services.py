"""Writes of `core`: API keys, and who belongs to which household or persona."""

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Q

from apps.core.db.memberships import is_member, scope_ties_make, tie_columns, ties_make
from apps.core.db.user_locks import hold_users
from apps.core.domain import keys
from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.errors import ConflictError, ForbiddenError, InvalidInputError, NotFoundError
from apps.core.domain.origin import CONNECTED, WriteOrigin
from apps.core.domain.scope import MAX_OWNERS, Access, Permission, Scope
from apps.core.models import ApiKey, Membership, MembershipState

LAST_USED_RESOLUTION = timedelta(minutes=1)


@transaction.atomic
def key_create(
    *,
    name: str,
    scope: Scope,
    permission: Permission,
    actor: str,
    expires_at: datetime | None = None,
    reads: Collection[str] = (),
    secret: str | None = None,
    stopped_by: Collection[str] = (),
    origin: WriteOrigin = WriteOrigin.APP,
    resource: str = "",
    secret_until: datetime | None = None,
    clock: Clock = SYSTEM_CLOCK,
) -> tuple[ApiKey, str]:
    """Create an API key and return it with its secret, which cannot be read again.

    reads: owners that the key may read besides its bound. stopped_by: users who stopped the key that makes this one,
    and so this one. origin: of what it writes. resource, secret_until: of an app that signed in. Raises
    InvalidInputError for an operator key with a bound, an expiry in the past, owners that cannot be granted, or a given
    secret that is malformed or in use.
    """
    if permission is Permission.OPERATOR and scope.named():
        raise InvalidInputError("An operator key is bound to nothing.", attr="permissions")
    now = utcnow(clock)
    check_expiry(expires_at, now)
    granted = settle_reads(scope, reads)
    if whose := {*granted, *filter(None, [scope.user_id])}:
        hold_users(whose)
    secret = secret or keys.generate_secret()
    if not keys.is_well_formed(secret):
        raise InvalidInputError("A key must have 32 to 200 printable characters without spaces.", attr="key")
    digest = keys.digest(secret)
    if ApiKey.objects.filter(Q(digest=digest) | Q(previous_digest=digest)).exists():
        raise InvalidInputError("This key is already in use.", attr="key")
    key = ApiKey(
        name=name,
        digest=digest,
        shown=keys.shown_part(secret),
        permission=permission,
        expires_at=expires_at,
        reads=granted,
        origin=origin,
        stopped_by=sorted(set(stopped_by)),
        resource=resource,
        secret_until=secret_until,
        created_at=now,
        created_by=actor,
        **scope.named(),
    )
    key.full_clean()
    key.save()
    scope_ties_make(scope, made_by=actor, made_at=now)
    return key, secret


def unused_name(wanted: str) -> str:
    """Return a name that no key has or had: what each of them wrote is known by it. wanted: as it is, or numbered."""
    name, number = wanted, 1
    while ApiKey.objects.filter(Q(name=name) | Q(former_names__contains=[name])).exists():
        number += 1
        end = f" ({number})"
        name = f"{wanted[: keys.MAX_NAME_CHARS - len(end)]}{end}"
    return name


def check_expiry(expires_at: datetime | None, now: datetime) -> None:
    """Raise InvalidInputError for an expiry that does not lie in the future."""
    if expires_at is not None and expires_at <= now:
        raise InvalidInputError("The expiry must be in the future.", attr="expires_at")


def settle_reads(scope: Scope, reads: Collection[str]) -> list[str]:
    """Return the owners that a key of this bound is granted, sorted. Raises InvalidInputError."""
    granted = sorted(set(reads))
    if granted and not scope.named():
        raise InvalidInputError("A key without a bound reads everything already.", attr="reads")
    if len(granted) > MAX_OWNERS:
        raise InvalidInputError(f"At most {MAX_OWNERS} users and teams.", attr="reads", code="max_length")
    return granted


@transaction.atomic
def key_update(
    *, uuid: UUID, changes: Mapping[str, Any], shown: Collection[str] | None = None, clock: Clock = SYSTEM_CLOCK
) -> ApiKey:
    """Change the name, the expiry, the origin or the grants of a key and return it.

    An expired key with a new expiry works again. changes: some of `name`, `expires_at`, `origin` and `reads`, all
    owners that it is granted from now on. shown: the owners of whom `reads` was edited: only what differs from them
    changes, so that a grant which ended since does not come back.
    Raises NotFoundError, ConflictError for a revoked key, and InvalidInputError for an expiry in the past, since a key
    is ended by revoking it, for owners that cannot be granted, and for more than an app where a person connected it.
    """
    key = lock_key(uuid)
    if "reads" in changes:
        wanted = set(changes["reads"])
        if shown is not None:
            wanted = wanted - set(shown) | set(key.reads) - (set(shown) - wanted)
        granted = settle_reads(key.scope, wanted)
        hold_users(set(granted) - set(key.reads))
        key.reads = granted
    if "expires_at" in changes:
        check_expiry(changes["expires_at"], utcnow(clock))
        key.expires_at = changes["expires_at"]
    if (name := changes.get("name", key.name)) != key.name:
        key.former_names = [*dict.fromkeys([*key.former_names, key.name])]
        key.name = name
    key.origin = changes.get("origin", key.origin)
    if key.is_connected and WriteOrigin.APP.is_below(WriteOrigin(key.origin)):
        raise InvalidInputError(CONNECTED, attr="origin")
    key.save(update_fields=["name", "former_names", "expires_at", "origin", "reads"])
    return key


@transaction.atomic
def key_rotate(
    *, uuid: UUID, overlap: timedelta = keys.DEFAULT_OVERLAP, clock: Clock = SYSTEM_CLOCK
) -> tuple[ApiKey, str]:
    """Give a key a new secret and return both; the secret cannot be read again.

    The present secret works for `overlap` longer, one that an earlier rotation replaced stops at once. Raises
    NotFoundError, InvalidInputError for an overlap out of range, and ConflictError for a revoked or expired key.
    """
    if not timedelta() <= overlap <= keys.MAX_OVERLAP:
        raise InvalidInputError(f"The overlap must be 0 to {keys.MAX_OVERLAP.days} days.", attr="overlap_seconds")
    key, now = lock_key(uuid), utcnow(clock)
    if key.resource:
        raise ConflictError("The app of this key signed in, and renews its secret itself.", code="signed_in")
    if key.expires_at is not None and key.expires_at <= now:
        raise ConflictError("This key has expired: change its expiry first.", code="expired")
    secret = keys.generate_secret()
    key.previous_digest, key.previous_until = (key.digest, now + overlap) if overlap else (None, None)
    key.digest, key.shown, key.rotated_at = keys.digest(secret), keys.shown_part(secret), now
    key.save(update_fields=["digest", "shown", "previous_digest", "previous_until", "rotated_at"])
    return key, secret


@transaction.atomic
def key_renew(*, uuid: UUID, secret: str, until: datetime) -> ApiKey:
    """Give the key of an app that signed in its next secret, and return it. The one before stops at once.

    Raises NotFoundError, and ConflictError for a revoked key.
    """
    key = lock_key(uuid)
    key.digest, key.shown, key.secret_until = keys.digest(secret), keys.shown_part(secret), until
    key.save(update_fields=["digest", "shown", "secret_until"])
    return key


def lock_key(uuid: UUID) -> ApiKey:
    """Lock a key that can be changed. Raises NotFoundError, and ConflictError for a revoked one."""
    key = ApiKey.objects.select_for_update().filter(uuid=uuid).first()
    if key is None:
        raise NotFoundError("There is no such key.")
    if key.revoked_at is not None:
        raise ConflictError("This key is revoked: create another one.", code="revoked")
    return key


@transaction.atomic
def key_stop(*, uuid: UUID, user_id: str) -> ApiKey:
    """End what a key may do with a user's data, at once and in every process, and return it; safe to repeat.

    It outlives a rotation. Raises NotFoundError, and ConflictError for a revoked key.
    """
    key = lock_key(uuid)
    if user_id not in key.stopped_by:
        hold_users([user_id])
        key.stopped_by = sorted([*key.stopped_by, user_id])
        key.save(update_fields=["stopped_by"])
    return key


@transaction.atomic
def key_let_in(*, uuid: UUID, user_id: str) -> ApiKey:
    """Let a key do again what it may with a user's data, and return it; safe to repeat. Raises as `key_stop`."""
    key = lock_key(uuid)
    key.stopped_by = [one for one in key.stopped_by if one != user_id]
    key.save(update_fields=["stopped_by"])
    return key


@transaction.atomic
def key_revoke(*, uuid: UUID, clock: Clock = SYSTEM_CLOCK) -> None:
    """Revoke a key at once. Raises NotFoundError when there is none, or it was revoked before."""
    key = ApiKey.objects.select_for_update().filter(uuid=uuid, revoked_at=None).first()
    if key is None:
        raise NotFoundError("There is no such key.")
    key.revoked_at = utcnow(clock)
    key.save(update_fields=["revoked_at"])


def key_touch(*, key: ApiKey, clock: Clock = SYSTEM_CLOCK) -> None:
    """Note that a key was used, at most once a minute, so that reading stays cheap."""
    now = utcnow(clock)
    if key.last_used_at is not None and now - key.last_used_at < LAST_USED_RESOLUTION:
        return
    ApiKey.objects.filter(pk=key.pk).update(last_used_at=now)


@transaction.atomic
def membership_create(*, access: Access, scope: Scope, clock: Clock = SYSTEM_CLOCK) -> tuple[Membership, bool]:
    """Let a user belong to a household or a persona, and return that with whether it is new.

    scope: the user with one of the two. What was a foreign write before is found there from then on. Raises
    InvalidInputError unless it names a user and one of the two, ForbiddenError for a caller who may not say it: only
    operators, keys without a bound, and keys that are bound to the household or persona and to no user may.
    """
    if scope.user_id is None or len(scope.ties()) != 1:
        raise InvalidInputError("Name a user, and a household or a persona.", attr="user_id", code="required")
    if access.claims(scope) != [scope]:
        raise ForbiddenError("This key may not change who belongs there.")
    access.refuse_stopped(scope.user_id)
    hold_users([scope.user_id])
    was_member = is_member(scope)
    ties_make([scope], made_by=access.actor, made_at=utcnow(clock))
    return Membership.objects.get(**tie_columns(scope)), not was_member


@transaction.atomic
def membership_end(*, access: Access, uuid: UUID, clock: Clock = SYSTEM_CLOCK) -> Membership:
    """End that a user belongs somewhere, and return the row: what is theirs there is not found there any more.

    Raises NotFoundError for one that the caller does not see or that has ended, ForbiddenError as `membership_create`.
    """
    found = Membership.objects.visible_to(access).filter(uuid=uuid, state=MembershipState.MEMBER)
    membership = found.select_for_update().first()
    if membership is None:
        raise NotFoundError("There is no such membership.")
    if access.claims(membership.tie) != [membership.tie]:
        raise ForbiddenError("This key may not change who belongs there.")
    membership.state = MembershipState.FOREIGN
    membership.made_by, membership.made_at = access.actor[:200], utcnow(clock)
    membership.save(update_fields=["state", "made_by", "made_at"])
    return membership
