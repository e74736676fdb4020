"""The admin pages of memories: list, search, history, soft deletion and restoration."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any, cast
from uuid import UUID

from django.contrib import admin, messages
from django.core import signing
from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet, Value
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.middleware.csrf import get_token
from django.template.defaultfilters import truncatechars
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin, TabularInline
from unfold.contrib.filters.admin import FieldTextFilter, RangeDateTimeFilter
from unfold.decorators import action, display

from apps.core.admin.kit import (
    NOTHING,
    Described,
    ReadOnly,
    badge,
    badge_column,
    choice_badge,
    column,
    confirmation,
    excerpt,
    for_each,
    found_or_404,
    json_column,
    link,
    link_column,
    list_link,
    moment,
    moment_column,
    monospace,
    operator_access,
    plain_text,
    required_permission,
    scope_column,
    stacked,
    text_column,
    two_lines,
)
from apps.core.admin.steps import make_dialog, step_action
from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.errors import MemoryHubError
from apps.core.pages.origins import WORDS as ORIGINS
from apps.core.pages.origins import origin_explained
from apps.core.pages.sayings import say
from apps.core.pages.texts import first_words
from apps.core.words import Counted
from apps.semantic import services
from apps.semantic.admin.memory_page import may_undo, memory_context, title_of
from apps.semantic.admin.search import RELEVANCE, ViewFilter, search_memories, view_tabs
from apps.semantic.conflicts.receipt_page import SHOWN_CONTENT_CHARS, STATUS_COLOURS
from apps.semantic.domain.confidence import DecayPolicy
from apps.semantic.memories.lifecycle import manager_exists
from apps.semantic.models import Conflict, Memory, MemoryRevision, MemoryStatus, half_lives
from apps.semantic.querysets import MemoryQuerySet
from apps.semantic.selectors import last_removals

# Other actions of a history are warnings.
ACTION_COLOURS = {"created": "info", "reinforced": "success", "restored": "success", "deleted": "danger"}
SHOWN_CHANGE_CHARS = 200
DELETED = Counted("%(count)s memory deleted.", "%(count)s memories deleted.", "count")
RESTORED = Counted("%(count)s memory restored.", "%(count)s memories restored.", "count")
# A deletion of several memories is undone together within this time.
UNDO_SALT, UNDO_SECONDS = "semantic.undo_deletion", 3_600


def can_read_memories(request: HttpRequest) -> bool:
    """Return whether the user may see the contents of memories."""
    return request.user.has_perm("semantic.view_memory")


class RevisionInline(ReadOnly, TabularInline):
    """The history of a memory as a tab of its page, the last step first. It needs the permission to view memories."""

    model = MemoryRevision
    verbose_name_plural = _("History")
    fields = readonly_fields = ["when", "what", "reason", "what_changed"]
    ordering = ["-id"]
    extra = 0
    per_page = 20
    hide_title = True
    tab = True

    when = moment_column("at", _("At"))

    @display(description=_("What happened"))
    def what(self, revision: MemoryRevision) -> str:
        said = badge(title_of(revision), ACTION_COLOURS.get(revision.action, "warning"))
        shown = stacked(said, revision.actor)
        if revision.conflict is None:
            return shown
        return format_html(
            "{} {}", shown, link("admin:semantic_conflict_change", revision.conflict, gettext("Receipt"))
        )

    @display(description=_("Before and after"))
    def what_changed(self, revision: MemoryRevision) -> str:
        lines = []
        for name, values in revision.changes.items():
            texts = (truncatechars(NOTHING if value is None else str(value), SHOWN_CHANGE_CHARS) for value in values)
            lines.append(f"{name}: {' → '.join(texts)}")
        return plain_text("\n".join(lines))

    has_view_permission = required_permission("semantic.view_memory")


@admin.register(Memory)
class MemoryAdmin(ReadOnly, ModelAdmin):
    """A read-only list of memories, with a search, and with actions that go through the services."""

    list_before_template = "semantic/memory_views.html"
    change_form_template = "semantic/memory.html"
    list_display = ["content_excerpt", "state", "whose", "confidence_now", "said_by", "when"]
    list_filter = [
        ViewFilter,
        "status",
        "decay_policy",
        "is_global",
        ("user_id", FieldTextFilter),
        ("household_id", FieldTextFilter),
        ("persona_id", FieldTextFilter),
        ("session_id", FieldTextFilter),
        ("project", FieldTextFilter),
        "origin",
        ("source", FieldTextFilter),
        ("created_at", RangeDateTimeFilter),
    ]
    list_filter_submit = True
    list_fullwidth = True
    list_disable_select_all = True  # each memory is a transaction of its own; a page at a time stays quick
    list_per_page = 50
    search_fields = ["content"]
    search_help_text = _("By meaning and words, or an id")
    actions = ["soft_delete", "restore"]
    actions_detail = ["soft_delete_this", "restore_this"]
    inlines = [RevisionInline]
    fieldsets = [
        (None, {"fields": ["full_content", "state_label", "confidence_explained", "full_context"]}),
        (_("Whose"), {"fields": [("user_id", "household_id", "persona_id"), ("session_id", "sessions")]}),
        (_("Time"), {"fields": [("happened", "saved"), ("changed", "reinforced")]}),
        (_("Tags"), {"fields": [
            ("agent", "personality"), ("project", "type"), ("source", "said"), "is_global", "keyword_list",
        ]}),
        (_("More"), {"fields": [
            "uuid", "importance", "superseded", "manager", "decisions", "metadata_json", "vectors", "hash",
        ]}),
    ]  # fmt: skip
    readonly_fields = [
        "full_content", "state_label", "confidence_explained", "full_context", "happened", "saved", "changed",
        "reinforced", "keyword_list", "sessions", "superseded", "manager", "decisions", "metadata_json", "vectors",
        "hash", "said",
    ]  # fmt: skip

    # Columns

    @display(description=_("Memory"))
    def content_excerpt(self, memory: Memory) -> SafeString:
        """Render the content: one that does not hold is struck through, and what holds is below."""
        text = truncatechars(memory.content, SHOWN_CONTENT_CHARS)
        if memory.status == MemoryStatus.ACTIVE:
            return excerpt(text)
        struck = format_html('<s class="mh-excerpt" title="{0}">{0}</s>', text)
        if memory.superseded_by is None:
            return struck
        # The cell is a link to the memory, in which there can be no other one.
        now = first_words(memory.superseded_by.content)
        words = gettext("→ now: %(words)s") % {"words": now}
        return format_html('<span class="mh-replaced">{}<span class="mh-now">{}</span></span>', struck, words)

    state = badge_column("status", _("Status"), STATUS_COLOURS)
    whose = scope_column()
    said_by = column(
        _("Source"),
        lambda memory: two_lines(
            str(ORIGINS[memory.origin]),
            gettext("%(source)s, importance %(share)s") % {"source": memory.source, "share": f"{memory.importance:g}"},
        ),
        ordering="source",
    )
    relevance = column(
        _("Relevance"),
        lambda memory: f"{score:.2f}" if (score := getattr(memory, RELEVANCE, 0.0)) else NOTHING,
        ordering=RELEVANCE,
    )

    @display(description=_("Confidence"))
    def confidence_now(self, memory: Memory) -> SafeString:
        now = memory.confidence_at(utcnow(SYSTEM_CLOCK))
        return two_lines(f"{now:.2f}", memory.get_decay_policy_display())

    @display(description=_("Saved at"), ordering="id")
    def when(self, memory: Memory) -> SafeString:
        happened = gettext("happened %(at)s") % {"at": moment(memory.occurred_at)} if memory.occurred_at else ""
        return two_lines(moment(memory.created_at), happened)

    # The page of a memory

    full_content = text_column("content", _("Content"))
    said = column(_("Comes from"), lambda memory: origin_explained(memory.origin))
    full_context = text_column("context", _("Context"))
    happened = moment_column("occurred_at", _("Happened at"))
    saved = moment_column("created_at", _("Saved at"))
    changed = moment_column("updated_at", _("Changed at"))
    reinforced = moment_column("last_reinforced_at", _("Reinforced at"))
    keyword_list = column(_("Keywords"), lambda memory: ", ".join(memory.keywords) or NOTHING)
    sessions = column(_("Further sessions"), lambda memory: ", ".join(memory.further_sessions) or NOTHING)
    manager = column(_("Kept up to date by"), lambda memory: memory.managed_by or NOTHING)
    superseded = link_column("superseded_by", _("Superseded by"), "admin:semantic_memory_change")
    metadata_json = json_column("metadata", _("Metadata"))
    hash = column(_("Content hash"), lambda memory: monospace(memory.content_hash))

    @display(description=_("Status"))
    def state_label(self, memory: Memory) -> str:
        shown = choice_badge(memory, "status", STATUS_COLOURS)
        if not memory.status_changed_at:
            return shown
        return format_html(gettext("{state} since {at}"), state=shown, at=moment(memory.status_changed_at))

    @display(description=_("Confidence"))
    def confidence_explained(self, memory: Memory) -> str:
        now = memory.confidence_at(utcnow(SYSTEM_CLOCK))
        half_life = half_lives()[DecayPolicy(memory.decay_policy)]
        words = gettext("%(now)s now; %(claimed)s claimed; %(policy)s: does not decay")
        if half_life:
            words = gettext("%(now)s now; %(claimed)s claimed; %(policy)s: halves every %(days)s days")
        return words % {
            "now": f"{now:.2f}",
            "claimed": f"{memory.base_confidence:.2f}",
            "policy": say(memory.decay_policy),
            "days": f"{half_life / timedelta(days=1):g}" if half_life else "",
        }

    @display(description=_("Decisions about it"))
    def decisions(self, memory: Memory) -> SafeString | str:
        receipts = Conflict.objects.filter(Q(candidate=memory) | Q(existing=memory) | Q(result=memory)).count()
        if not receipts:
            return NOTHING
        return list_link("admin:semantic_conflict_changelist", receipts, state="all", q=memory.uuid)

    @display(description=_("Vectors"))
    def vectors(self, memory: Memory) -> str:
        rows = memory.embeddings.select_related("space").defer("vector")
        lines = [
            ", ".join(
                filter(
                    None,
                    (
                        gettext("%(model)s (%(count)s dimensions)")
                        % {"model": row.space.model, "count": row.space.dimension},
                        gettext("in use") if row.space.is_active else "",
                        gettext("from the writer") if row.is_given else "",
                    ),
                )
            )
            for row in rows
        ]
        return plain_text("\n".join(lines) or gettext("none"))

    # Actions

    @action(description=_("Delete (can be restored)"), icon="delete", permissions=["soft_delete"])
    def soft_delete(self, request: HttpRequest, queryset: QuerySet[Memory]) -> TemplateResponse | None:
        question = confirmation(
            request,
            self,
            queryset,
            describe=describe_for_deletion,
            title=gettext("Delete memories"),
            question=gettext(
                "Delete these memories? Searches no longer find them. They are kept with their history and can be "
                "restored."
            ),
            button=gettext("Delete"),
        )
        if question is None:
            chosen = queryset.exclude(status=MemoryStatus.DELETED)
            uuids = list(chosen.values_list("uuid", flat=True))
            for_each(request, queryset.values_list("uuid", flat=True), services.memory_delete, said=DELETED)
            offer_undo(request, uuids)
        return question

    @action(description=_("Restore"), icon="restore_from_trash", permissions=["restore"])
    def restore(self, request: HttpRequest, queryset: QuerySet[Memory]) -> None:
        for_each(request, queryset.values_list("uuid", flat=True), services.memory_restore, said=RESTORED)

    soft_delete_this = step_action(
        "soft_delete_this",
        make_dialog(
            _("Delete this memory?"),
            _("Searches no longer find it. It is kept with its history and can be restored."),
            _("Delete"),
        ),
        services.memory_delete,
        said=DELETED,
        permission="soft_delete",
        icon="delete",
    )
    restore_this = step_action(
        "restore_this",
        make_dialog(_("Restore this memory?"), _("Searches find it again, as before it was deleted."), _("Restore")),
        services.memory_restore,
        said=RESTORED,
        permission="restore",
        icon="restore_from_trash",
    )

    def get_actions_detail(self, request: HttpRequest, object_id: Any) -> list[Any]:
        """Return restore for a deleted memory, and delete for every other; nothing for one that is kept up to date."""
        memory = self.get_object(request, str(object_id))
        is_deleted = memory is not None and memory.status == MemoryStatus.DELETED
        if memory is not None and memory.managed_by and (is_deleted or manager_exists(memory.managed_by)):
            return []
        path = "restore_this" if is_deleted else "soft_delete_this"
        return [action for action in super().get_actions_detail(request, object_id) if action.path == path]

    has_soft_delete_permission = required_permission("semantic.delete_memory")
    has_restore_permission = required_permission("semantic.change_memory")

    # Pages besides those of Django

    def get_urls(self) -> list[URLPattern]:
        """Return the addresses of the admin, and those that undo."""
        undo = [
            path(
                "undo-deletion/", self.admin_site.admin_view(self.undo_deletion), name="semantic_memory_undo_deletion"
            ),
            path("<int:pk>/undo/", self.admin_site.admin_view(self.undo), name="semantic_memory_undo"),
        ]
        return [*undo, *super().get_urls()]

    def undo(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Bring a memory back: restore it, or revert the decision that took it out of searches."""
        memory = found_or_404(self.get_object(request, str(pk)))
        access = operator_access(request)
        removal = last_removals(access, [memory.pk]).get(memory.pk)
        decision = removal.conflict if removal else None
        receipt = Conflict.objects.visible_to(access).filter(uuid=decision).first() if decision else None
        if request.method != "POST" or not may_undo(request, memory, receipt):
            raise PermissionDenied
        page = reverse("admin:semantic_memory_change", args=[memory.pk])
        try:
            if receipt is None:
                services.memory_restore(access=access, uuid=memory.uuid)
                messages.success(request, gettext("The memory was restored."))
            else:
                undone = services.conflict_revert(access=access, uuid=receipt.uuid)
                shown = link("admin:semantic_conflict_change", undone.pk, gettext("its receipt"))
                said = gettext("The decision was undone; {receipt} can be reverted in turn.")
                messages.success(request, format_html(said, receipt=shown))
        except MemoryHubError as error:
            messages.warning(request, say(str(error.detail)))
        return HttpResponseRedirect(page)

    def undo_deletion(self, request: HttpRequest) -> HttpResponse:
        """Restore the memories that were deleted together."""
        if request.method != "POST" or not self.has_restore_permission(request):
            raise PermissionDenied
        try:
            uuids = signing.loads(request.POST.get("of", ""), salt=UNDO_SALT, max_age=UNDO_SECONDS)
        except signing.BadSignature:
            messages.warning(request, gettext("That is too long ago: restore deleted memories on their pages."))
        else:
            uuids = [UUID(one) for one in uuids]
            for_each(request, uuids, services.memory_restore, said=RESTORED)
        return HttpResponseRedirect(reverse("admin:semantic_memory_changelist"))

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        return super().changelist_view(request, {**(extra_context or {}), "memory_views": view_tabs(request)})

    def render_change_form(self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        memory: Memory | None = kwargs.get("obj")
        if memory is not None:
            page = {**memory_context(request, memory), "pk": memory.pk}
            context |= {"page": page, "title": page["title"], "subtitle": None}
        return super().render_change_form(request, context, *args, **kwargs)

    # The search

    def get_list_display(self, request: HttpRequest) -> list[str]:
        first, *others = self.list_display
        return [first, RELEVANCE, *others] if is_search(request) else self.list_display

    def get_ordering(self, request: HttpRequest) -> list[str]:
        return [f"-{RELEVANCE}", "-id"] if is_search(request) else ["-id"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Memory]:
        memories = Memory.objects.visible_to(operator_access(request)).defer("lexemes").select_related("superseded_by")
        # The search sets its values; the order of the list names it before that.
        return memories.annotate(**{RELEVANCE: Value(0.0)}) if is_search(request) else memories

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Memory], search_term: str
    ) -> tuple[QuerySet[Memory], bool]:
        term = search_term.strip().replace("\x00", "")
        return (search_memories(request, cast("MemoryQuerySet", queryset), term) if term else queryset), False


def describe_for_deletion(memory: Memory) -> Described:
    """Describe a memory in the question whether to delete it: its content, whose it is, and since when."""
    content = link("admin:semantic_memory_change", memory.pk, truncatechars(memory.content, SHOWN_CONTENT_CHARS))
    words = gettext("%(status)s, of %(whose)s, saved at %(at)s") % {
        "status": memory.get_status_display(),
        "whose": " / ".join(filter(None, (memory.user_id, memory.household_id, memory.persona_id))),
        "at": moment(memory.created_at),
    }
    return Described(content, [words])


def offer_undo(request: HttpRequest, uuids: Sequence[UUID]) -> None:
    """Offer to restore the memories that were just deleted together, to who may restore memories."""
    deleted = Memory.objects.visible_to(operator_access(request)).filter(uuid__in=uuids, status=MemoryStatus.DELETED)
    names = [str(uuid) for uuid in deleted.values_list("uuid", flat=True)]
    if not names or not request.user.has_perm("semantic.change_memory"):
        return
    form = (
        '<form method="post" action="{}"><input type="hidden" name="csrfmiddlewaretoken" value="{}">'
        '<input type="hidden" name="of" value="{}">{} <button type="submit" class="mh-link">{}</button></form>'
    )
    question = gettext("Deleted by mistake? %(count)s can be brought back together:") % {"count": len(names)}
    token = signing.dumps(names, salt=UNDO_SALT)
    address = reverse("admin:semantic_memory_undo_deletion")
    messages.info(request, format_html(form, address, get_token(request), token, question, gettext("Undo")))


def is_search(request: HttpRequest) -> bool:
    """Return whether the list is asked for with a search term."""
    return bool(request.GET.get("q", "").strip())
