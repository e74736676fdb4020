"""Removing sources, and the copies of repositories that the hub keeps of them."""

import shutil
from collections.abc import Sequence
from pathlib import Path
from uuid import UUID

from django.conf import settings
from django.db import transaction

from apps.core.db.user_locks import hold_users
from apps.core.domain.clock import SYSTEM_CLOCK, Clock
from apps.core.domain.scope import Access
from apps.semantic.selectors import managed_memories
from apps.semantic.services import managed_prepare, managed_with_space, managed_write
from apps.sync.models import KnowledgeSource
from apps.sync.repository.source import SourceSettings
from apps.sync.runs.lock import require_lock, source_lock
from apps.sync.sources.access import source_to_change

REASON = "source_deleted"


def source_delete(*, access: Access, uuid: UUID, clock: Clock = SYSTEM_CLOCK) -> None:
    """Delete a source with its items, runs and checkpoints, and the hub's copy of it; its pointers are soft-deleted.

    Raises NotFoundError, ForbiddenError, ConflictError (`sync_running`), UnavailableError.
    """
    source = source_to_change(access, uuid)
    with source_lock(source.pk):
        managed_with_space(lambda: delete_rows(source, access.actor, clock))
        copies_remove(source)


def delete_rows(source: KnowledgeSource, actor: str, clock: Clock) -> None:
    """Delete pointers and rows in one transaction. Raises SpaceChangedError, UnavailableError, UserLockedError."""
    prepared = managed_prepare(changes=[])
    with transaction.atomic():
        hold_users([source.user_id])
        require_lock(source.pk)
        pointers = {memory.uuid: REASON for memory in managed_memories(source.manager)}
        managed_write(manager=source.manager, prepared=prepared, deletes=pointers, actor=actor, clock=clock)
        KnowledgeSource.objects.filter(pk=source.pk).delete()


def copies_of(uuid: UUID) -> list[Path]:
    """Return the files and folders that the hub keeps under a name: of a source, or of a copy that several share."""
    return sorted(Path(settings.SYNC_DIR).glob(f"{uuid}*"))


def copy_names(source: KnowledgeSource) -> set[UUID]:
    """Return the names of what the hub keeps of the repository or folder of a source."""
    return {source.uuid, SourceSettings.of(source).copy}


def names_only_of(sources: Sequence[KnowledgeSource]) -> set[UUID]:
    """Return the names of what the hub keeps of some sources, but what another source reads as well."""
    others = KnowledgeSource.objects.exclude(uuid__in=[source.uuid for source in sources])
    beside = others.filter(location__in={source.location for source in sources})
    used = {name for source in beside for name in copy_names(source)}
    return {name for source in sources for name in copy_names(source)} - used


def copies_remove(source: KnowledgeSource) -> int:
    """Remove what the hub keeps of a source, which need not be stored any more; return how many files and folders."""
    return sum(remove_named(name) for name in names_only_of([source]))


def remove_named(name: UUID) -> int:
    """Remove the files and folders under a name; return how many."""
    found = copies_of(name)
    for path in found:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
    return len(found)


def copies_sweep() -> int:
    """Remove the copies of sources that do not exist any more, which a killed process may leave. Return how many."""
    folder = Path(settings.SYNC_DIR)
    found = set()
    for path in folder.iterdir() if folder.is_dir() else ():
        try:
            found.add(UUID(path.name[:36]))
        except ValueError:
            continue
    known = {name for source in KnowledgeSource.objects.all() for name in copy_names(source)} if found else set()
    return sum(remove_named(name) for name in found - known)
