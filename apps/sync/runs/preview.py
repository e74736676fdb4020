"""What a sync would do now, without writing."""

from collections import Counter
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from apps.core.domain.errors import InvalidInputError, NotFoundError
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
from apps.sync.sources.values import check_values

# Of fewer files nobody needs advice.
FEW_FILES = 5
# Settings that a dry run may try.
TRIED = frozenset({"mapping", "folder", "include", "exclude", "convention", "layer"})


def sync_preview(*, access: Access, uuid: UUID, values: Mapping[str, Any] | None = None) -> Preview:
    """Return what a full sync would do now: what each file would become, what changes, and the conflicts.

    values: of settings that decide which files are read and how, to be tried instead of those of the source. No row is
    written. Raises NotFoundError, ForbiddenError, InvalidInputError, KnowledgeUnavailableError.
    """
    source = source_to_change(access, uuid, Permission.WRITE)
    for name, value in check_values({**(values or {})}).items():
        if name not in TRIED:
            raise InvalidInputError("A dry run does not check this.", attr=name)
        setattr(source, name, value)
    return preview_of(source)


def preview_of(source: KnowledgeSource) -> Preview:
    """Return what a full sync of a source would do now.

    Raises KnowledgeUnavailableError, and NotFoundError for one that is deleted while it is fetched.
    """
    stored = load_stored(source)
    with open_reader(SourceSettings.of(source)) as reader:
        manifest = read_manifest(source, reader, stored, full=True, progress=no_progress)
    if not KnowledgeSource.objects.filter(pk=source.pk).exists():
        copies_remove(source)
        raise NotFoundError(NO_SUCH_SOURCE)
    comparison = compare(source, manifest, stored)
    plan = comparison.plan()
    items = {item.path: item for item in comparison.items.values()}
    refused = {one.path: one for one in comparison.refused}
    return Preview(
        commit=manifest.commit,
        from_commit=stored.state.last_commit,
        files=tuple(
            PreviewFile(path, items.get(path), refused.get(path) or file.refused)
            for path, file in sorted(manifest.files.items())
        ),
        delta=comparison.delta,
        conflicts=plan.resolved,
        changes=plan.changes,
        statuses=Counter(str(item.status) for item in comparison.items.values()),
        advice=advice_on(source, manifest, comparison),
    )


def advice_on(source: KnowledgeSource, manifest: Manifest, comparison: Comparison) -> str:
    """Return what would make a source better: a folder, where most files of it are no knowledge. Empty for nothing."""
    total, items = len(manifest.files), comparison.items.values()
    noise = total - len(items)
    if source.folder or source.include or total < FEW_FILES or noise <= len(items):
        return ""
    said = f"Most files are not documents of a known kind: {noise} of {total}."
    folders = Counter(item.path.rpartition("/")[0] for item in items if "/" in item.path)
    if not folders:
        return f"{said} Name the folder that has them, or patterns."
    [(folder, count)] = folders.most_common(1)
    return f"{said} Name a folder, such as {folder}, which has {count} of the items."
