"""Compactions in the admin: what a draft changes, fact by fact and line by line, and the decision about it."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin
from unfold.decorators import display

from apps.core.admin.kit import (
    NOTHING,
    ReadOnly,
    badge_column,
    choice_badge,
    column,
    moment_column,
    render_difference,
    required_permission,
    two_lines,
)
from apps.core.admin.lists import LongList, UserFilter
from apps.core.admin.steps import make_dialog, step_action
from apps.core.pages.sayings import say
from apps.core.words import Counted
from apps.notes.models import Compaction, CompactionState
from apps.notes.selectors import compaction_detail
from apps.notes.services import compaction_apply, compaction_discard, compaction_undo

STATE_COLOURS = {
    "asked": "info", "drafted": "warning", "applied": "success", "discarded": None, "stale": None, "undone": "warning",
    "unchanged": None, "failed": "danger",
}  # fmt: skip
APPLIED = Counted("%(count)s compaction applied.", "%(count)s compactions applied.", "count")
DISCARDED = Counted("%(count)s compaction discarded.", "%(count)s compactions discarded.", "count")
UNDONE = Counted("%(count)s compaction undone.", "%(count)s compactions undone.", "count")
FACT_TABLE = (
    '<table class="mh-fact-table"><thead><tr><th scope="col">{}</th><th scope="col">{}</th>'
    '<th scope="col">{}</th></tr></thead><tbody>{}</tbody></table>'
)
# What can be done in each state.
STEPS = {
    "apply_this": {CompactionState.DRAFTED},
    "discard_this": {CompactionState.DRAFTED, CompactionState.STALE},
    "undo_this": {CompactionState.APPLIED},
}


@admin.register(Compaction)
class CompactionAdmin(LongList, ReadOnly, ModelAdmin):
    """Compactions, read-only; decisions about drafts go through the services."""

    list_display = ["whose", "state_now", "facts_now", "by_what", "when"]
    list_filter = ["state", UserFilter]
    actions_detail = list(STEPS)
    fieldsets = [
        (None, {"fields": [("user_id", "state_label"), ("facts_now", "by_what"), ("when", "decided"), "why"]}),
        (_("What it changes"), {"fields": ["difference"], "classes": ["tab"]}),
        (_("Facts"), {"fields": ["fact_list"], "classes": ["tab"]}),
    ]
    readonly_fields = [
        "user_id", "state_label", "facts_now", "by_what", "when", "decided", "why", "difference", "fact_list",
    ]  # fmt: skip
    empty_text = _(
        "No MEMORY.md has been compacted yet. This happens when a person’s settings turn it on, or on request."
    )

    class Media:
        css = {"all": ["memoryhub/diff.css", "notes/notes.css"]}

    state_now = badge_column("state", _("State"), STATE_COLOURS)
    state_label = column(_("State"), lambda row: choice_badge(row, "state", STATE_COLOURS))
    whose = column(
        _("Whose"),
        lambda row: two_lines(
            row.user_id,
            gettext("automatic") if row.automatic else gettext("requested by %(actor)s") % {"actor": row.actor},
        ),
    )
    facts_now = column(_("Facts"), lambda row: f"{row.facts_before:,} → {row.facts_after:,}" if row.draft else NOTHING)
    by_what = column(_("Model"), lambda row: row.model_use.get("model") or row.model_use.get("asked") or NOTHING)
    when = moment_column("created_at", _("Requested at"), ordering="id")
    why = column(_("Why"), lambda row: say(row.detail) or row.code or NOTHING)

    @display(description=_("Decided"))
    def decided(self, row: Compaction) -> str:
        if not row.decided_at:
            return NOTHING
        return gettext("%(at)s by %(actor)s") % {"at": f"{row.decided_at:%Y-%m-%d %H:%M:%S}", "actor": row.decided_by}

    @display(description="")
    def difference(self, row: Compaction) -> SafeString | str:
        diff = compaction_detail(row).diff
        return NOTHING if not diff else render_difference(diff.splitlines())

    @display(description="")
    def fact_list(self, row: Compaction) -> SafeString | str:
        if not row.facts:
            return NOTHING
        cells = (
            (fact["action"], fact["text"], fact["into"] or fact["reason"] or fact["code"] or "") for fact in row.facts
        )
        heads = (gettext("What happens to it"), gettext("Fact"), gettext("Sentence it comes from, or the reason"))
        rows = format_html_join("", "<tr><td>{}</td><td>{}</td><td>{}</td></tr>", cells)
        return format_html(FACT_TABLE, *heads, rows)

    def get_actions_detail(self, request: HttpRequest, object_id: Any) -> list[Any]:
        """Return the buttons of what can be done in the present state."""
        row = self.get_object(request, str(object_id))
        actions = super().get_actions_detail(request, object_id)
        return [one for one in actions if row and row.state in STEPS[one.method.original_function_name]]

    apply_this = step_action(
        "apply_this",
        make_dialog(
            _("Apply this draft?"),
            _("MEMORY.md gets this text. The current text is kept as a version, so this can be undone."),
            _("Apply"),
        ),
        compaction_apply,
        said=APPLIED,
        permission="decide",
    )
    discard_this = step_action(
        "discard_this",
        make_dialog(_("Discard this draft?"), _("MEMORY.md stays as it is."), _("Discard")),
        compaction_discard,
        said=DISCARDED,
        permission="decide",
    )
    undo_this = step_action(
        "undo_this",
        make_dialog(
            _("Undo this compaction?"),
            _("MEMORY.md goes back to its previous text, unless it has changed since."),
            _("Undo"),
        ),
        compaction_undo,
        said=UNDONE,
        permission="decide",
    )

    has_decide_permission = required_permission("notes.change_compaction")
