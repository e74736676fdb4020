"""Compactions in the admin: what a draft changes, fact by fact and line by line, and the decision about it."""

from collections.abc import Callable
from typing import Any

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext_lazy
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin
from unfold.dataclasses import ActionDialog
from unfold.decorators import action, display

from apps.core.admin.kit import (
    NOTHING,
    ReadOnly,
    apply_on_page,
    badge_column,
    choice_badge,
    column,
    moment_column,
    render_difference,
    required_permission,
    two_lines,
)
from apps.core.admin.lists import LongList, UserFilter
from apps.core.pages.sayings import say
from apps.core.words import Words
from apps.notes.models import Compaction, CompactionState
from apps.notes.selectors import compaction_detail
from apps.notes.services import compaction_apply, compaction_discard, compaction_undo

STATE_COLOURS = {
    "asked": "info", "drafted": "warning", "applied": "success", "discarded": None, "stale": None, "undone": "warning",
    "unchanged": None, "failed": "danger",
}  # fmt: skip
APPLIED = ngettext_lazy("%(count)s compaction applied.", "%(count)s compactions applied.", "count")
DISCARDED = ngettext_lazy("%(count)s compaction discarded.", "%(count)s compactions discarded.", "count")
UNDONE = ngettext_lazy("%(count)s compaction undone.", "%(count)s compactions undone.", "count")
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


def step_action(name: str, title: Words, words: Words, button: Words, service: Callable[..., Any], said: Words) -> Any:
    """Return the button of a compaction's page that takes one of STEPS after a dialog. name: of the method."""

    def take_step(self: Any, request: HttpRequest, form: Any, object_id: str) -> HttpResponse:
        return apply_on_page(self, request, object_id, service, said=said)

    take_step.__name__ = name  # the theme makes the address and checks permissions by it
    dialog = ActionDialog(title=title, description=words, form_class=None, form_submit_text=button)
    return action(description=button, permissions=["view", "decide"], dialog=dialog)(take_step)


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
        _("Apply this draft?"),
        _("MEMORY.md gets this text. The current text is kept as a version, so this can be undone."),
        _("Apply"),
        compaction_apply,
        APPLIED,
    )
    discard_this = step_action(
        "discard_this",
        _("Discard this draft?"),
        _("MEMORY.md stays as it is."),
        _("Discard"),
        compaction_discard,
        DISCARDED,
    )
    undo_this = step_action(
        "undo_this",
        _("Undo this compaction?"),
        _("MEMORY.md goes back to its previous text, unless it has changed since."),
        _("Undo"),
        compaction_undo,
        UNDONE,
    )

    has_decide_permission = required_permission("notes.change_compaction")
