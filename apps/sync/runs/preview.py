"""What a sync would do now, without writing."""

from uuid import UUID

from apps.core.domain.errors import NotFoundError
from apps.core.domain.scope import Access, Permission
from apps.sync.models import KnowledgeSource
from apps.sync.repository.reader import open_reader
from apps.sync.repository.source import SourceSettings
from apps.sync.runs.answers import Preview, PreviewFile
from apps.sync.runs.compare import Comparison, compare
from apps.sync.runs.manifest import Manifest, no_progress, read_manifest
from apps.sync.runs.stored import load_stored
from apps.sync.sources.access import NO_SUCH_SOURCE, source_to_change
from apps.sync.sources.removal import copies_remove


def sync_preview(*, access: Access, uuid: UUID) -> Preview:
    """Return what a full sync would do now: what each file would become, what changes, and the conflicts.

    No row is written. Raises NotFoundError, ForbiddenError, KnowledgeUnavailableError.
    """
    return preview_of(source_to_change(access, uuid, Permission.WRITE))


def preview_of(source: KnowledgeSource) -> Preview:
    """Return what a full sync of a source would do now.

    Raises KnowledgeUnavailableError, and NotFoundError for one that is deleted while it is fetched.
    """
    stored = load_stored(source)
    with open_reader(SourceSettings.of(source)) as reader:
        manifest = read_manifest(source, reader, stored, full=True, progress=no_progress)
    if not KnowledgeSource.objects.filter(pk=source.pk).exists():
        copies_remove([source.uuid])
        raise NotFoundError(NO_SUCH_SOURCE)
    comparison = compare(source, manifest, stored)
    plan = comparison.plan()
    return Preview(
        commit=manifest.commit,
        from_commit=stored.state.last_commit,
        files=tuple(files_of(manifest, comparison)),
        delta=comparison.delta,
        conflicts=plan.resolved,
        changes=plan.changes,
    )


def files_of(manifest: Manifest, comparison: Comparison) -> list[PreviewFile]:
    """Return what each file would become, by path."""
    items = {item.path: item for item in comparison.items.values()}
    refused = {one.path: one for one in comparison.refused}
    return [
        PreviewFile(path, items.get(path), refused.get(path) or file.refused)
        for path, file in sorted(manifest.files.items())
    ]
