"""The history of merge rules in the admin."""

from typing import Any

from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin
from unfold.decorators import action, display

from apps.core.admin.kit import (
    ReadOnly,
    after_dialog,
    badge_column,
    choice_badge,
    column,
    found_or_404,
    moment,
    required_permission,
)
from apps.core.admin.steps import make_dialog
from apps.core.domain.errors import MemoryHubError
from apps.core.pages.sayings import say
from apps.rules import services
from apps.rules.admin.words import list_settings
from apps.rules.domain.documents.differences import diff_lines, setting_changes
from apps.rules.models import MergeRule, MergeRuleVersion

ACTION_COLOURS = {"registered": "success", "updated": "info", "deleted": "danger", "restored": "warning"}
RESTORE_DIALOG = make_dialog(
    _("Restore the rule as of this change?"),
    _("The rule goes back to what it was then. Its current state stays in the history."),
    _("Restore"),
)


@admin.register(MergeRuleVersion)
class MergeRuleVersionAdmin(ReadOnly, ModelAdmin):
    """The history of all rules, of deleted ones too."""

    list_display = ["version", "rule_name", "what", "what_changed", "actor", "when"]
    list_filter = ["action"]
    list_fullwidth = True
    search_fields = ["rule_name"]
    search_help_text = _("Part of the rule's name")
    actions_detail = ["restore"]
    fields = [("version", "rule_name"), "what_label", ("actor", "when"), "difference"]
    readonly_fields = ["version", "rule_name", "what_label", "actor", "when", "difference"]

    class Media:
        css = {"all": ["rules/admin.css"]}

    what = badge_column("action", _("Action"), ACTION_COLOURS)
    what_label = column(_("Action"), lambda change: choice_badge(change, "action", ACTION_COLOURS))

    @display(description=_("Settings"))
    def what_changed(self, change: MergeRuleVersion) -> str:
        return list_settings(setting_changes(change.before, change.after))

    @display(description=_("At"), ordering="at")
    def when(self, change: MergeRuleVersion) -> str:
        return moment(change.at)

    @display(description=_("Difference"))
    def difference(self, change: MergeRuleVersion) -> SafeString:
        lines = diff_lines(change.before, change.after)
        spans = format_html_join("", '<span class="mh-line mh-line-{}">{}</span>', lines)
        return format_html('<pre class="mh-json mh-diff" tabindex="0">{}</pre>', spans)

    @action(description=_("Restore"), icon="history", permissions=["view", "restore"], dialog=RESTORE_DIALOG)
    def restore(self, request: HttpRequest, form: Any, object_id: str) -> HttpResponse:
        """Restore the rule as it was after this change."""
        change = found_or_404(self.get_object(request, object_id))
        try:
            services.rule_restore(version=change.version, actor=f"admin:{request.user.get_username()}")
        except MemoryHubError as error:
            messages.error(request, say(str(error.detail)))
            return after_dialog(request, reverse("admin:rules_mergeruleversion_change", args=[change.pk]))
        said = gettext("The rule %(name)s was restored to version %(version)s.")
        messages.success(request, said % {"name": change.rule_name, "version": change.version})
        row = MergeRule.objects.get(name=change.rule_name)
        return after_dialog(request, reverse("admin:rules_mergerule_change", args=[row.pk]))

    has_restore_permission = required_permission("rules.change_mergerule")
