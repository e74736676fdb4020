"""Creating and changing sources: for operators whose bound has the owner."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import F

from apps.core.db.user_locks import hold_users
from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.errors import ConflictError, ForbiddenError, InvalidInputError
from apps.core.domain.scope import Access, Permission, Scope
from apps.sync.models import KnowledgeSource, SyncRun, SyncState
from apps.sync.repository.locations import is_public, parse_location
from apps.sync.runs.outcome import end_waiting
from apps.sync.sources.access import is_for_part, require_permission, source_to_change
from apps.sync.sources.values import check_location, check_values

SECRETS = ("credentials", "webhook_secret")
FOR_ALL = "Only an operator without a bound may set this: secrets of the server belong to all owners."
FOR_PUBLIC = (
    "This key is bound to an owner: it may name a public https:// address. Paths of the server, other addresses, and "
    "sources with `credentials` are for an operator without a bound."
)
NEEDED = ("name", "kind", "location")
PAUSED_BY_HAND = "Paused by an operator."


def check_reach(access: Access, kind: str, values: Mapping[str, Any], source: KnowledgeSource | None = None) -> None:
    """Raise ForbiddenError for values that need an operator without a bound; InvalidInputError for a bad location.

    values: as they would be stored. source: as it is, None for a new one; what stays the same needs nothing.
    """
    if access.bound.is_everything:
        return
    former = source or KnowledgeSource()
    for name in SECRETS:
        if values.get(name, getattr(former, name)) != getattr(former, name):
            raise ForbiddenError(FOR_ALL, attr=name)
    location = values.get("location", former.location)
    # The secret would be sent to the new address.
    if location != former.location and (former.credentials or not is_public(parse_location(location, kind=kind))):
        raise ForbiddenError(FOR_PUBLIC, attr="location")


def source_create(*, access: Access, values: Mapping[str, Any], clock: Clock = SYSTEM_CLOCK) -> KnowledgeSource:
    """Create a source. Its first sync has to be requested.

    values: of the fields of `KnowledgeSource`; name, kind and location are needed. Raises ForbiddenError, also for what
    needs an operator without a bound, InvalidInputError, ConflictError for a name that is taken.
    """
    checked = check_values(values)
    for name in NEEDED:
        if name not in checked:
            raise InvalidInputError("This field is required.", attr=name, code="required")
    require_permission(access, Permission.OPERATOR)
    if is_for_part(access):
        raise ForbiddenError("A source belongs to a whole owner, but this key is bound to a household or persona.")
    owner = access.for_write(Scope(checked.get("user_id") or None), settings.MEMORYHUB.default_user).user_id
    assert owner is not None
    checked["user_id"] = owner
    check_reach(access, checked["kind"], checked)
    check_location(checked["location"], checked["kind"])
    now = utcnow(clock)
    source = KnowledgeSource(**checked, created_by=access.actor, created_at=now, updated_at=now)
    save(source)
    return source


def source_update(
    *, access: Access, uuid: UUID, values: Mapping[str, Any], clock: Clock = SYSTEM_CLOCK
) -> KnowledgeSource:
    """Change some fields of a source; the next sync applies them. Its owner and its kind stay.

    Raises NotFoundError, ForbiddenError, InvalidInputError, ConflictError.
    """
    source = source_to_change(access, uuid)
    checked = check_values(values)
    for name in ("user_id", "kind"):
        if checked.pop(name, getattr(source, name)) != getattr(source, name):
            raise InvalidInputError("This cannot be changed: create another source.", attr=name)
    with transaction.atomic():
        hold_users([source.user_id])
        # What may be changed depends on what is there: another change must not come in between.
        list(KnowledgeSource.objects.select_for_update().filter(pk=source.pk))
        source.refresh_from_db()
        check_reach(access, source.kind, checked, source)
        if "location" in checked:
            check_location(checked["location"], source.kind)
        for name, value in checked.items():
            setattr(source, name, value)
        source.updated_at = utcnow(clock)
        save(source, [*checked, "updated_at"])
    return source


def save(source: KnowledgeSource, fields: list[str] | None = None) -> None:
    """Write a source, and the empty state of a new one. Raises ConflictError, UserLockedError."""
    try:
        with transaction.atomic():
            hold_users([source.user_id])
            source.save(update_fields=fields)
            if fields is None:
                SyncState.objects.create(source=source)
    except IntegrityError as error:
        if "name" not in str(error):
            raise
        raise ConflictError("There is a source of this name.", attr="name", code="exists") from None


def source_pause(*, access: Access, uuid: UUID, reason: str = "", clock: Clock = SYSTEM_CLOCK) -> KnowledgeSource:
    """Keep triggers from starting syncs of a source, and end runs that wait. Raises NotFoundError, ForbiddenError."""
    source = source_to_change(access, uuid)
    source.paused, source.updated_at = reason[:500] or PAUSED_BY_HAND, utcnow(clock)
    with transaction.atomic():
        source.save(update_fields=["paused", "updated_at"])
        end_waiting(SyncRun.objects.filter(source=source), "source_paused", "The source was paused.", clock)
    return source


def source_resume(*, access: Access, uuid: UUID, reason: str = "", clock: Clock = SYSTEM_CLOCK) -> KnowledgeSource:
    """Let triggers start syncs again, at once where one is due. Raises NotFoundError, ForbiddenError."""
    source = source_to_change(access, uuid)
    source.paused, source.updated_at = "", utcnow(clock)
    with transaction.atomic():
        source.save(update_fields=["paused", "updated_at"])
        SyncState.objects.filter(source=source).update(retries=0, next_try_at=None)
    return source


def session_note(*, access: Access, uuid: UUID) -> SyncState:
    """Count a session since the last sync (spec 003, session threshold). Raises NotFoundError, ForbiddenError."""
    source = source_to_change(access, uuid, Permission.WRITE)
    SyncState.objects.filter(source=source).update(sessions_since_sync=F("sessions_since_sync") + 1)
    return SyncState.objects.get(source=source)
