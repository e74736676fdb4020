"""Items in the admin: what is known, where it is in its life, its full text, and how that changed."""

from typing import Any
from uuid import UUID

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin
from unfold.contrib.filters.admin import RelatedDropdownFilter
from unfold.dataclasses import ActionDialog
from unfold.decorators import action, display

from apps.core.admin.kit import (
    ReadOnly,
    after_dialog,
    badge_column,
    column,
    excerpt,
    found_or_404,
    moment_column,
    operator_access,
    required_permission,
    two_lines,
)
from apps.core.admin.lists import SearchedList, UserFilter
from apps.sync.admin.compare import compare_page
from apps.sync.admin.item_page import item_context
from apps.sync.admin.requests import request_run
from apps.sync.admin.words import ITEM_PAGE, RUN_PAGE, STATUS_COLOURS, TYPE_COLOURS
from apps.sync.models import KnowledgeItem, KnowledgeSource, SyncKind

MAX_WORDS, MAX_NAMED = 8, 3
SYNC_DIALOG = ActionDialog(
    title=_("Sync this item?"),
    description=_(
        "Its file is read again, and its pointer is created, rewritten or deleted accordingly. Other items stay as "
        "they are."
    ),
    form_class=None,
    form_submit_text=_("Sync"),
)


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
