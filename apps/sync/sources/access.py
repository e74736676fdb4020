"""Which sources a caller may read, sync and change, and what decides whether one is due (spec 003)."""

from uuid import UUID

from apps.core.domain.errors import ForbiddenError, NotFoundError
from apps.core.domain.scope import Access, Permission, Scope
from apps.sync.domain.triggers import TriggerFacts
from apps.sync.models import KnowledgeSource, SyncState

NO_SUCH_SOURCE = "There is no such source."
ONLY_ITEMS = "This key may only read the items of this source."


def is_for_part(access: Access) -> bool:
    """Return whether a caller is bound to a household or a persona; sources belong to an owner as a whole."""
    return access.bound.household_id is not None or access.bound.persona_id is not None


def source_to_read(access: Access, uuid: UUID) -> KnowledgeSource:
    """Return a source whose items the caller may read. Raises NotFoundError."""
    source = KnowledgeSource.objects.all().readable_by(access).filter(uuid=uuid).first()
    if source is None:
        raise NotFoundError(NO_SUCH_SOURCE)
    return source


def is_inside(access: Access, source: KnowledgeSource) -> bool:
    """Return whether a source is in the bound of a caller. One that was granted its owner reads what it says alone."""
    return not is_for_part(access) and access.bound.contains(Scope(source.user_id))


def may_configure(access: Access, source: KnowledgeSource) -> bool:
    """Return whether a caller is an operator in whose bound a source is."""
    return access.allows(Permission.OPERATOR) and is_inside(access, source)


def source_inside(access: Access, uuid: UUID) -> KnowledgeSource:
    """Return a source in the bound of a caller.

    Raises NotFoundError for one that the caller may not see, ForbiddenError for one that it was only granted.
    """
    source = source_to_read(access, uuid)
    if not is_inside(access, source):
        raise ForbiddenError(ONLY_ITEMS)
    return source


def source_to_change(access: Access, uuid: UUID, needed: Permission = Permission.OPERATOR) -> KnowledgeSource:
    """Return a source in the bound of a caller whose permission includes `needed`.

    Raises NotFoundError for one that the caller may not see, ForbiddenError for one that it may only read.
    """
    source = source_to_read(access, uuid)
    require_permission(access, needed)
    if not is_inside(access, source):
        raise ForbiddenError(ONLY_ITEMS)
    return source


def require_permission(access: Access, needed: Permission) -> None:
    """Raise ForbiddenError for a caller whose permission does not include another one."""
    if not access.allows(needed):
        raise ForbiddenError(f"This needs a key with {needed} permission.")


def trigger_facts(source: KnowledgeSource, state: SyncState) -> TriggerFacts:
    """Return what decides about the next sync of a source."""
    return TriggerFacts(
        last_sync_at=state.last_sync_at,
        sessions_since_sync=state.sessions_since_sync,
        staleness_seconds=source.staleness_seconds,
        session_threshold=source.session_threshold,
        daily_at=source.daily_at,
        is_enabled=source.enabled,
        paused=source.paused,
        retries=state.retries,
        next_try_at=state.next_try_at,
        has_more=state.remaining > 0,
    )
