"""Routing policies in the admin: which events of the timeline become memories, and as what."""

from collections.abc import Iterable
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.admin import ModelAdmin
from unfold.decorators import display
from unfold.widgets import UnfoldAdminTextareaWidget

from apps.core.admin.kit import moment, two_lines
from apps.core.domain.errors import NotFoundError
from apps.semantic.bridge.policies import (
    SETTINGS,
    check_event_types,
    policy_create,
    policy_delete,
    policy_preview,
    policy_update,
)
from apps.semantic.models import OnPruneChoices, RoutingPolicy

STATE_COLOURS = {"On": "success", "Off": None}
PRUNE_COLOURS = {"Demote": "info", "Delete": "warning", "Keep": None}
PRUNE_WORDS = {OnPruneChoices.DEMOTE: "Demote", OnPruneChoices.DELETE: "Delete", OnPruneChoices.KEEP: "Keep"}
SHOWN_TYPES = 4
WHAT = (None, {"fields": ["name", "enabled"]})
WHICH = (
    "Which events",
    {
        "fields": ["household_id", "min_importance", "event_types", "priority"],
        "description": "An event that meets all of it is saved as a memory of the same user, household and persona.",
    },
)
BECOMES = ("What they become", {"fields": ["memory_type", "decay_policy", "source", "confidence"]})
PRUNED = (
    "When they are gone",
    {
        "fields": ["on_prune"],
        "description": "Applied once the last event of a memory is pruned, by retention or by hand. A memory that was "
        "there before, or that somebody else has saved since, is never touched.",
    },
)
MADE = ("What it does", {"fields": ["would_want", ("made", "changed")]})


class LinesField(forms.CharField):
    """A list of words, one a line."""

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(value) if isinstance(value, list) else value

    def to_python(self, value: Any) -> Any:
        return [line.strip() for line in str(super().to_python(value)).splitlines() if line.strip()]

    def has_changed(self, initial: Any, data: Any) -> bool:
        return sorted(initial or []) != sorted(self.to_python(data))


class PolicyForm(forms.ModelForm):
    """What a person decides about a policy."""

    event_types = LinesField(
        required=False,
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 4}),
        help_text="One a line, exactly as applications write them. None: all.",
    )

    class Meta:
        model = RoutingPolicy
        fields = ["name", *SETTINGS]

    def clean_event_types(self) -> list[str]:
        return check_event_types(self.cleaned_data["event_types"])


@admin.register(RoutingPolicy)
class RoutingPolicyAdmin(ModelAdmin):
    """Every change goes through the services."""

    form = PolicyForm
    list_display = ["name", "state", "whose", "wants", "becomes", "then"]
    list_fullwidth = True
    list_filter = ["enabled"]
    search_fields = ["name", "household_id"]
    search_help_text = "A part of the name or of a household's id"
    warn_unsaved_form = True
    readonly_fields = ["would_want", "made", "changed"]
    empty_text = "No event becomes a memory."

    def get_fieldsets(self, request: HttpRequest, obj: RoutingPolicy | None = None) -> Any:
        settings = [WHAT, WHICH, BECOMES, PRUNED]
        return [*settings, MADE] if obj else settings

    def get_readonly_fields(self, request: HttpRequest, obj: RoutingPolicy | None = None) -> list[str]:
        """Memories and audit records name it, so its name stays."""
        return ["name", *self.readonly_fields] if obj else self.readonly_fields

    # Columns

    @display(description="State", ordering="enabled", label=STATE_COLOURS)
    def state(self, policy: RoutingPolicy) -> str:
        return "On" if policy.enabled else "Off"

    @display(description="Whose events", ordering="household_id")
    def whose(self, policy: RoutingPolicy) -> str:
        return f"the household {policy.household_id}" if policy.household_id else "everybody without policies of theirs"

    @display(description="Wants", ordering="-min_importance")
    def wants(self, policy: RoutingPolicy) -> SafeString:
        return two_lines(f"importance from {policy.min_importance:g}", _types(policy.event_types))

    @display(description="Becomes")
    def becomes(self, policy: RoutingPolicy) -> SafeString:
        kind = f"{policy.memory_type or 'untagged'}, {policy.get_decay_policy_display().lower()}"
        return two_lines(kind, f"{policy.source}, confidence {policy.confidence:g}")

    @display(description="When pruned", ordering="on_prune", label=PRUNE_COLOURS)
    def then(self, policy: RoutingPolicy) -> str:
        return PRUNE_WORDS[OnPruneChoices(policy.on_prune)]

    @display(description="If it is on")
    def would_want(self, policy: RoutingPolicy) -> str:
        preview = policy_preview(policy)
        if not preview.of:
            return "no events were recorded yet"
        return f"wants {preview.wanted:,} of the last {preview.of:,} events, as it was saved last"

    @display(description="Events")
    def made(self, policy: RoutingPolicy) -> SafeString:
        url = f"{reverse('admin:semantic_ingestion_changelist')}?{urlencode({'policy': policy.name})}"
        return format_html('<a class="mh-link" href="{}">What it has routed</a>', url)

    @display(description="Changed at")
    def changed(self, policy: RoutingPolicy) -> str:
        return moment(policy.updated_at)

    # Changes

    def save_model(self, request: HttpRequest, obj: RoutingPolicy, form: Any, change: bool) -> None:
        given = {name: form.cleaned_data[name] for name in form.changed_data if name in SETTINGS}
        saved = policy_update(pk=obj.pk, settings=given) if change else policy_create(name=obj.name, settings=given)
        for field in RoutingPolicy._meta.concrete_fields:
            setattr(obj, field.attname, getattr(saved, field.attname))

    def delete_model(self, request: HttpRequest, obj: RoutingPolicy) -> None:
        policy_delete(pk=obj.pk)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[RoutingPolicy]) -> None:
        for pk in queryset.values_list("pk", flat=True):
            try:
                policy_delete(pk=pk)
            except NotFoundError:
                messages.warning(request, "Somebody else has deleted one of them already.")


def _types(types: Iterable[str]) -> str:
    """Some event types, and how many more."""
    known = list(types)
    more = f" and {len(known) - SHOWN_TYPES} more" if len(known) > SHOWN_TYPES else ""
    return ", ".join(known[:SHOWN_TYPES]) + more if known else "every type"
