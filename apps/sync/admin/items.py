"""Items in the admin: what is known, where it is in its life, its full text, and how that changed."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin
from unfold.contrib.filters.admin import RelatedDropdownFilter
from unfold.decorators import action, display
from unfold.widgets import UnfoldAdminSelectWidget

from apps.core.admin.kit import (
    NOTHING,
    ReadOnly,
    after_dialog,
    badge,
    badge_column,
    column,
    excerpt,
    found_or_404,
    moment,
    moment_column,
    monospace,
    operator_access,
    preformatted,
    render_difference,
    required_permission,
    two_lines,
)
from apps.core.admin.lists import SearchedList, UserFilter
from apps.core.admin.steps import make_dialog
from apps.core.domain.errors import MemoryHubError
from apps.core.domain.scope import Access
from apps.core.pages.sayings import say
from apps.semantic.domain.standing import IN_FORCE
from apps.semantic.selectors import managed_get
from apps.sync.admin.words import (
    ACTION_COLOURS,
    CONFLICT_PAGE,
    ITEM_PAGE,
    RUN_PAGE,
    SHOWN_COMMIT_CHARS,
    STATUS_COLOURS,
    TYPE_COLOURS,
    item_label,
    item_links,
    memory_link,
    request_run,
    run_link,
    short_commit,
    source_link,
)
from apps.sync.models import KnowledgeItem, KnowledgeSource, PointerConflict, SyncChange, SyncKind
from apps.sync.repository.entries import LoggedCommit
from apps.sync.selectors import item_diff, item_history, item_text

MAX_SHOWN_CHARS = 200_000
MAX_HISTORY = 50
SEVERITY_COLOURS = {"blocking": "danger", "warning": "warning", "info": "info"}
MAX_SHOWN_LINES = 5_000
MAX_SUBJECT_CHARS = 60
MAX_WORDS, MAX_NAMED = 8, 3
SYNC_DIALOG = make_dialog(
    _("Sync this item?"),
    _(
        "Its file is read again, and its pointer is created, rewritten or deleted accordingly. Other items stay as "
        "they are."
    ),
    _("Sync"),
)


def item_context(item: KnowledgeItem, access: Access, *, may_open: bool) -> dict[str, Any]:
    """Return the parts of the page. may_open: whether the user may see memories."""
    related = {*item.supersedes, *item.superseded_by}
    found = dict(KnowledgeItem.objects.filter(source=item.source, item_id__in=related).values_list("item_id", "pk"))
    changes = SyncChange.objects.filter(run__source=item.source, item_id=item.item_id)
    changes = changes.select_related("run").defer("before", "after")
    conflicts = PointerConflict.objects.filter(source=item.source, item_id=item.item_id)
    facts: list[tuple[str, SafeString | str]] = [
        (gettext("In force"), gettext("Yes") if item.status == IN_FORCE else gettext("No")),
        (gettext("Item id"), item.item_id),
        (gettext("File"), monospace(item.path)),
        (gettext("Layer"), item.get_layer_display()),
        (gettext("Owner"), item.source.user_id),
        (gettext("Commit"), short_commit(item.commit)),
        (gettext("Synced"), moment(item.synced_at)),
        (gettext("Hash"), monospace(item.hash)),
        (gettext("Id"), monospace(item.uuid)),
    ]
    return {
        "label": item_label(item),
        "source": source_link(item.source),
        "superseded_by": item_links(item.source, item.superseded_by, found) if item.superseded_by else "",
        "supersedes": item_links(item.source, item.supersedes, found) if item.supersedes else "",
        "constraints": [
            (badge(say(one.get("severity", "")), SEVERITY_COLOURS.get(one.get("severity", ""))), one.get("text", ""))
            for one in item.constraints
        ],
        "tags": ", ".join(str(tag) for tag in item.tags),
        "pointer": pointer_of(item, may_open=may_open),
        "facts": [(name, value) for name, value in facts if value and value != NOTHING],
        "history": [
            (
                badge(one.get_action_display(), ACTION_COLOURS[one.action]),
                run_link(one.run),
                short_commit(one.run.to_commit),
            )
            for one in changes.order_by("-pk")[:MAX_HISTORY]
        ],
        "conflicts": [
            (reverse(CONFLICT_PAGE, args=[one.pk]), one.get_type_display(), one.get_state_display().lower())
            for one in conflicts.order_by("-pk")[:MAX_HISTORY]
        ],
        **text_of(item, access),
    }


def pointer_of(item: KnowledgeItem, *, may_open: bool) -> dict[str, Any]:
    """Return what the pointer of an item says, and the list in which it is opened."""
    memory = managed_get([item.pointer]).get(item.pointer) if item.pointer else None
    if memory is None:
        return {}
    return {
        "content": memory.content if may_open else "",
        "link": memory_link(memory.uuid, may_open=may_open),
        "changed": moment(memory.updated_at),
        "is_active": memory.is_active,
    }


def text_of(item: KnowledgeItem, access: Access) -> dict[str, Any]:
    """Return the full text of an item, or why it cannot be had now."""
    try:
        text = item_text(access, item.uuid).text
    except MemoryHubError as error:
        return {"text": "", "text_problem": say(str(error.detail))}
    left = "\n\n" + gettext("The rest is not shown here.") if len(text) > MAX_SHOWN_CHARS else ""
    return {"text": preformatted(text[:MAX_SHOWN_CHARS] + left), "text_problem": ""}


class CompareForm(forms.Form):
    """Two commits among those that changed the file of an item."""

    old = forms.ChoiceField(label=_("From"), widget=UnfoldAdminSelectWidget)
    new = forms.ChoiceField(label=_("To"), widget=UnfoldAdminSelectWidget)

    def __init__(self, data: Any, commits: Sequence[LoggedCommit]) -> None:
        super().__init__(data)
        for name in ("old", "new"):
            field = self.fields[name]
            assert isinstance(field, forms.ChoiceField)
            field.choices = [
                (one.commit, f"{moment(one.at)}  {one.commit[:SHOWN_COMMIT_CHARS]}  {one.subject[:MAX_SUBJECT_CHARS]}")
                for one in commits
            ]


def compare_page(model_admin: Any, request: HttpRequest, item: KnowledgeItem) -> HttpResponse:
    """Answer the page; at first with the last change."""
    context: dict[str, Any] = {
        **model_admin.admin_site.each_context(request),
        "title": gettext("%(item)s at two commits") % {"item": item.item_id},
        "opts": model_admin.opts,
        "media": model_admin.media,
        "item": item,
        "page": reverse(ITEM_PAGE, args=[item.pk]),
    }
    access = operator_access(request)
    try:
        commits = item_history(access, item.uuid)
        last_change = {"old": commits[min(1, len(commits) - 1)].commit, "new": commits[0].commit} if commits else None
        form = CompareForm(request.GET if "old" in request.GET else last_change, commits)
        context |= {"commits": commits, "form": form}
        if commits and form.is_valid():
            chosen = form.cleaned_data
            lines = item_diff(access, item.uuid, chosen["old"], chosen["new"]).diff.splitlines()
            context |= {
                "difference": render_difference(lines[:MAX_SHOWN_LINES]) if lines else "",
                "left": max(0, len(lines) - MAX_SHOWN_LINES),
                "is_compared": True,
            }
    except MemoryHubError as error:
        context["problem"] = say(str(error.detail))
    return TemplateResponse(request, "sync/compare.html", context)


class OwnerFilter(UserFilter):
    title, parameter_name = _("owner"), "source__user_id"


@admin.register(KnowledgeItem)
class KnowledgeItemAdmin(SearchedList, ReadOnly, ModelAdmin):
    """Items as the last sync left them, read-only: they are changed where they are kept."""

    list_display = ["item", "type_now", "status_now", "layer_now", "kept_in", "when"]
    list_filter = [("source", RelatedDropdownFilter), "type", "layer", "status", OwnerFilter]
    ordering = ["source_id", "item_id"]
    search_help_text = _("Part of the title, of the item's id or of its path; or the id of a pointer")
    actions_detail = ["compare", "sync_this"]
    change_form_template = "sync/item.html"
    fields: list[str] = []
    empty_text = _("Nothing has been synced yet. Add a source under Sources, see its dry run, and sync it.")

    class Media:
        css = {"all": ["memoryhub/diff.css", "sync/sync.css"]}

    def get_queryset(self, request: HttpRequest) -> QuerySet[KnowledgeItem]:
        sources = KnowledgeSource.objects.visible_to(operator_access(request))
        return KnowledgeItem.objects.filter(source__in=sources).select_related("source")

    def find_by_id(self, queryset: QuerySet[KnowledgeItem], uuid: UUID) -> QuerySet[KnowledgeItem]:
        """Return the item with an id, or with a pointer of that id."""
        return queryset.filter(Q(uuid=uuid) | Q(pointer=uuid))

    def find_by_words(self, queryset: QuerySet[KnowledgeItem], term: str) -> QuerySet[KnowledgeItem]:
        """Return the items that have each word in title, item id or path."""
        for word in term.split()[:MAX_WORDS]:
            queryset = queryset.filter(Q(title__icontains=word) | Q(item_id__icontains=word) | Q(path__icontains=word))
        return queryset

    # Columns

    type_now = badge_column("type", _("Type"), TYPE_COLOURS)
    status_now = badge_column("status", _("Status"), STATUS_COLOURS)
    layer_now = column(_("Layer"), lambda item: item.get_layer_display(), ordering="layer")
    kept_in = column(_("Kept in"), lambda item: two_lines(item.source.name, item.path), ordering="source__name")
    when = moment_column("synced_at", _("Synced at"), ordering="synced_at")

    @display(description=_("Item"), ordering="item_id")
    def item(self, item: KnowledgeItem) -> SafeString:
        names = ", ".join(item.superseded_by[:MAX_NAMED])
        by = gettext(", superseded by %(names)s") % {"names": names} if names else ""
        return format_html('{}<span class="mh-sub mh-wide">{}{}</span>', excerpt(item.title), item.item_id, by)

    # The page of an item

    def render_change_form(self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        item: KnowledgeItem | None = kwargs.get("obj")
        if item is not None:
            may_open = request.user.has_perm("semantic.view_memory")
            page = item_context(item, operator_access(request), may_open=may_open)
            context |= {"page": page, "title": gettext("Item"), "subtitle": None}
        return super().render_change_form(request, context, *args, **kwargs)

    @action(description=_("Compare commits"), icon="difference", permissions=["view"], url_path="compare")
    def compare(self, request: HttpRequest, object_id: str) -> HttpResponse:
        return compare_page(self, request, found_or_404(self.get_object(request, object_id)))

    @action(description=_("Sync this item"), icon="sync", permissions=["view", "sync"], dialog=SYNC_DIALOG)
    def sync_this(self, request: HttpRequest, form: Any, object_id: str) -> HttpResponse:
        item = found_or_404(self.get_object(request, object_id))
        run = request_run(request, item.source, SyncKind.SINGLE, item_id=item.item_id)
        page = reverse(RUN_PAGE, args=[run.pk]) if run else reverse(ITEM_PAGE, args=[item.pk])
        return after_dialog(request, page)

    has_sync_permission = required_permission("sync.change_knowledgesource")
