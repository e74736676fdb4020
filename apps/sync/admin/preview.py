"""The page of a dry run: what each file of a source would become, and what a sync would do, without doing it.

The page comes at once and then asks for its result, because fetching may take minutes.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.translation import gettext

from apps.core.admin.kit import badge, operator_access, tile
from apps.core.domain.errors import MemoryHubError
from apps.core.pages.sayings import say
from apps.sync.admin.words import ACTION_COLOURS, STATUS_COLOURS, TYPE_COLOURS, count_of, short_commit
from apps.sync.domain.knowledge import ItemType
from apps.sync.domain.readers.found import SKIPPED
from apps.sync.models import (
    ConflictTypeChoices,
    ItemStatusChoices,
    ItemTypeChoices,
    KnowledgeSource,
    LayerChoices,
    PointerActionChoices,
    ResolutionChoices,
)
from apps.sync.services import Preview, PreviewFile, sync_preview

RESULT = "result"
MAX_SHOWN = 200
TYPE_WORDS = {
    ItemType.ADR: "decision",
    ItemType.POLICY: "policy",
    ItemType.PATTERN: "pattern",
    ItemType.SPEC: "specification",
}


def preview_page(model_admin: Any, request: HttpRequest, source: KnowledgeSource) -> HttpResponse:
    """Answer the page, or with `?result=1` its result."""
    context: dict[str, Any] = {
        **model_admin.admin_site.each_context(request),
        "title": gettext("Dry run of %(name)s") % {"name": source.name},
        "opts": model_admin.opts,
        "source": source,
        "media": model_admin.media,
        "is_result": RESULT in request.GET,
    }
    if context["is_result"]:
        try:
            preview = sync_preview(access=operator_access(request), uuid=source.uuid)
            context |= preview_context(preview)
        except MemoryHubError as error:
            context["problem"] = say(str(error.detail))
    return TemplateResponse(request, "sync/preview.html", context)


def preview_context(preview: Preview) -> dict[str, Any]:
    """Return what the page shows of a dry run."""
    without_item = [file.refused for file in preview.files if file.refused is not None]
    refused = [one for one in without_item if one.code not in SKIPPED]
    skipped = [one for one in without_item if one.code in SKIPPED]
    read = [file for file in preview.files if file.item is not None]
    counts = Counter(file.item.type for file in read if file.item is not None)
    return {
        "preview": preview,
        "commit": short_commit(preview.commit),
        "from_commit": short_commit(preview.from_commit) if preview.from_commit else "",
        "tiles": list(tiles_of(preview, len(read), len(refused))),
        "refused": [(one.path, say(one.detail) or one.code) for one in refused[:MAX_SHOWN]],
        "skipped": [(one.path, say(one.detail) or one.code) for one in skipped[:MAX_SHOWN]],
        "skipped_left": max(0, len(skipped) - MAX_SHOWN),
        "refused_left": max(0, len(refused) - MAX_SHOWN),
        "conflicts": [
            (
                gettext(ConflictTypeChoices(conflict.type).label),
                conflict.item_id,
                gettext(ResolutionChoices(resolution).label),
            )
            for conflict, resolution in preview.conflicts[:MAX_SHOWN]
        ],
        "conflicts_left": max(0, len(preview.conflicts) - MAX_SHOWN),
        "files": list(rows_of(preview, read)),
        "files_left": max(0, len(read) - MAX_SHOWN),
        "kinds": ", ".join(count_of(count, TYPE_WORDS[kind]) for kind, count in counts.most_common()),
        "advice": say(preview.advice),
    }


def tiles_of(preview: Preview, read: int, refused: int) -> Iterator[dict[str, Any]]:
    """Yield the figures at the top of the page."""
    delta = preview.delta
    yield tile("description", gettext("Files read"), read, gettext("each becomes an item"))
    note = gettext("see below") if refused else gettext("every one was")
    yield tile("error", gettext("Files not read"), refused, note, "warn" * bool(refused))
    yield tile("add_circle", gettext("New"), len(delta.added), gettext("pointers would be made"))
    yield tile("edit", gettext("Changed"), len(delta.updated), gettext("pointers would be rewritten"))
    yield tile("delete", gettext("Gone"), len(delta.deleted), gettext("pointers would be deleted"))
    yield tile("check_circle", gettext("As they were"), len(delta.unchanged), gettext("nothing would be written"))


def rows_of(preview: Preview, files: list[PreviewFile]) -> Iterator[dict[str, Any]]:
    """Yield what the first files would become; those whose pointers would change come first."""
    actions = {change.item_id: change.action for change in preview.changes}
    in_order = sorted(files, key=lambda file: (file.item is None or file.item.item_id not in actions, file.path))
    for file in in_order[:MAX_SHOWN]:
        item = file.item
        if item is None:
            continue
        action = actions.get(item.item_id)
        yield {
            "path": file.path,
            "item_id": item.item_id,
            "title": item.title,
            "kind": badge(gettext(ItemTypeChoices(item.type).label), TYPE_COLOURS[item.type]),
            "status": badge(gettext(ItemStatusChoices(item.status).label), STATUS_COLOURS[item.status]),
            "layer": gettext(LayerChoices(item.layer).label),
            "action": badge(gettext(PointerActionChoices(action).label), ACTION_COLOURS[action]) if action else "",
            "by": ", ".join(item.superseded_by),
            "constraints": count_of(len(item.constraints), "constraint") if item.constraints else "",
        }
