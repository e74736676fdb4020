"""Retention policies in the admin: how long events are kept. A change that deletes events must be confirmed."""

from collections import Counter
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, ClassVar

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin
from unfold.decorators import action, display

from apps.core.admin.kit import CONFIRMED, NOTHING, column, found_or_404, moment, operator_access
from apps.core.admin.lists import comparable
from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.errors import MemoryHubError, NotFoundError
from apps.core.domain.scope import Access, Scope
from apps.core.pages.sayings import say
from apps.episodic.admin.columns import TimelineTab, count_of
from apps.episodic.admin.timeline_bars import draw
from apps.episodic.domain.event import MICROSECOND
from apps.episodic.domain.histogram import Buckets, EventHistogram, plan_buckets
from apps.episodic.domain.retention import GLOBAL_HOUSEHOLD, RetentionRule, cutoffs_at
from apps.episodic.domain.window import Window
from apps.episodic.models import RetentionPolicy
from apps.episodic.selectors import event_extent, event_histogram
from apps.episodic.services import retention_create, retention_delete, retention_preview, retention_update

ASKED = ("household", "days")
# As many as the column of a policy holds.
MAX_DAYS = 2_147_483_647
SHORTEST_SLIDER = 30
CSRF = "csrfmiddlewaretoken"
STATE_COLOURS = {True: "warning", False: None}
FOR_GOOD = _(
    "Older events are deleted for good, both as rows and from archived segments. Memories that were made from them "
    "are demoted or deleted, as their routing policy says. Only a backup can restore the events. The schedule "
    "timeline: prune deletes them once a day."
)
SWITCH = _(
    "Off: nothing is deleted under this policy. A household whose own policy is off keeps everything, even if the "
    "global policy is on."
)
HOUSEHOLD = _(
    "Its policy replaces the global one for its events. Leave blank for the global policy, for everybody without a "
    "policy of their own."
)


@dataclass(frozen=True)
class Governed:
    """The events that a policy is for: those of a household, or for the global one of all households without their own.

    others: households with policies of their own, when it is the global one.
    """

    scope: Scope
    others: tuple[str, ...] = ()

    def count(self, access: Access, buckets: Buckets, window: Window = Window()) -> EventHistogram:  # noqa: B008
        """Count these events by time and type."""
        found = event_histogram(access, self.scope, buckets, window=window)
        totals = {name: Counter(dict(enumerate(counts))) for name, counts in found.counts.items()}
        for household in self.others:
            theirs = event_histogram(access, Scope(household_id=household), buckets, window=window)
            for name, counts in theirs.counts.items():
                totals[name].subtract(dict(enumerate(counts)))
        kept = {name: [counts[number] for number in range(buckets.count)] for name, counts in totals.items()}
        return EventHistogram(buckets, {name: counts for name, counts in kept.items() if any(counts)}, found.since)


def horizon_context(request: HttpRequest, asked: Mapping[str, Any], may_change: bool) -> dict[str, Any]:
    """Return the slider, the bars and what would go, for the policy and the days that are asked for."""
    policies = list(RetentionPolicy.objects.order_by("household_id"))
    household = comparable(asked.get(ASKED[0]))
    policy = next((one for one in policies if one.household_id == household), policies[0] if policies else None)
    if policy is None:
        return {}
    given = str(asked.get(ASKED[1]) or "")
    days = int(given) if given.isascii() and given.isdecimal() and len(given) < 11 else 0
    now, days = utcnow(SYSTEM_CLOCK), days if 1 <= days <= MAX_DAYS else policy.days
    context = {"policies": policies, "policy": policy, "days": days, "now": now, "may_change": may_change}
    try:
        return {"horizon": context | going_context(operator_access(request), policy, days, now)}
    except MemoryHubError as error:
        return {"horizon": {**context, "problem": say(str(error.detail))}}


def going_context(access: Access, policy: RetentionPolicy, days: int, now: datetime) -> dict[str, Any]:
    """Return the bars of a policy's events, and how many of each type are older than so many days."""
    governed = Governed(Scope(household_id=policy.household_id))
    if policy.household_id == GLOBAL_HOUSEHOLD:
        own = RetentionPolicy.objects.exclude(household_id=GLOBAL_HOUSEHOLD).order_by("household_id")
        governed = Governed(Scope(), tuple(own.values_list("household_id", flat=True)))
    first, last = event_extent(access, governed.scope) or (now, now)
    buckets = plan_buckets(first, max(last, now) + MICROSECOND)
    before = cutoffs_at([RetentionRule("", days, is_enabled=True)], now).of("")
    going = governed.count(access, buckets, Window(None, before - MICROSECOND)).by_type if before else {}
    drawing = draw(governed.count(access, buckets), None)
    return {
        "drawing": drawing,
        "all_words": count_of(drawing.total, "event"),
        "days_words": count_of(days, "day"),
        "before": before,
        "going": going,
        "total": sum(going.values()),
        "longest": max(SHORTEST_SLIDER, (now - first) // timedelta(days=1) + 1, policy.days),
        "change": reverse("admin:episodic_retentionpolicy_change", args=[policy.pk]),
    }


class RetentionForm(forms.ModelForm):
    """The fields of a policy that a person sets."""

    class Meta:
        model = RetentionPolicy
        fields = ["household_id", "days", "is_enabled"]
        labels = {"household_id": _("Household"), "is_enabled": _("Delete what is older")}
        help_texts = {"household_id": HOUSEHOLD, "is_enabled": SWITCH, "days": _("Counted from when they happened.")}


@admin.register(RetentionPolicy)
class RetentionPolicyAdmin(TimelineTab, ModelAdmin):
    """Policies. Every change goes through the services; one that deletes events has to be confirmed first."""

    class Media:
        css: ClassVar = {"all": ["episodic/timeline.css"]}
        js: ClassVar = ["episodic/timeline.js"]

    form = RetentionForm
    list_display = ["whose", "state", "keeps", "last_run", "deleted"]
    list_fullwidth = True
    list_before_template = "episodic/retention.html"
    ordering = ["household_id"]
    search_fields = ["household_id"]
    search_help_text = _("Part of a household's id")
    actions_detail = ["preview"]
    warn_unsaved_form = True
    readonly_fields = ["whose", "last_run", "deleted"]
    empty_text = _("Every event is kept.")

    def get_fieldsets(self, request: HttpRequest, obj: RetentionPolicy | None = None) -> Any:
        """Return the fields; the household of a policy cannot be changed."""
        household = "whose" if obj else "household_id"
        policy = (None, {"fields": [household, "days", "is_enabled"], "description": FOR_GOOD})
        return [policy, (gettext("Last run"), {"fields": [("last_run", "deleted")]})] if obj else [policy]

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Show the policies, and above them what one of them would delete with other days."""
        asked = request.GET.copy()
        may_change = self.has_change_permission(request)
        horizon = horizon_context(request, request.GET, may_change) if self.has_view_permission(request) else {}
        for name in ASKED:
            asked.pop(name, None)
        request.GET = asked  # type: ignore[assignment]
        return super().changelist_view(request, {**horizon, **(extra_context or {})})

    # Columns

    whose = column(_("Whose events"), lambda policy: whose(policy.household_id), ordering="household_id")

    state = column(
        _("State"),
        lambda policy: (policy.is_enabled, gettext("Deletes") if policy.is_enabled else gettext("Off")),
        ordering="is_enabled",
        colours=STATE_COLOURS,
    )

    @display(description=_("Keeps"), ordering="days")
    def keeps(self, policy: RetentionPolicy) -> str:
        days = count_of(policy.days, "day")
        return days if policy.is_enabled else gettext("everything; %(days)s when it is on") % {"days": days}

    @display(description=_("Last run"), ordering="last_run_at")
    def last_run(self, policy: RetentionPolicy) -> str:
        return moment(policy.last_run_at) if policy.last_run_at else gettext("never")

    @display(description=_("Events deleted then"), ordering="last_pruned_count")
    def deleted(self, policy: RetentionPolicy) -> str:
        return NOTHING if policy.last_pruned_count is None else f"{policy.last_pruned_count:,}"

    # What a change would delete

    @action(description=_("What would it delete?"), icon="preview", permissions=["view"], url_path="preview")
    def preview(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Show what the next run would delete if the policy were on. Changes nothing."""
        policy = found_or_404(self.get_object(request, object_id))
        question = gettext("What the policy for %(whose)s would delete, if it is on")
        question %= {"whose": whose(policy.household_id)}
        rule = RetentionRule(policy.household_id, policy.days, is_enabled=True)
        return self._page(request, policy, question=question, preview=preview_context(policy.household_id, rule))

    def changeform_view(self, request: HttpRequest, object_id: str | None = None, *args: Any, **kwargs: Any) -> Any:
        question = None
        if request.method == "POST" and CONFIRMED not in request.POST:
            may_save = self.has_change_permission(request) if object_id else self.has_add_permission(request)
            question = self._question(request, object_id) if may_save else None
        try:
            return question or super().changeform_view(request, object_id, *args, **kwargs)
        except (NotFoundError, ValidationError):
            messages.error(request, gettext("The policies were changed by another request. Check them, and try again."))
            return HttpResponseRedirect(reverse("admin:episodic_retentionpolicy_changelist"))

    def _question(self, request: HttpRequest, object_id: str | None) -> HttpResponse | None:
        """Return the page that asks for confirmation, if the form is valid and would delete more than now."""
        before = self.get_object(request, object_id) if object_id else None
        # Validation writes into the object that it validates.
        form = self.get_form(request, before, change=bool(object_id))(request.POST, instance=copy(before))
        stored = before and (before.days, before.is_enabled)
        if not form.is_valid() or (object_id and before is None):
            return None
        household = before.household_id if before else form.cleaned_data["household_id"]
        policy = RetentionRule(household, form.cleaned_data["days"], form.cleaned_data["is_enabled"])
        if not policy.is_enabled or (stored and stored[1] and policy.days >= stored[0]):
            return None
        question = gettext("Delete the events of %(whose)s that are older than %(days)s?")
        question %= {"whose": whose(household), "days": count_of(policy.days, "day")}
        return self._page(
            request,
            before,
            question=question,
            preview=preview_context(household, policy),
            entered=[*((name, value) for name, value in request.POST.items() if name != CSRF), (CONFIRMED, "yes")],
            button=gettext("Save, and delete them"),
        )

    def _page(self, request: HttpRequest, policy: RetentionPolicy | None, **context: Any) -> TemplateResponse:
        context = {
            **self.admin_site.each_context(request),
            "title": gettext("Retention"),
            "opts": self.opts,
            "original": policy,
            "for_good": FOR_GOOD,
            **context,
        }
        return TemplateResponse(request, "episodic/retention_question.html", context)

    # Changes

    def save_model(self, request: HttpRequest, obj: RetentionPolicy, form: Any, change: bool) -> None:
        if change:
            retention_update(pk=obj.pk, days=obj.days, is_enabled=obj.is_enabled)
        else:
            made = retention_create(household_id=obj.household_id, days=obj.days, is_enabled=obj.is_enabled)
            obj.pk = made.pk

    def delete_model(self, request: HttpRequest, obj: RetentionPolicy) -> None:
        retention_delete(pk=obj.pk)

    def render_delete_form(self, request: HttpRequest, context: dict[str, Any]) -> HttpResponse:
        policy: RetentionPolicy = context["object"]
        question = gettext("Delete the policy for %(whose)s? The global one then applies to its events.")
        question %= {"whose": whose(policy.household_id)}
        return self._page(
            request,
            policy,
            question=question,
            preview=preview_context(policy.household_id, None),
            entered=[("post", "yes")],
            button=gettext("Delete the policy"),
        )

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        """Return none: policies are deleted one at a time, after a preview of what that would delete."""
        return {}

    def has_delete_permission(self, request: HttpRequest, obj: RetentionPolicy | None = None) -> bool:
        return bool(super().has_delete_permission(request, obj)) and (
            obj is None or obj.household_id != GLOBAL_HOUSEHOLD
        )


def whose(household_id: str) -> str:
    """Return whose events a policy is for."""
    if not household_id:
        return gettext("everybody without their own policy")
    return gettext("the household %(id)s") % {"id": household_id}


def preview_context(household_id: str, policy: RetentionRule | None) -> dict[str, Any]:
    """Return what the page says about the events that a changed policy would delete; None: a deleted policy."""
    preview = retention_preview(household_id=household_id, policy=policy)
    removal = preview.removal
    facts = [
        (gettext("Rows"), f"{removal.rows:,}"),
        (gettext("Archived events"), f"{removal.archived:,}"),
        (gettext("Files that are rewritten or removed"), f"{removal.segments:,}"),
    ]
    if removal.events:
        sentence = gettext("The next run would delete %(events)s.")
        if preview.anyway:
            sentence = gettext("The next run would delete %(events)s; without a change %(anyway)s.")
        sentence %= {"events": count_of(removal.events, "event"), "anyway": f"{preview.anyway:,}"}
    elif policy or RetentionPolicy.objects.filter(household_id=GLOBAL_HOUSEHOLD, is_enabled=True).exists():
        sentence = gettext("Nothing is that old yet. Events are deleted when they reach that age.")
    else:
        sentence = gettext("Nothing is deleted then.")
    return {"sentence": sentence, "facts": facts if removal.events else [], "damaged": removal.damaged}
