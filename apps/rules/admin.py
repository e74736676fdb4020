"""Merge rules in the admin: a form for every setting, a page to try them, and their history."""

import json
from collections.abc import Iterator, Mapping
from datetime import timedelta
from difflib import SequenceMatcher
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
from apps.rules.domain.documents.builtin import BUILT_IN
from apps.rules.domain.documents.rule import DEFAULT_RULE, INFERRED_RULE, RuleConfig
from apps.rules.domain.engine.record import MemoryRecord
from apps.rules.forms import EDIT_AGAIN, NEEDED_TO_REHEARSE, SECTIONS, SEEN, SEPARATOR, SETTINGS, RuleForm, TrialForm
from apps.rules.models import MergeRule, MergeRuleVersion
from apps.rules.schemas.outputs import EvaluateOutput, render_evaluation
from apps.rules.selectors import active_rules, rule_history

ACTION_COLOURS = {"Registered": "success", "Updated": "info", "Deleted": "danger", "Restored": "warning"}
STATE_COLOURS = {"Enabled": "success", "Disabled": "warning", "Broken": "danger"}
SHOWN_VERSIONS = 20
# The name of the theme for the button "Rehearse".
REHEARSE = "rules_mergerule_rehearse"
RESTORE_DIALOG = ActionDialog(
    title="Restore the rule as of this change?",
    description="The rule becomes what it was then. Its current state stays in the history.",
    form_class=None,
    form_submit_text="Restore",
)


GENERAL = (None, {"fields": ["name", "extends", ("enabled", "priority"), "description", SEEN]})
RESULT = ("Document", {"fields": [("as_given", "as_resolved")], "classes": ["tab"]})
HISTORY = ("History", {"fields": ["history_list"], "classes": ["tab"]})


@admin.register(MergeRule)
class MergeRuleAdmin(ModelAdmin):
    """Rules, changed by the services only, as over the API."""

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
        """Return the sections of the form, each in a tab; document and history for a stored rule."""
        sections = []
        for name in SECTIONS:
            fields = [field for field in SETTINGS if field.startswith(f"{name}{SEPARATOR}")]
            sections.append((name.capitalize(), {"fields": fields, "classes": ["tab"]}))
        return [GENERAL, *sections, RESULT, HISTORY] if obj else [GENERAL, *sections]

    # The list

    @display(description="State", label=STATE_COLOURS)
    def state(self, rule: MergeRule) -> str:
        resolved = active_rules().rules.get(rule.name)
        if resolved is None:
            return "Broken"
        return "Enabled" if resolved.enabled else "Disabled"

    @display(description="Priority")
    def priority_now(self, rule: MergeRule) -> str:
        resolved = active_rules().rules.get(rule.name)
        return str(resolved.priority) if resolved and rule.name != DEFAULT_RULE else NOTHING

    @display(description="Extends")
    def base(self, rule: MergeRule) -> str:
        resolved = active_rules().rules.get(rule.name)
        return (resolved and resolved.extends) or NOTHING

    @display(description="Applies to")
    def applies_to(self, rule: MergeRule) -> str:
        if rule.name == DEFAULT_RULE:
            return "whatever no other rule applies to"
        resolved = active_rules().rules.get(rule.name)
        if resolved is None:
            return active_rules().broken.get(rule.name, NOTHING)
        guard = active_rules().rules.get(INFERRED_RULE)
        is_guarded = guard is not None and guard.enabled and not resolved.conditions.source
        return describe_conditions(resolved) + (", but for what is inferred" if is_guarded else "")

    @display(description="Decides by")
    def decides(self, rule: MergeRule) -> str:
        resolved = active_rules().rules.get(rule.name)
        return describe_strategies(resolved) if resolved else NOTHING

    @display(description="Changed")
    def changed(self, rule: MergeRule) -> str:
        return f"{moment(rule.updated_at)} by {rule.updated_by}"

    # The page of a rule

    @display(description="As it was given")
    def as_given(self, rule: MergeRule) -> SafeString:
        return pretty_json(active_rules().documents.get(rule.name, rule.document))

    @display(description="With all settings that it inherits")
    def as_resolved(self, rule: MergeRule) -> SafeString | str:
        resolved = active_rules().rules.get(rule.name)
        return pretty_json(resolved.to_document()) if resolved else active_rules().broken.get(rule.name, NOTHING)

    @display(description="Changes, the newest first")
    def history_list(self, rule: MergeRule) -> SafeString | str:
        versions = list(rule_history(rule.name)[:SHOWN_VERSIONS])
        if not versions:
            return "never changed"
        every = reverse("admin:rules_mergeruleversion_changelist") + f"?q={rule.name}"
        cells = []
        for change in versions:
            url, label = reverse("admin:rules_mergeruleversion_change", args=[change.pk]), change.get_action_display()
            coloured = badge(label, ACTION_COLOURS[label])
            cells.append((url, change.version, coloured, moment(change.at), change.actor, changed_settings(change)))
        rows = format_html_join("", '<li><a class="mh-link" href="{}">Version {}</a> {} {} by {}<br>{}</li>', cells)
        return format_html('<ol class="mh-versions">{}</ol><a class="mh-link" href="{}">All changes</a>', rows, every)

    @action(description="Try it out", icon="science", permissions=["view"], url_path="try")
    def try_out(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Show what this rule would decide about two texts. Changes nothing."""
        rule = found_or_404(self.get_object(request, object_id))
        form = TrialForm(request.POST if request.method == "POST" else None)
        context = {
            **self.admin_site.each_context(request),
            "title": f"Try out {rule.name}",
            "opts": self.opts,
            "rule": rule,
            "form": form,
            "media": self.media + form.media,
            "result": try_rule(rule.name, form) if form.is_bound and form.is_valid() else None,
        }
        return TemplateResponse(request, "rules/try.html", context)

    # Rehearsal: its page belongs to an app above this one and is found by the name of its address

    @action(description="Rehearse", icon="theater_comedy", permissions=["rehearse"])
    def rehearse(self, request: HttpRequest, obj: MergeRule) -> None:
        """Add the button beside those that save; `save_model` redirects."""

    def has_rehearse_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Return whether the user may rehearse rules."""
        return request.user.has_perms(("rules.change_mergerule", *NEEDED_TO_REHEARSE))

    def get_form(self, request: HttpRequest, obj: MergeRule | None = None, change: bool = False, **kwargs: Any) -> Any:
        """Return the form, with the values that were rehearsed when the user comes back from there."""
        form = super().get_form(request, obj, change=change, **kwargs)
        entered = getattr(request, "entered", None)
        return form if entered is None else type(form.__name__, (form,), {"entered": entered})

    # Changes

    def save_model(self, request: HttpRequest, obj: MergeRule, form: Any, change: bool) -> None:
        """Save the rule by the services. Raises RehearsalRequestedError when it is to be rehearsed instead."""
        if REHEARSE in request.POST:
            raise RehearsalRequestedError
        actor = f"admin:{request.user.get_username()}"
        if change:
            services.rule_replace(document=form.document, actor=actor, expected_version=form.cleaned_data[SEEN])
        else:
            services.rule_register(document=form.document, actor=actor)
        row = MergeRule.objects.get(name=form.document["name"])
        for field in MergeRule._meta.concrete_fields:
            setattr(obj, field.attname, getattr(row, field.attname))

    def delete_model(self, request: HttpRequest, obj: MergeRule) -> None:
        """Delete the rule by the services."""
        services.rule_delete(name=obj.name, actor=f"admin:{request.user.get_username()}")

    def changeform_view(self, request: HttpRequest, object_id: str | None = None, *args: Any, **kwargs: Any) -> Any:
        """Show or save the form; a refusal of the services becomes a message."""
        if EDIT_AGAIN in request.POST:
            # The form shows the values that were rehearsed, which are not saved.
            request.entered = request.POST  # type: ignore[attr-defined]
            request.method = "GET"
            messages.info(request, "Not saved yet: these are the values that you rehearsed.")
        try:
            return super().changeform_view(request, object_id, *args, **kwargs)
        except RehearsalRequestedError:
            # The browser sends the same form there.
            return HttpResponseRedirect(reverse("rehearse_rule", args=[object_id]), preserve_request=True)
        except MemoryHubError as error:
            return redirect_to_list(request, error)

    def delete_view(self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None) -> Any:
        """Ask and delete; a refusal of the services becomes a message."""
        try:
            return super().delete_view(request, object_id, extra_context)
        except MemoryHubError as error:
            return redirect_to_list(request, error)

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        """Return no actions: rules are deleted one by one, each for its own reason."""
        return {}

    def has_delete_permission(self, request: HttpRequest, obj: MergeRule | None = None) -> bool:
        """Return whether the user may delete the rule; built-in rules stay."""
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
        return changed_settings(change)

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


class RehearsalRequestedError(Exception):
    """The form of a rule is sound, and is to be rehearsed instead of saved."""


def redirect_to_list(request: HttpRequest, error: MemoryHubError) -> HttpResponse:
    """Redirect to the list of rules with the detail of an error as a message."""
    messages.error(request, error.detail)
    return HttpResponseRedirect(reverse("admin:rules_mergerule_changelist"))


def describe_conditions(rule: RuleConfig) -> str:
    """Return the conditions of a rule in words."""
    conditions, span = rule.conditions, rule.conditions.importance_range
    parts = [
        conditions.user_id and f"user {conditions.user_id}",
        conditions.household_id and f"household {conditions.household_id}",
        conditions.persona_id and f"persona {conditions.persona_id}",
        conditions.source and f"source {' or '.join(conditions.source)}",
        span.min is not None and f"importance from {span.min:g}",
        span.max is not None and f"importance up to {span.max:g}",
    ]
    return ", ".join(part for part in parts if part) or "everything"


def describe_strategies(rule: RuleConfig) -> str:
    """Return the steps by which a rule decides, in order."""
    arbitration = rule.arbitration
    steps = {
        "importance": arbitration.priority_importance,
        "recency": arbitration.priority_recency,
        "source": arbitration.priority_source,
        "score": True,
        arbitration.default_strategy.value: True,
    }
    return " → ".join(name for name, is_used in steps.items() if is_used)


def try_rule(name: str, form: TrialForm) -> EvaluateOutput | str:
    """Return the decision of a rule about the two memories of the form; the detail of the error where it fails."""
    data, now = form.cleaned_data, utcnow(SYSTEM_CLOCK)
    try:
        records = {
            key: MemoryRecord(key, data[key], when, data[f"{key}_importance"], data[f"{key}_source"])
            for key, when in (("existing", now), ("candidate", now + timedelta(hours=data["hours"])))
        }
        found = services.evaluate(system_access(), records["candidate"], records["existing"], rule=name)
    except MemoryHubError as error:
        return error.detail
    return render_evaluation(system_access(), found)


def changed_settings(change: MergeRuleVersion) -> str:
    """Return the first settings that a change changed, and how many more."""
    before, after = flatten(change.before or {}), flatten(change.after or {})
    paths = [path for path in sorted(before.keys() | after.keys()) if before.get(path, ...) != after.get(path, ...)]
    return ", ".join(paths[:6]) + (f" and {len(paths) - 6} more" if len(paths) > 6 else "")


def flatten(document: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return the settings of a document by their paths."""
    flat: dict[str, Any] = {}
    for name, value in document.items():
        if isinstance(value, Mapping):
            flat |= flatten(value, f"{prefix}{name}.")
        else:
            flat[prefix + name] = value
    return flat


def diff_lines(before: Mapping[str, Any] | None, after: Mapping[str, Any] | None) -> Iterator[tuple[str, str]]:
    """Yield the lines of two documents with `added`, `removed` or `same`."""
    old, new = (
        [] if document is None else json.dumps(document, indent=2, ensure_ascii=False, sort_keys=True).split("\n")
        for document in (before, after)
    )
    # Line by line: a comparison of their characters as well takes seconds for long descriptions.
    for tag, start, end, from_new, to_new in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            yield from (("same", f"  {line}") for line in old[start:end])
        else:
            yield from (("removed", f"- {line}") for line in old[start:end])
            yield from (("added", f"+ {line}") for line in new[from_new:to_new])
