"""The history of merge rules in the admin."""

from typing import Any

from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from unfold.admin import ModelAdmin
from unfold.dataclasses import ActionDialog
from unfold.decorators import action, display

from apps.core.admin.kit import ReadOnly, after_dialog, badge, found_or_404, moment
from apps.core.domain.errors import MemoryHubError
from apps.rules import services
from apps.rules.admin.words import list_settings
from apps.rules.domain.documents.differences import diff_lines, setting_changes
from apps.rules.models import MergeRule, MergeRuleVersion

ACTION_COLOURS = {"Registered": "success", "Updated": "info", "Deleted": "danger", "Restored": "warning"}
RESTORE_DIALOG = ActionDialog(
    title="Restore the rule as of this change?",
    description="The rule becomes what it was then. Its current state stays in the history.",
    form_class=None,
    form_submit_text="Restore",
)


@admin.register(MergeRuleVersion)
class MergeRuleVersionAdmin(ReadOnly, ModelAdmin):
    """The history of all rules, of deleted ones too."""

    list_display = ["version", "rule_name", "what", "what_changed", "actor", "when"]
    list_filter = ["action"]
    list_fullwidth = True
    search_fields = ["rule_name"]
    search_help_text = "A part of the rule's name"
    actions_detail = ["restore"]
    fields = [("version", "rule_name"), "what_label", ("actor", "when"), "difference"]
    readonly_fields = ["version", "rule_name", "what_label", "actor", "when", "difference"]

    class Media:
        css = {"all": ["rules/admin.css"]}

    @display(description="Action", ordering="action", label=ACTION_COLOURS)
    def what(self, change: MergeRuleVersion) -> str:
        return change.get_action_display()

    @display(description="Action")
    def what_label(self, change: MergeRuleVersion) -> str:
        return badge(self.what(change), ACTION_COLOURS[self.what(change)])

    @display(description="Settings")
    def what_changed(self, change: MergeRuleVersion) -> str:
        return list_settings(setting_changes(change.before, change.after))

    @display(description="At", ordering="at")
    def when(self, change: MergeRuleVersion) -> str:
        return moment(change.at)

    @display(description="Difference")
    def difference(self, change: MergeRuleVersion) -> SafeString:
        lines = diff_lines(change.before, change.after)
        spans = format_html_join("", '<span class="mh-line mh-line-{}">{}</span>', lines)
        return format_html('<pre class="mh-json mh-diff" tabindex="0">{}</pre>', spans)

    @action(description="Restore", icon="history", permissions=["view", "restore"], dialog=RESTORE_DIALOG)
    def restore(self, request: HttpRequest, form: Any, object_id: str) -> HttpResponse:
        """Restore the rule as it was after this change."""
        change = found_or_404(self.get_object(request, object_id))
        try:
            services.rule_restore(version=change.version, actor=f"admin:{request.user.get_username()}")
        except MemoryHubError as error:
            messages.error(request, error.detail)
            return after_dialog(request, reverse("admin:rules_mergeruleversion_change", args=[change.pk]))
        messages.success(request, f"The rule {change.rule_name} is again what it was at version {change.version}.")
        row = MergeRule.objects.get(name=change.rule_name)
        return after_dialog(request, reverse("admin:rules_mergerule_change", args=[row.pk]))

    def has_restore_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return request.user.has_perm("rules.change_mergerule")
