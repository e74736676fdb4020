"""Merge rules in the admin: a form for every setting, a panel to try them, and their history."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from unfold.admin import ModelAdmin
from unfold.dataclasses import ActionDialog
from unfold.decorators import action, display

from apps.core.admin.kit import NOTHING, ReadOnly, after_dialog, badge, found_or_404, moment, pretty_json
from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.errors import MemoryHubError
from apps.core.domain.scope import system_access
from apps.rules import services
from apps.rules.differences import changed_paths, diff_lines
from apps.rules.domain.documents.builtin import BUILT_IN
from apps.rules.domain.documents.rule import DEFAULT_RULE, RuleConfig
from apps.rules.domain.engine.record import MemoryRecord
from apps.rules.evaluate import evaluate
from apps.rules.forms import EDIT_AGAIN, NEEDED_TO_REHEARSE, SECTIONS, SEEN, SEPARATOR, SETTINGS, RuleForm, TrialForm
from apps.rules.models import MergeRule, MergeRuleVersion
from apps.rules.registry import active_rules
from apps.rules.schemas.outputs import evaluation_json
from apps.rules.selectors import rule_history

ACTION_COLOURS = {"Registered": "success", "Updated": "info", "Deleted": "danger", "Restored": "warning"}
STATE_COLOURS = {"Enabled": "success", "Disabled": "warning", "Broken": "danger"}
SHOWN_VERSIONS = 20
# The name that the theme gives to the button "Rehearse".
REHEARSE = "rules_mergerule_rehearse"
RESTORE_DIALOG = ActionDialog(
    title="Restore the rule as of this change?",
    description="The rule becomes what it was then. What it is now stays in the history.",
    form_class=None,
    form_submit_text="Restore",
)


def _section(name: str) -> tuple[str, dict[str, Any]]:
    fields = [field for field in SETTINGS if field.startswith(f"{name}{SEPARATOR}")]
    return name.capitalize(), {"fields": fields, "classes": ["tab"]}


GENERAL = (None, {"fields": ["name", "extends", ("enabled", "priority"), "description", SEEN]})
RESULT = ("Document", {"fields": [("as_given", "as_resolved")], "classes": ["tab"]})
HISTORY = ("History", {"fields": ["history_list"], "classes": ["tab"]})


@admin.register(MergeRule)
class MergeRuleAdmin(ModelAdmin):
    """Every change goes through the services, as over the API."""

    form = RuleForm
    list_display = ["name", "state", "priority_now", "base", "applies_to", "decides", "changed"]
    list_fullwidth = True
    search_fields = ["name"]
    search_help_text = "A part of the name"
    actions_detail = ["try_out"]
    actions_submit_line = ["rehearse"]
    readonly_fields = ["as_given", "as_resolved", "history_list"]
    warn_unsaved_form = True

    class Media:
        css = {"all": ["rules/admin.css"]}

    def get_fieldsets(self, request: HttpRequest, obj: MergeRule | None = None) -> Any:
        sections = [_section(name) for name in SECTIONS]
        return [GENERAL, *sections, RESULT, HISTORY] if obj else [GENERAL, *sections]

    # The list

    @display(description="State", label=STATE_COLOURS)
    def state(self, rule: MergeRule) -> str:
        resolved = _resolved(rule)
        if resolved is None:
            return "Broken"
        return "Enabled" if resolved.enabled else "Disabled"

    @display(description="Priority")
    def priority_now(self, rule: MergeRule) -> str:
        resolved = _resolved(rule)
        return str(resolved.priority) if resolved and rule.name != DEFAULT_RULE else NOTHING

    @display(description="Extends")
    def base(self, rule: MergeRule) -> str:
        resolved = _resolved(rule)
        return (resolved and resolved.extends) or NOTHING

    @display(description="Applies to")
    def applies_to(self, rule: MergeRule) -> str:
        if rule.name == DEFAULT_RULE:
            return "whatever no other rule applies to"
        resolved = _resolved(rule)
        return _conditions(resolved) if resolved else active_rules().broken.get(rule.name, NOTHING)

    @display(description="Decides by")
    def decides(self, rule: MergeRule) -> str:
        resolved = _resolved(rule)
        return _strategies(resolved) if resolved else NOTHING

    @display(description="Changed")
    def changed(self, rule: MergeRule) -> str:
        return f"{moment(rule.updated_at)} by {rule.updated_by}"

    # The page of a rule

    @display(description="As it was given")
    def as_given(self, rule: MergeRule) -> SafeString:
        return pretty_json(active_rules().documents.get(rule.name, rule.document))

    @display(description="With all that it inherits")
    def as_resolved(self, rule: MergeRule) -> SafeString | str:
        resolved = _resolved(rule)
        return pretty_json(resolved.to_document()) if resolved else active_rules().broken.get(rule.name, NOTHING)

    @display(description="Changes, the newest first")
    def history_list(self, rule: MergeRule) -> SafeString | str:
        versions = list(rule_history(rule.name)[:SHOWN_VERSIONS])
        if not versions:
            return "never changed"
        every = reverse("admin:rules_mergeruleversion_changelist") + f"?q={rule.name}"
        rows = format_html_join(
            "", '<li><a class="mh-link" href="{}">Version {}</a> {} {} by {}<br>{}</li>', map(_row, versions)
        )
        return format_html('<ol class="mh-versions">{}</ol><a class="mh-link" href="{}">All changes</a>', rows, every)

    @action(description="Try it out", icon="science", permissions=["view"], url_path="try")
    def try_out(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Two texts, and what this rule would make of them. Changes nothing."""
        rule = found_or_404(self.get_object(request, object_id))
        form = TrialForm(request.POST if request.method == "POST" else None)
        context = {
            **self.admin_site.each_context(request),
            "title": f"Try out {rule.name}",
            "opts": self.opts,
            "rule": rule,
            "form": form,
            "media": self.media + form.media,
            "result": _trial(rule.name, form) if form.is_bound and form.is_valid() else None,
        }
        return TemplateResponse(request, "rules/try.html", context)

    # Rehearsing: the page is that of an app above this one, found by the name of its address

    @action(description="Rehearse", icon="theater_comedy", permissions=["rehearse"])
    def rehearse(self, request: HttpRequest, obj: MergeRule) -> None:
        """The button beside those that save; `save_model` sees to it."""

    def has_rehearse_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return request.user.has_perms(("rules.change_mergerule", *NEEDED_TO_REHEARSE))

    def get_form(self, request: HttpRequest, obj: MergeRule | None = None, change: bool = False, **kwargs: Any) -> Any:
        form = super().get_form(request, obj, change=change, **kwargs)
        entered = getattr(request, "entered", None)
        return form if entered is None else type(form.__name__, (form,), {"entered": entered})

    # Changes

    def save_model(self, request: HttpRequest, obj: MergeRule, form: Any, change: bool) -> None:
        if REHEARSE in request.POST:
            raise _RehearsalAskedError
        if change:
            services.rule_replace(
                document=form.document, actor=_actor(request), expected_version=form.cleaned_data[SEEN]
            )
        else:
            services.rule_register(document=form.document, actor=_actor(request))
        row = MergeRule.objects.get(name=form.document["name"])
        for field in MergeRule._meta.concrete_fields:
            setattr(obj, field.attname, getattr(row, field.attname))

    def delete_model(self, request: HttpRequest, obj: MergeRule) -> None:
        services.rule_delete(name=obj.name, actor=_actor(request))

    def changeform_view(self, request: HttpRequest, object_id: str | None = None, *args: Any, **kwargs: Any) -> Any:
        if EDIT_AGAIN in request.POST:
            _show_again(request)
        try:
            return _told(
                request, lambda: super(MergeRuleAdmin, self).changeform_view(request, object_id, *args, **kwargs)
            )
        except _RehearsalAskedError:
            # The browser sends the same form there.
            return HttpResponseRedirect(reverse("rehearse_rule", args=[object_id]), preserve_request=True)

    def delete_view(self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None) -> Any:
        return _told(request, lambda: super(MergeRuleAdmin, self).delete_view(request, object_id, extra_context))

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        """Rules are deleted one by one, each for its own reason."""
        return {}

    def has_delete_permission(self, request: HttpRequest, obj: MergeRule | None = None) -> bool:
        return bool(super().has_delete_permission(request, obj)) and (obj is None or obj.name not in BUILT_IN)


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
        return _changes(change)

    @display(description="At", ordering="at")
    def when(self, change: MergeRuleVersion) -> str:
        return moment(change.at)

    @display(description="Difference")
    def difference(self, change: MergeRuleVersion) -> SafeString:
        lines = ((kind, text) for kind, text in diff_lines(change.before, change.after))
        return format_html('<pre class="mh-json mh-diff" tabindex="0">{}</pre>', _spans(lines))

    @action(description="Restore", icon="history", permissions=["view", "restore"], dialog=RESTORE_DIALOG)
    def restore(self, request: HttpRequest, form: Any, object_id: str) -> HttpResponse:
        change = found_or_404(self.get_object(request, object_id))
        try:
            services.rule_restore(version=change.version, actor=_actor(request))
        except MemoryHubError as error:
            messages.error(request, error.detail)
            return after_dialog(request, reverse("admin:rules_mergeruleversion_change", args=[change.pk]))
        messages.success(request, f"The rule {change.rule_name} is again what it was at version {change.version}.")
        row = MergeRule.objects.get(name=change.rule_name)
        return after_dialog(request, reverse("admin:rules_mergerule_change", args=[row.pk]))

    def has_restore_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return request.user.has_perm("rules.change_mergerule")


def _spans(lines: Any) -> SafeString:
    return format_html_join("", '<span class="mh-line mh-line-{}">{}</span>', lines)


def _row(change: MergeRuleVersion) -> tuple[Any, ...]:
    url = reverse("admin:rules_mergeruleversion_change", args=[change.pk])
    label = badge(change.get_action_display(), ACTION_COLOURS[change.get_action_display()])
    return url, change.version, label, moment(change.at), change.actor, _changes(change)


def _changes(change: MergeRuleVersion) -> str:
    paths = changed_paths(change.before, change.after)
    return ", ".join(paths[:6]) + (f" and {len(paths) - 6} more" if len(paths) > 6 else "")


def _resolved(rule: MergeRule) -> RuleConfig | None:
    return active_rules().rules.get(rule.name)


def _conditions(rule: RuleConfig) -> str:
    conditions, span = rule.conditions, rule.conditions.importance_range
    parts = [
        conditions.user_id and f"user {conditions.user_id}",
        conditions.persona_id and f"persona {conditions.persona_id}",
        conditions.source and f"source {' or '.join(conditions.source)}",
        span.min is not None and f"importance from {span.min:g}",
        span.max is not None and f"importance up to {span.max:g}",
    ]
    return ", ".join(part for part in parts if part) or "everything"


def _strategies(rule: RuleConfig) -> str:
    arbitration = rule.arbitration
    asked = {
        "importance": arbitration.priority_importance,
        "recency": arbitration.priority_recency,
        "source": arbitration.priority_source,
        "score": True,
        arbitration.default_strategy.value: True,
    }
    return " → ".join(name for name, used in asked.items() if used)


def _trial(name: str, form: TrialForm) -> dict[str, Any] | str:
    """What the rule makes of the two memories of the form; a sentence when it cannot be tried."""
    data, now = form.cleaned_data, utcnow(SYSTEM_CLOCK)
    try:
        records = {
            key: MemoryRecord(key, data[key], when, data[f"{key}_importance"], data[f"{key}_source"])
            for key, when in (("existing", now), ("candidate", now + timedelta(hours=data["hours"])))
        }
        found = evaluate(system_access(), records["candidate"], records["existing"], rule=name)
    except MemoryHubError as error:
        return error.detail
    return evaluation_json(system_access(), found)


class _RehearsalAskedError(Exception):
    """The form of a rule is sound, and it is not to be saved but rehearsed."""


def _show_again(request: HttpRequest) -> None:
    """Let the form show what was entered and rehearsed, which is not saved."""
    request.entered = request.POST  # type: ignore[attr-defined]
    request.method = "GET"
    messages.info(request, "Not saved yet: these are the values that you rehearsed.")


def _told(request: HttpRequest, work: Callable[[], Any]) -> Any:
    """A refusal of the services becomes a message on the page that was asked for."""
    try:
        return work()
    except MemoryHubError as error:
        messages.error(request, error.detail)
        return HttpResponseRedirect(reverse("admin:rules_mergerule_changelist"))


def _actor(request: HttpRequest) -> str:
    return f"admin:{request.user.get_username()}"
