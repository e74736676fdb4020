"""Runs of extraction in the admin: what came in, what each step decided, what was learnt, and taking it back."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin, TabularInline
from unfold.decorators import action, display

from apps.core.admin.kit import (
    NOTHING,
    ReadOnly,
    badge_column,
    choice_badge,
    column,
    dollars,
    excerpt,
    for_each,
    link,
    moment_column,
    plain_text,
    pretty_json,
    required_permission,
    stacked,
    two_lines,
)
from apps.core.admin.lists import SearchedList, UserFilter
from apps.core.admin.steps import make_dialog, step_action
from apps.core.domain.errors import NotFoundError
from apps.core.domain.scope import system_access
from apps.core.pages.sayings import say
from apps.core.pages.times import in_figures
from apps.core.words import Counted
from apps.notes.models import ExtractedFact, ExtractionRun, NoteVersion
from apps.notes.services import fact_undo
from apps.semantic.selectors import conflict_get, memory_get_any

RUN_COLOURS = {"waiting": None, "running": "info", "finished": "success", "failed": "danger"}
FACT_COLOURS = {"found": "info", "dropped": None, "applied": "success", "undone": "warning"}
UNDONE = Counted("%(count)s fact undone.", "%(count)s facts undone.", "count")
# Fields that show what is behind another permission, and what is shown without it.
HIDDEN = {
    "memory_link": ("semantic.view_memory", "memory_id"),
    "receipt_link": ("semantic.view_conflict", "receipt_id"),
}


class FactInline(ReadOnly, TabularInline):
    """The facts of a run, in their order."""

    model = ExtractedFact
    verbose_name_plural = _("Facts")
    fields = readonly_fields = ["fact", "state_now", "found_by", "why"]
    ordering = ["number"]
    extra = 0
    per_page = 50
    hide_title = True
    tab = True

    found_by = column(_("Found by"), lambda fact: fact.pattern)
    why = column(_("Why it was dropped"), lambda fact: say(fact.reason) or NOTHING)

    @display(description=_("Fact"))
    def fact(self, fact: ExtractedFact) -> SafeString:
        return stacked(link("admin:notes_extractedfact_change", fact.pk, fact.content), fact.category)

    @display(description=_("State"))
    def state_now(self, fact: ExtractedFact) -> str:
        return choice_badge(fact, "state", FACT_COLOURS)

    has_view_permission = required_permission("notes.view_extractedfact")


@admin.register(ExtractionRun)
class ExtractionRunAdmin(SearchedList, ReadOnly, ModelAdmin):
    """Runs, read-only, with their facts."""

    list_display = ["whose", "state_now", "because", "learnt", "by_what", "when"]
    list_filter = ["state", "trigger", UserFilter]
    search_help_text = _("A user, a session, or an id")
    inlines = [FactInline]
    fieldsets = [
        (None, {"fields": [("user_id", "session_id"), ("state_label", "because"), ("by_what", "cost"), "error"]}),
        (_("Time"), {"fields": [("requested", "started"), ("ended", "took"), "tries"]}),
        (_("Steps"), {"fields": ["step_list"], "classes": ["tab"]}),
        (_("What came in"), {"fields": ["came_in", "actor", "uuid"], "classes": ["tab"]}),
    ]
    readonly_fields = [
        "user_id", "session_id", "state_label", "because", "by_what", "cost", "error", "requested", "started", "ended",
        "took", "tries", "step_list", "came_in", "actor", "uuid",
    ]  # fmt: skip
    empty_text = _(
        "There are no runs. One begins when a chat application sends a conversation to /api/auto-memory/sessions."
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[ExtractionRun]:
        return ExtractionRun.objects.annotate_facts()

    def find_by_words(self, queryset: QuerySet[ExtractionRun], term: str) -> QuerySet[ExtractionRun]:
        """Return the runs of a whole user id, else of a whole session id."""
        found = queryset.filter(user_id=term)
        return found if found.exists() else queryset.filter(session_id=term)

    state_now = badge_column("state", _("State"), RUN_COLOURS)
    state_label = column(_("State"), lambda run: choice_badge(run, "state", RUN_COLOURS))
    because = column(_("Why"), lambda run: run.get_trigger_display(), ordering="trigger")
    by_what = column(_("Found by"), lambda run: run.model or gettext("patterns"))
    cost = column(_("Cost"), lambda run: dollars(run.cost_usd))
    whose = column(_("Whose"), lambda run: two_lines(run.user_id, run.session_id), ordering="user_id")
    when = moment_column("requested_at", _("Requested at"), ordering="id")
    requested = moment_column("requested_at", _("Requested"))
    started = moment_column("started_at", _("Started"))
    ended = moment_column("ended_at", _("Ended"))
    took = column(_("Took"), lambda run: in_figures(run.duration_ms))
    came_in = column("", lambda run: pretty_json(run.received))

    @display(description=_("Learnt"))
    def learnt(self, run: Any) -> SafeString:
        return two_lines(
            gettext("%(applied)s of %(found)s found") % {"applied": run.applied, "found": run.found},
            gettext("%(count)s messages") % {"count": run.received.get("messages", 0)},
        )

    @display(description="")
    def step_list(self, run: ExtractionRun) -> SafeString | str:
        if not run.steps:
            return gettext("Not started")
        steps = [dict(record) for record in run.steps]
        rows = ((say(step.pop("step", "")), pretty_json(step)) for step in steps)
        return format_html_join("", '<h3 class="mh-step">{}</h3>{}', rows)


def find(read: Callable[..., Any], uuid: UUID | None) -> Any:
    """Return what a selector finds by an id; None without an id, or where there is nothing any more."""
    if uuid is None:
        return None
    try:
        return read(system_access(), uuid)
    except NotFoundError:
        return None


def shown(request: HttpRequest, name: str) -> str:
    """Return the field to show in place of another one: only the id of what the user may not see."""
    permission, instead = HIDDEN.get(name, ("", name))
    return instead if permission and not request.user.has_perm(permission) else name


@admin.register(ExtractedFact)
class ExtractedFactAdmin(SearchedList, ReadOnly, ModelAdmin):
    """Facts that were learnt from conversations; undoing them goes through the services."""

    list_display = ["fact", "state_now", "whose", "found_by", "run_link"]
    list_filter = ["state", "category", UserFilter]
    list_disable_select_all = True
    search_help_text = _("Words of the fact, or an id")
    actions = ["undo_chosen"]
    actions_detail = ["undo_this"]
    fieldsets = [
        (None, {"fields": ["full_text", ("category", "found_by"), ("state_label", "reason"), "said"]}),
        (_("What was written"), {"fields": [("line", "memory_link"), ("memory_action", "receipt_link"), "undone"]}),
        (_("More"), {"fields": [("user_id", "confidence"), "run_link", "uuid"]}),
    ]
    readonly_fields = [
        "full_text", "category", "found_by", "state_label", "reason", "said", "line", "memory_link", "memory_action",
        "receipt_link", "undone", "user_id", "confidence", "run_link", "uuid",
    ]  # fmt: skip
    empty_text = _("Nothing has been learnt from conversations yet.")

    def get_fieldsets(self, request: HttpRequest, obj: ExtractedFact | None = None) -> Any:
        first, (title, options), *others = self.fieldsets
        line, decision, undone = options["fields"]
        fields = [tuple(shown(request, name) for name in row) for row in (line, decision)]
        return [first, (title, {**options, "fields": [*fields, undone]}), *others]

    def get_readonly_fields(self, request: HttpRequest, obj: ExtractedFact | None = None) -> list[str]:
        return [shown(request, name) for name in self.readonly_fields]

    def get_queryset(self, request: HttpRequest) -> QuerySet[ExtractedFact]:
        return ExtractedFact.objects.select_related("message", "run")

    def find_by_words(self, queryset: QuerySet[ExtractedFact], term: str) -> QuerySet[ExtractedFact]:
        """Return the facts that contain the words."""
        return queryset.filter(content__icontains=term)

    fact = column(_("Fact"), lambda fact: stacked(excerpt(fact.content), say(fact.category)))
    state_now = badge_column("state", _("State"), FACT_COLOURS)
    state_label = column(_("State"), lambda fact: choice_badge(fact, "state", FACT_COLOURS))
    whose = column(_("Whose"), lambda fact: fact.user_id, ordering="user_id")
    found_by = column(_("Found by"), lambda fact: fact.pattern)
    run_link = column(_("Run"), lambda fact: link("admin:notes_extractionrun_change", fact.run_id, fact.run.session_id))
    full_text = column(_("Fact"), lambda fact: plain_text(fact.content))

    @display(description=_("Was said"))
    def said(self, fact: ExtractedFact) -> SafeString | str:
        if fact.message is None or fact.message.cleared_at is not None:
            return gettext("The message is no longer kept.")
        return plain_text(fact.message.content)

    @display(description=_("Line in MEMORY.md"))
    def line(self, fact: ExtractedFact) -> SafeString | str:
        version = NoteVersion.objects.filter(uuid=fact.note_version).first() if fact.note_version else None
        if version is None:
            return NOTHING
        return link(
            "admin:notes_noteversion_change", version.pk, gettext("version %(number)s") % {"number": version.number}
        )

    @display(description=_("Memory"))
    def memory_link(self, fact: ExtractedFact) -> SafeString | str:
        memory = find(memory_get_any, fact.memory)
        return NOTHING if memory is None else link("admin:semantic_memory_change", memory.pk, memory.content)

    memory_id = column(_("Memory"), lambda fact: fact.memory or NOTHING)
    receipt_id = column(_("Decision"), lambda fact: fact.receipt or NOTHING)

    @display(description=_("Decision"))
    def receipt_link(self, fact: ExtractedFact) -> SafeString | str:
        receipt = find(conflict_get, fact.receipt)
        if receipt is None:
            return NOTHING
        return link("admin:semantic_conflict_change", receipt.pk, receipt.get_outcome_display())

    @display(description=_("Undone"))
    def undone(self, fact: ExtractedFact) -> SafeString | str:
        if not fact.undone_at:
            return NOTHING
        return format_html(
            gettext("{at} by {actor}{change}"), at=fact.undone_at, actor=fact.undone_by, change=pretty_json(fact.undo)
        )

    undo_this = step_action(
        "undo_this",
        make_dialog(
            _("Undo this fact?"),
            _(
                "Its line is removed from MEMORY.md unless it was changed since, and its memory is deleted; if it "
                "superseded another memory, that decision is reverted. Deleted memories can be restored."
            ),
            _("Undo"),
        ),
        fact_undo,
        said=UNDONE,
        permission="undo",
        icon="undo",
    )

    @action(description=_("Undo"), icon="undo", permissions=["undo"])
    def undo_chosen(self, request: HttpRequest, queryset: QuerySet[ExtractedFact]) -> None:
        chosen = queryset.order_by("-id").values_list("uuid", flat=True)
        for_each(request, chosen, fact_undo, said=UNDONE)

    has_undo_permission = required_permission("notes.change_extractedfact")
