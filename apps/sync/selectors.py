"""The door of `sync` for reads. What a caller may not see does not exist.

Callers that were granted an owner read its sources, runs and items. How the source is kept (changes, conflicts,
checkpoints, files, manifest) is for callers in whose bound it is.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import OuterRef, QuerySet, Subquery

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.errors import ForbiddenError, NotFoundError
from apps.core.domain.scope import Access, Scope
from apps.sync.domain.triggers import ShouldSync, should_sync
from apps.sync.models import (
    MAX_ITEM_ID_CHARS,
    MAX_NAME_CHARS,
    KnowledgeFile,
    KnowledgeItem,
    KnowledgeSource,
    PointerConflict,
    SyncChange,
    SyncCheckpoint,
    SyncRun,
    SyncRunState,
    SyncState,
)
from apps.sync.querysets import (
    ConflictQuerySet,
    KnowledgeFileQuerySet,
    KnowledgeItemQuerySet,
    RunQuerySet,
    SourceQuerySet,
)
from apps.sync.repository.entries import LoggedCommit
from apps.sync.sources.access import ONLY_ITEMS, is_inside, source_inside, source_to_read, trigger_facts
from apps.sync.sources.texts import ItemDiff, ItemText, compare_texts, read_history, read_text

__all__ = [
    "change_list",
    "checkpoint_list",
    "conflict_get",
    "conflict_list",
    "failing_sources",
    "file_list",
    "item_diff",
    "item_get",
    "item_history",
    "item_list",
    "item_named",
    "item_of_memory",
    "item_text",
    "manifest",
    "run_get",
    "run_list",
    "should_sync_of",
    "source_get",
    "source_list",
    "state_of",
]

NOT_BEGUN = ("source_paused", "source_disabled")
_NOT_OF_LISTS = ("content",)
MAX_REFERENCE_CHARS = MAX_NAME_CHARS + 1 + MAX_ITEM_ID_CHARS

_EVERY = Scope()


def source_list(access: Access, asked: Scope = _EVERY, include: Collection[str] = ()) -> SourceQuerySet:
    """Return the sources of the caller's in a scope, the newest first, with their states.

    include: owners whose sources are listed besides, if the caller was granted them.
    """
    sources = KnowledgeSource.objects.all().visible_to(access, asked, include)
    return sources.select_related("state").newest_first()


def source_get(access: Access, uuid: UUID) -> KnowledgeSource:
    """Return a source whose items the caller may read. Raises NotFoundError."""
    return source_to_read(access, uuid)


@dataclass(frozen=True)
class FailingSource:
    """A source whose last ended sync has failed, or could not read some files. code: of the error."""

    pk: int
    name: str
    state: str
    code: str
    failed: int
    since: datetime


def failing_sources(access: Access) -> list[FailingSource]:
    """Return the enabled sources of the caller's whose last ended sync has failed in whole or in part, by name.

    One that did not begin, because a person has paused the source, is no failure.
    """
    ended = SyncRun.objects.filter(source=OuterRef("pk")).exclude(ended_at=None).exclude(code__in=NOT_BEGUN)
    ended = ended.order_by("-pk")
    sources = KnowledgeSource.objects.all().visible_to(access).filter(enabled=True)
    rows = sources.annotate(
        last_state=Subquery(ended.values("state")[:1]),
        last_code=Subquery(ended.values("code")[:1]),
        last_failed=Subquery(ended.values("failed")[:1]),
        last_at=Subquery(ended.values("ended_at")[:1]),
    )
    failing = rows.filter(last_state__in=[SyncRunState.FAILED, SyncRunState.PARTIAL]).order_by("name")
    columns = ("pk", "name", "last_state", "last_code", "last_failed", "last_at")
    return [FailingSource(*row) for row in failing.values_list(*columns)]


def state_of(access: Access, uuid: UUID) -> SyncState:
    """Return what the last sync of a source left; an empty state before the first. Raises NotFoundError."""
    return SyncState.objects.get(source=source_to_read(access, uuid))


def should_sync_of(access: Access, uuid: UUID, *, clock: Clock = SYSTEM_CLOCK) -> ShouldSync:
    """Return whether a source should be synced now, and why. Raises NotFoundError."""
    source = source_to_read(access, uuid)
    return should_sync(trigger_facts(source, source.state), utcnow(clock))


def run_list(
    access: Access, source: UUID | None = None, *, asked: Scope = _EVERY, include: Collection[str] = ()
) -> RunQuerySet:
    """Return runs, of one source or of those of `source_list`, the newest first. Raises NotFoundError."""
    return (
        SyncRun.objects.filter(source__in=sources_of(access, source, asked, include))
        .select_related("source")
        .newest_first()
    )


def run_get(access: Access, uuid: UUID) -> SyncRun:
    """Return a run. Raises NotFoundError."""
    run = SyncRun.objects.filter(source__in=readable(access), uuid=uuid).select_related("source").first()
    if run is None:
        raise NotFoundError("There is no such run.")
    return run


def change_list(access: Access, run: UUID) -> QuerySet[SyncChange]:
    """Return what a run did, in its order. Raises NotFoundError, ForbiddenError."""
    found = run_get(access, run)
    if not is_inside(access, found.source):
        raise ForbiddenError(ONLY_ITEMS)
    return SyncChange.objects.filter(run=found).order_by("pk")


def item_list(
    access: Access, source: UUID | None = None, *, asked: Scope = _EVERY, include: Collection[str] = ()
) -> KnowledgeItemQuerySet:
    """Return items, of one source or of those of `source_list`, by source and id. Raises NotFoundError."""
    items = KnowledgeItem.objects.filter(source__in=sources_of(access, source, asked, include)).select_related("source")
    return items.order_by("source_id", "item_id")


def item_get(access: Access, uuid: UUID) -> KnowledgeItem:
    """Return an item as the last sync left it. Raises NotFoundError."""
    item = KnowledgeItem.objects.filter(source__in=readable(access), uuid=uuid).select_related("source").first()
    if item is None:
        raise NotFoundError("There is no such item.")
    return item


def item_of_memory(access: Access, memory: UUID) -> KnowledgeItem | None:
    """Return the item of which a memory is the pointer; None for a memory that is none."""
    items = KnowledgeItem.objects.filter(source__in=readable(access), pointer=memory)
    return items.select_related("source").first()


def item_named(access: Access, name: str) -> KnowledgeItem:
    """Return the item of an id, or of a reference as pointers have it: <source>/<id>. Raises NotFoundError."""
    # A column cannot have NUL characters and lone surrogates.
    if len(name) > MAX_REFERENCE_CHARS or any(each == "\0" or "\ud800" <= each <= "\udfff" for each in name):
        raise NotFoundError("There is no such item.")
    try:
        return item_get(access, UUID(name))
    except ValueError:
        source, _, item_id = name.partition("/")
    items = KnowledgeItem.objects.filter(source__in=readable(access), source__name=source, item_id=item_id)
    item = items.select_related("source").first()
    if item is None:
        raise NotFoundError("There is no such item.")
    return item


def item_text(access: Access, uuid: UUID, commit: str | None = None) -> ItemText:
    """Return the whole text of an item, at the commit of the last sync or another one of its history.

    Raises NotFoundError, KnowledgeUnavailableError.
    """
    return read_text(item_get(access, uuid), commit)


def item_diff(access: Access, uuid: UUID, old: str, new: str) -> ItemDiff:
    """Return how an item changed between two commits. Raises NotFoundError, KnowledgeUnavailableError."""
    return compare_texts(item_get(access, uuid), old, new)


def item_history(access: Access, uuid: UUID) -> Sequence[LoggedCommit]:
    """Return the last commits that changed the file of an item, the newest first; none of a folder.

    Raises NotFoundError, KnowledgeUnavailableError.
    """
    return read_history(item_get(access, uuid))


def conflict_list(access: Access, source: UUID | None = None, *, asked: Scope = _EVERY) -> ConflictQuerySet:
    """Return conflicts of one source, or of all in the bound of the caller, the newest first.

    Raises NotFoundError, ForbiddenError.
    """
    if source is None:
        conflicts = PointerConflict.objects.filter(source__in=KnowledgeSource.objects.all().visible_to(access, asked))
    else:
        conflicts = PointerConflict.objects.filter(source=source_inside(access, source))
    return conflicts.select_related("source", "run").order_by("-pk")


def conflict_get(access: Access, uuid: UUID) -> PointerConflict:
    """Return a conflict. Raises NotFoundError."""
    sources = KnowledgeSource.objects.all().visible_to(access)
    conflicts = PointerConflict.objects.filter(source__in=sources, uuid=uuid)
    conflict = conflicts.select_related("source", "run").first()
    if conflict is None:
        raise NotFoundError("There is no such conflict.")
    return conflict


def checkpoint_list(access: Access, source: UUID) -> QuerySet[SyncCheckpoint]:
    """Return the checkpoints of a source without their contents, the newest first.

    Raises NotFoundError, ForbiddenError.
    """
    checkpoints = SyncCheckpoint.objects.filter(source=source_inside(access, source))
    return checkpoints.defer(*_NOT_OF_LISTS).select_related("run").order_by("-pk")


def file_list(access: Access, source: UUID) -> KnowledgeFileQuerySet:
    """Return the files of a source, by path; `refused()` has those that could not be read.

    Raises NotFoundError, ForbiddenError.
    """
    files = KnowledgeFile.objects.filter(source=source_inside(access, source))
    return files.defer("parsed").order_by("path")


def manifest(access: Access, source: UUID) -> Iterator[KnowledgeItem]:
    """Yield the items of a source with their hashes and pointers, by id. Raises NotFoundError, ForbiddenError."""
    rows = KnowledgeItem.objects.filter(source=source_inside(access, source)).order_by("item_id")
    long = ("summary", "constraints", "tags", "supersedes", "superseded_by")
    return rows.defer(*long).iterator(2_000)


def sources_of(access: Access, uuid: UUID | None, asked: Scope, include: Collection[str]) -> SourceQuerySet:
    """Return the source that is named, or those of a list. Raises NotFoundError."""
    if uuid is None:
        return KnowledgeSource.objects.all().visible_to(access, asked, include)
    return KnowledgeSource.objects.filter(pk=source_to_read(access, uuid).pk)


def readable(access: Access) -> SourceQuerySet:
    """Return the sources whose items the caller may read where it has the id of one."""
    return KnowledgeSource.objects.all().readable_by(access)
