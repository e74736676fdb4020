"""Sources in the admin: what each is kept from, whether it is in step, and what keeps it from being so."""

from collections.abc import Iterable
from typing import Any

from django.contrib import admin, messages
from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from unfold.decorators import action, display

from apps.core.admin.kit import (
    NOTHING,
    badge,
    column,
    found_or_404,
    list_link,
    moment,
    monospace,
    operator_access,
    stacked,
    two_lines,
)
from apps.core.admin.lists import UserFilter
from apps.core.admin.steps import OneButton, copy_columns
from apps.core.domain.errors import MemoryHubError
from apps.core.pages.sayings import say
from apps.sync.admin.preview import preview_page
from apps.sync.admin.source_form import SourceForm
from apps.sync.admin.source_steps import SourceSteps
from apps.sync.admin.words import (
    SOURCE_COLOURS,
    SOURCE_PAGE,
    SOURCE_STATES,
    at_by,
    count_of,
    due_of,
    once,
    run_link,
    short_commit,
    tally,
)
from apps.sync.domain.readers.found import SKIPPED
from apps.sync.models import (
    KnowledgeFile,
    KnowledgeItem,
    KnowledgeSource,
    PointerConflict,
    SyncCheckpoint,
    SyncConflictState,
    SyncRun,
    SyncRunState,
)
from apps.sync.services import source_create, source_delete, source_update

MAX_SHOWN = 100
FIXED = ("user_id", "kind")
WHAT = (_("Where it is"), {"fields": ["name", ("user_id", "project"), "kind", "location", ("branch", "folder")]})
WHICH = (
    _("What is read"),
    {"fields": [("include", "exclude"), ("convention", "layer"), ("mapping",), ("credentials",)]},
)
WHEN = (
    _("When it is synced"),
    {
        "fields": ["enabled", ("staleness_seconds", "session_threshold"), ("daily_at", "max_items"), "webhook_secret"],
        "description": _("Whichever comes first. Without any of these, it is synced by hand or by webhook calls."),
    },
)
CONFLICTS = (
    _("When a pointer and its item differ"),
    {
        "fields": [
            "resolution_hash_mismatch",
            "resolution_status_change",
            "resolution_layer_mismatch",
            "resolution_orphaned_pointer",
            "resolution_duplicate_pointer",
        ],
        "description": _(
            "What a sync does about it. With “a person decides”, the pointer stays as it is and the conflict is "
            "listed under Pointer conflicts."
        ),
    },
)
NOW = (
    None,
    {
        "fields": [
            ("state_label", "next_due_label"), ("last_sync", "last_run"), ("items_kept", "conflicts_open"),
            ("commit", "created"),
        ]
    },
)  # fmt: skip
REFUSED = (_("Files that could not be read"), {"fields": ["refused_files"], "classes": ["tab"]})
SKIPPED_FILES = (_("Files that are not items"), {"fields": ["skipped_files"], "classes": ["tab"]})
CHECKPOINTS = (_("Checkpoints"), {"fields": ["checkpoint_list"], "classes": ["tab"]})
SHOWN = (
    "state_label", "next_due_label", "last_sync", "last_run", "items_kept", "conflicts_open", "commit", "created",
    "refused_files", "skipped_files", "checkpoint_list",
)  # fmt: skip
FILE_ROWS = (
    '<table class="mh-table"><thead><tr><th scope="col">{}</th><th scope="col">{}</th></tr></thead>'
    "<tbody>{}</tbody></table>{}"
)


def annotate_facts(sources: QuerySet[KnowledgeSource]) -> QuerySet[KnowledgeSource]:
    """Return sources with their states, numbers and last runs, for a list: one query for all."""
    of_source = {"source": OuterRef("pk")}
    last = SyncRun.objects.filter(**of_source).order_by("-id")
    counts = {
        "item_count": KnowledgeItem.objects.filter(**of_source),
        "refused_count": KnowledgeFile.objects.failed().filter(**of_source),
        "open_count": PointerConflict.objects.filter(state=SyncConflictState.OPEN, **of_source),
    }
    return sources.select_related("state").annotate(
        run_state=Subquery(last.values("state")[:1]),
        run_pk=Subquery(last.values("pk")[:1]),
        run_detail=Subquery(last.values("detail")[:1]),
        **{
            name: Coalesce(Subquery(rows.order_by().values("source").annotate(n=Count("pk")).values("n")), 0)
            for name, rows in counts.items()
        },
    )


def state_of(source: Any) -> str:
    """Return one of SOURCE_STATES. source: with the annotations of a list."""
    if source.run_state == SyncRunState.RUNNING:
        return "syncing"
    if not source.enabled:
        return "off"
    if source.run_state == SyncRunState.WAITING:
        return "waiting"
    if source.paused:
        return "paused"
    if source.run_state in {SyncRunState.FAILED, SyncRunState.INTERRUPTED}:
        return "failed"
    if source.state.last_sync_at is None:
        return "never"
    if source.state.remaining:
        return "behind"
    return "in_step" if source.state.is_complete else "some_not_read"


def why_of(source: Any) -> str:
    """Return why a source is not in step, in its own words; empty where there is nothing to say."""
    state = state_of(source)
    if state == "paused":
        return str(source.paused)
    if state == "failed":
        return say(source.run_detail) or (
            gettext("The process ended.") if source.run_state == SyncRunState.INTERRUPTED else ""
        )
    return gettext("Sync it to make its pointers.") if state == "never" else ""


@admin.register(KnowledgeSource)
class KnowledgeSourceAdmin(OneButton, SourceSteps):
    """Sources. Every change goes through the services; a deletion says what it takes along."""

    form = SourceForm
    list_display = ["source", "state_now", "last_sync", "next_due", "items_kept", "to_do"]
    list_filter = ["enabled", "kind", UserFilter]
    list_filter_submit = True
    list_fullwidth = True
    list_per_page = 50
    show_full_result_count = False
    ordering = ["name"]
    search_fields = ["name", "user_id", "location"]
    search_help_text = _("Part of the name, the owner or the address")
    warn_unsaved_form = True
    empty_text = _(
        "A source is a git repository or a folder with decisions, policies and the like, for assistants to find."
    )

    class Media:
        css = {"all": ["sync/sync.css"]}

    def get_queryset(self, request: HttpRequest) -> QuerySet[KnowledgeSource]:
        return annotate_facts(KnowledgeSource.objects.visible_to(operator_access(request)))

    def get_fieldsets(self, request: HttpRequest, obj: KnowledgeSource | None = None) -> Any:
        settings = [WHAT, WHICH, WHEN, CONFLICTS]
        return [NOW, *settings, REFUSED, SKIPPED_FILES, CHECKPOINTS] if obj else settings

    def get_readonly_fields(self, request: HttpRequest, obj: KnowledgeSource | None = None) -> list[str]:
        return [*FIXED, *SHOWN] if obj else []

    # Columns

    source = column(
        _("Source"), lambda row: two_lines(row.name, gettext("of %(owner)s") % {"owner": row.user_id}), ordering="name"
    )
    commit = column(_("Commit of the last sync"), lambda row: short_commit(row.state.last_commit))
    created = column(_("Created"), lambda row: at_by(row.created_at, row.created_by))

    @display(description=_("State"))
    def state_now(self, source: Any) -> SafeString:
        state = state_of(source)
        return stacked(badge(str(SOURCE_STATES[state]), SOURCE_COLOURS[state]), why_of(source))

    @display(description=_("State"))
    def state_label(self, source: Any) -> SafeString:
        state = state_of(source)
        return format_html("{} {}", badge(str(SOURCE_STATES[state]), SOURCE_COLOURS[state]), why_of(source))

    @display(description=_("Last sync"), ordering="state__last_sync_at")
    def last_sync(self, source: KnowledgeSource) -> str:
        return moment(source.state.last_sync_at) if source.state.last_sync_at else gettext("never")

    @display(description=_("Next sync"))
    def next_due(self, source: KnowledgeSource) -> SafeString | str:
        when, why = due_of(source)
        return two_lines(when, why) if why else when

    @display(description=_("Next sync"))
    def next_due_label(self, source: KnowledgeSource) -> str:
        return ": ".join(filter(None, due_of(source)))

    @display(description=_("Last run"))
    @once
    def last_run(self, source: Any) -> SafeString | str:
        run = SyncRun.objects.filter(pk=source.run_pk).first()
        return NOTHING if run is None else format_html("{}: {}", run_link(run), tally(run))

    @display(description=_("Items"), ordering="item_count")
    def items_kept(self, source: Any) -> SafeString | str:
        if not source.item_count:
            return "0"
        return list_link("admin:sync_knowledgeitem_changelist", f"{source.item_count:,}", source__id__exact=source.pk)

    @display(description=_("Open conflicts"))
    def conflicts_open(self, source: Any) -> SafeString | str:
        if not source.open_count:
            return gettext("none")
        return list_link("admin:sync_pointerconflict_changelist", f"{source.open_count:,}", source__id__exact=source.pk)

    @display(description=_("To review"))
    def to_do(self, source: Any) -> SafeString | str:
        parts = []
        if source.open_count:
            text = count_of(source.open_count, "open conflict")
            parts.append(list_link("admin:sync_pointerconflict_changelist", text, source__id__exact=source.pk))
        if source.refused_count:
            page = f"{reverse(SOURCE_PAGE, args=[source.pk])}#refused"
            text = ngettext("%(shown)s file not read", "%(shown)s files not read", source.refused_count)
            text %= {"shown": f"{source.refused_count:,}"}
            parts.append(format_html('<a class="mh-link" href="{}">{}</a>', page, text))
        links = format_html_join(", ", "{}", ((one,) for one in parts))
        return format_html("<span>{}</span>", links) if parts else NOTHING

    # The page of a source

    @display(description="")
    @once
    def refused_files(self, source: Any) -> SafeString | str:
        files = KnowledgeFile.objects.filter(source=source).failed().order_by("path")[:MAX_SHOWN]
        was_read = source.item_count or KnowledgeFile.objects.filter(source=source).exists()
        empty = gettext("Every file could be read.") if was_read else gettext("No file was read yet.")
        return file_table(files, source.refused_count, empty)

    @display(description="")
    @once
    def skipped_files(self, source: Any) -> SafeString | str:
        files = KnowledgeFile.objects.filter(source=source, code__in=SKIPPED).order_by("path")
        return file_table(files[:MAX_SHOWN], files.count(), gettext("Every file that could be read is an item."))

    @display(description="")
    @once
    def checkpoint_list(self, source: KnowledgeSource) -> SafeString | str:
        checkpoints = SyncCheckpoint.objects.filter(source=source).defer("content").select_related("run")
        line = '<li>{} {} <a class="mh-link" href="{}">{}</a></li>'
        rows = [
            (
                gettext("%(at)s, before") % {"at": moment(one.created_at)},
                run_link(one.run),
                reverse("admin:sync_syncrun_roll_back", args=[one.run_id]),
                gettext("Roll back to it"),
            )
            for one in checkpoints.order_by("-pk")
        ]
        if not rows:
            return gettext("None yet: one is made before each sync, and the last 20 are kept.")
        return format_html('<ul class="mh-lines">{}</ul>', format_html_join("", line, rows))

    @action(description=_("Dry run"), icon="preview", permissions=["view", "preview"], url_path="dry-run")
    def dry_run(self, request: HttpRequest, object_id: str) -> HttpResponse:
        return preview_page(self, request, found_or_404(self.get_object(request, object_id)))

    def has_preview_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return request.user.has_perms(("sync.change_knowledgesource", "sync.view_knowledgeitem"))

    # Changes

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        try:
            return super().changeform_view(request, *args, **kwargs)
        except MemoryHubError as error:  # what the form could not know, such as a name that was taken since
            messages.error(request, say(str(error.detail)))
            return HttpResponseRedirect(request.get_full_path())

    def save_model(self, request: HttpRequest, obj: KnowledgeSource, form: Any, change: bool) -> None:
        access, values = operator_access(request), form.values()
        if not change:
            saved = source_create(access=access, values=values)
        elif values:
            saved = source_update(access=access, uuid=obj.uuid, values=values)
        else:
            return
        copy_columns(saved, obj)

    def response_add(
        self, request: HttpRequest, obj: KnowledgeSource, post_url_continue: str | None = None
    ) -> HttpResponse:
        """Go on to the page of the new source, whose buttons are the next steps."""
        messages.success(request, gettext("Saved. Nothing has been synced yet: do a dry run first, then sync it."))
        may_see = self.has_view_or_change_permission(request, obj)
        return HttpResponseRedirect(reverse(SOURCE_PAGE, args=[obj.pk]) if may_see else reverse("admin:index"))

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """Return what a deletion takes along, in words; the services need no further permission for it."""
        sources: list[Any] = list(annotate_facts(KnowledgeSource.objects.filter(pk__in=[one.pk for one in objs])))
        lines = [part for source in sources for part in (source.name, describe_deletion(source))]
        counts = {
            gettext("sources"): len(sources),
            gettext("items"): sum(source.item_count for source in sources),
        }
        return lines, counts, set(), []

    def delete_view(self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None) -> Any:
        try:
            return super().delete_view(request, object_id, extra_context)
        except MemoryHubError as error:  # such as a sync that runs
            messages.error(request, say(str(error.detail)))
            return HttpResponseRedirect(reverse(SOURCE_PAGE, args=[object_id]))

    def delete_model(self, request: HttpRequest, obj: KnowledgeSource) -> None:
        source_delete(access=operator_access(request), uuid=obj.uuid)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[KnowledgeSource]) -> None:
        for source in queryset:
            try:
                source_delete(access=operator_access(request), uuid=source.uuid)
            except MemoryHubError as error:
                messages.warning(request, f"{source.name}: {say(str(error.detail))}")


def file_table(files: Iterable[KnowledgeFile], count: int, empty: str) -> SafeString | str:
    """Render files with the reason why each became no item. count: of all of them; the first ones are shown."""
    file, why = gettext("File"), gettext("Why")
    reasons = ((monospace(one.path), why, say(one.detail) or one.code) for one in files)
    rows = format_html_join("", '<tr><td>{}</td><td data-label="{}">{}</td></tr>', reasons)
    left = count - MAX_SHOWN
    more = gettext("and %(count)s more") % {"count": f"{left:,}"} if left > 0 else ""
    return format_html(FILE_ROWS, file, why, rows, more) if count else empty


def describe_deletion(source: Any) -> list[str]:
    """Return what becomes of all that belongs to a source, a sentence for each."""
    pointers = KnowledgeItem.objects.filter(source=source).exclude(pointer=None).count()
    return [
        gettext("%(pointers)s of %(owner)s can no longer be found: deleted, with the reason in the history.")
        % {"pointers": count_of(pointers, "pointer"), "owner": source.user_id},
        gettext("%(items)s, all its syncs, checkpoints and conflicts are removed for good.")
        % {"items": count_of(source.item_count, "item")},
        gettext("The repository or folder stays as it is; a new source would read it again."),
    ]
