"""Routing policies in the admin: which events of the timeline become memories, and as what."""

from typing import Any, ClassVar

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin
from unfold.decorators import display
from unfold.widgets import UnfoldAdminTextareaWidget

from apps.core.admin.kit import LinesField, NamedSettings, column, list_link, moment_column, two_lines
from apps.core.admin.steps import copy_columns
from apps.core.domain.errors import NotFoundError
from apps.core.pages.sayings import say
from apps.episodic.selectors import timeline_health
from apps.semantic.bridge.policies import (
    SETTINGS,
    check_event_types,
    policy_create,
    policy_delete,
    policy_preview,
    policy_update,
)
from apps.semantic.models import RoutingPolicy

STATE_COLOURS = {True: "success", False: None}
PRUNE_COLOURS = {"demote": "info", "delete": "warning", "keep": None}
SHOWN_TYPES = 4
WHAT = (None, {"fields": ["name", "enabled"]})
WHICH = (
    _("Which events"),
    {
        "fields": ["household_id", "min_importance", "event_types", "priority"],
        "description": _(
            "An event that meets all of this is saved as a memory of the same user, household and persona."
        ),
    },
)
BECOMES = (_("What they become"), {"fields": ["memory_type", "decay_policy", "source", "confidence"]})
PRUNED = (
    _("When the events are pruned"),
    {
        "fields": ["on_prune"],
        "description": _(
            "Applied when the last event of a memory is pruned, by retention or by hand. A memory that "
            "existed before, or that another writer has saved since, is never changed."
        ),
    },
)
EFFECT = (_("Effect"), {"fields": ["preview", ("routed", "changed")]})


class PolicyForm(forms.ModelForm):
    """The settings of a policy."""

    event_types = LinesField(
        required=False,
        label=_("Event types"),
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 4}),
        help_text=_("One per line, exactly as applications write them. Leave empty for all."),
    )

    class Meta:
        model = RoutingPolicy
        fields = ["name", *SETTINGS]

    def clean_event_types(self) -> list[str]:
        return check_event_types(self.cleaned_data["event_types"])


@admin.register(RoutingPolicy)
class RoutingPolicyAdmin(NamedSettings, ModelAdmin):
    """Routing policies. Their names cannot be changed, because memories and audit records refer to them."""

    form = PolicyForm
    list_display = ["name", "state", "whose", "selects", "becomes", "then"]
    list_fullwidth = True
    list_filter = ["enabled"]
    search_fields = ["name", "household_id"]
    search_help_text = _("Part of the name or of a household's id")
    list_before_template = "episodic/tabs.html"
    warn_unsaved_form = True
    settings_fieldsets = [WHAT, WHICH, BECOMES, PRUNED]
    status_fieldset = EFFECT
    readonly_fields = ["preview", "routed", "changed"]
    empty_text = _("No event becomes a memory.")

    class Media:
        css: ClassVar = {"all": ["episodic/timeline.css"]}

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Show the policies as a tab of the timeline, with how that is for who may see its segments."""
        health = timeline_health() if request.user.has_perm("episodic.view_segment") else None
        return super().changelist_view(request, {"timeline_health": health, **(extra_context or {})})

    # Columns

    state = column(
        _("State"),
        lambda policy: (policy.enabled, gettext("On") if policy.enabled else gettext("Off")),
        ordering="enabled",
        colours=STATE_COLOURS,
    )
    whose = column(
        _("Whose events"),
        lambda policy: (
            gettext("the household %(id)s") % {"id": policy.household_id}
            if policy.household_id
            else gettext("everyone without policies of their own")
        ),
        ordering="household_id",
    )
    then = column(
        _("When pruned"),
        lambda policy: (policy.on_prune, say(policy.on_prune.capitalize())),
        ordering="on_prune",
        colours=PRUNE_COLOURS,
    )
    routed = column(
        _("Events"),
        lambda policy: list_link("admin:semantic_ingestion_changelist", gettext("Routed events"), policy=policy.name),
    )
    changed = moment_column("updated_at", _("Changed at"))

    @display(description=_("Selects"), ordering="-min_importance")
    def selects(self, policy: RoutingPolicy) -> SafeString:
        types = ", ".join(policy.event_types[:SHOWN_TYPES]) or gettext("every type")
        more = len(policy.event_types) - SHOWN_TYPES
        if more > 0:
            types = gettext("%(names)s and %(count)s more") % {"names": types, "count": more}
        return two_lines(gettext("importance from %(share)s") % {"share": f"{policy.min_importance:g}"}, types)

    @display(description=_("Becomes"))
    def becomes(self, policy: RoutingPolicy) -> SafeString:
        kind = f"{policy.memory_type or gettext('untagged')}, {policy.get_decay_policy_display().lower()}"
        words = gettext("%(source)s, confidence %(share)s")
        return two_lines(kind, words % {"source": policy.source, "share": f"{policy.confidence:g}"})

    @display(description=_("If enabled"))
    def preview(self, policy: RoutingPolicy) -> str:
        wanted, of = policy_preview(policy)
        if not of:
            return gettext("no events were recorded yet")
        words = gettext("selects %(wanted)s of the last %(all)s events, with the settings as last saved")
        return words % {"wanted": f"{wanted:,}", "all": f"{of:,}"}

    # Changes

    def save_model(self, request: HttpRequest, obj: RoutingPolicy, form: Any, change: bool) -> None:
        settings = {name: form.cleaned_data[name] for name in form.changed_data if name in SETTINGS}
        if change:
            saved = policy_update(pk=obj.pk, settings=settings)
        else:
            saved = policy_create(name=obj.name, settings=settings)
        copy_columns(saved, obj)

    def delete_model(self, request: HttpRequest, obj: RoutingPolicy) -> None:
        policy_delete(pk=obj.pk)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[RoutingPolicy]) -> None:
        for pk in queryset.values_list("pk", flat=True):
            try:
                policy_delete(pk=pk)
            except NotFoundError:
                messages.warning(request, gettext("One of them has already been deleted."))
