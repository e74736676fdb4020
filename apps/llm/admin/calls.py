"""Calls to chat models in the admin: who asked which one what for, tokens, cost, duration and outcome."""

import json
from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.contrib import admin
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin
from unfold.contrib.filters.admin import DropdownFilter, RangeDateTimeFilter
from unfold.decorators import display
from unfold.views import ChangeList

from apps.core.admin.kit import (
    NOTHING,
    ReadOnly,
    badge,
    column,
    dollars,
    moment,
    preformatted,
    pretty_json,
    two_lines,
)
from apps.core.admin.lists import BoundedPaginator, IdentifierFilter, SearchedList, as_uuid, comparable
from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.latency import SampleQuality
from apps.core.pages.times import in_figures
from apps.llm.domain.refusals import Advice, advice_for
from apps.llm.guards.calls import RECENT, recent_latencies
from apps.llm.guards.rules import guard_rules
from apps.llm.models import CallGuard, CallOutcome, ModelCall
from apps.llm.reasons import reason_words
from apps.llm.status import configured_models

LATEST = 50_000
# What the list does not show, and what makes records large.
CONTENT = ("prompt", "answer")
MOMENTS = ("started_at_from_0", "started_at_from_1", "started_at_to_0", "started_at_to_1")
Calls = QuerySet[ModelCall]


class CallPaginator(BoundedPaginator):
    """Counts in the order in which the index has the calls."""

    counted_by = ("-started_at", "-id")


class OutcomeFilter(DropdownFilter):
    title, parameter_name = _("outcome"), "outcome"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(str(value), gettext(label)) for value, label in CallOutcome.choices]

    def queryset(self, request: HttpRequest, queryset: Calls) -> Calls:
        return queryset.filter(outcome=comparable(self.value())) if self.value() else queryset


class GuardFilter(DropdownFilter):
    title, parameter_name = _("refused by"), "guard"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(str(value), gettext(label)) for value, label in CallGuard.choices]

    def queryset(self, request: HttpRequest, queryset: Calls) -> Calls:
        if not self.value():
            return queryset
        # Redundant, so that the index of what did not succeed is used.
        return queryset.filter(~Q(outcome=CallOutcome.SUCCEEDED), guard=comparable(self.value()))


class ProviderFilter(IdentifierFilter):
    title, parameter_name = _("provider"), "provider"


class ModelFilter(IdentifierFilter):
    title, parameter_name = _("model"), "model"


class ActorFilter(IdentifierFilter):
    title, parameter_name = _("who"), "actor"


class PurposeFilter(IdentifierFilter):
    title, parameter_name = _("purpose"), "purpose"


FILTERS = [
    OutcomeFilter,
    GuardFilter,
    ProviderFilter,
    ModelFilter,
    ActorFilter,
    PurposeFilter,
    ("started_at", RangeDateTimeFilter),
]


class CallList(ChangeList):
    """The calls of a span of time, or the latest ones: a page costs the same with many of them.

    Records have indexes by time, by model, and by time of those that did not succeed. A list that is narrowed to a span
    of time or to one call reads that; any other one searches among the latest calls only, and says so.
    """

    def get_queryset(self, request: HttpRequest, exclude_parameters: Any = None) -> Calls:
        found: Calls = super().get_queryset(request, exclude_parameters)
        is_one = as_uuid(comparable(request.GET.get("q"))) is not None
        self.is_narrowed = is_one or any(request.GET.get(name) for name in MOMENTS)
        if self.is_narrowed:
            return found
        newest = ModelCall.objects.order_by("-pk").values_list("pk", flat=True).first()
        return found.filter(pk__gt=(newest or 0) - LATEST)


TONES = {
    CallOutcome.SUCCEEDED: "good",
    CallOutcome.REFUSED: "warn",
    CallOutcome.FAILED: "bad",
    CallOutcome.UNUSABLE: "bad",
}
SHOWN_PERCENTILES = ("p50", "p90", "p95", "p99")
OUTCOME_COLOURS = {
    CallOutcome.SUCCEEDED: "success",
    CallOutcome.REFUSED: "warning",
    CallOutcome.FAILED: "danger",
    CallOutcome.UNUSABLE: "danger",
}
NOT_KEPT = _("Not kept. MEMORYHUB_CHAT_KEEP_CONTENT=true keeps what is asked and answered from then on.")
NOT_SHOWN = _("Kept, but not shown while MEMORYHUB_CHAT_KEEP_CONTENT is off. It is removed with its call.")
NOT_ASKED = _("no model was asked")
NOTHING_ASKED = _("Nothing was sent: a guard refused the call before a model was asked.")


@admin.register(ModelCall)
class ModelCallAdmin(SearchedList, ReadOnly, ModelAdmin):
    """The gateway writes these records, once."""

    list_display = ["call", "asked", "tokens", "cost", "duration", "ended", "when"]
    list_display_links = ["call"]
    list_filter = FILTERS
    list_filter_sheet = True
    list_before_template = "llm/calls.html"
    paginator = CallPaginator
    ordering = ["-started_at", "-id"]
    search_help_text = _("A complete id, person, purpose, model, provider or reason")
    empty_text = _("Calls appear once the hub asks a chat model.")
    fieldsets = [
        (None, {"fields": ["outcome_explained", "what_helps"]}),
        (_("What for"), {"fields": [("actor", "purpose"), "uuid"]}),
        (_("Model"), {"fields": [("model_asked", "provider_asked"), "attempts"]}),
        (_("Tokens and cost"), {"fields": [("input_tokens", "output_tokens"), ("counted", "cost_exact")]}),
        (_("Time"), {"fields": [("started", "duration_exact")]}),
        (_("Content"), {"fields": ["what_was_asked", "what_was_answered"]}),
    ]  # fmt: skip
    readonly_fields = [
        "outcome_explained", "what_helps", "model_asked", "provider_asked", "counted", "cost_exact", "started",
        "duration_exact", "what_was_asked", "what_was_answered",
    ]  # fmt: skip

    class Media:
        css = {"all": ["llm/models.css"]}

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[CallList]:
        return CallList

    def get_queryset(self, request: HttpRequest) -> QuerySet[ModelCall]:
        calls: QuerySet[ModelCall] = super().get_queryset(request)
        return calls.defer(*CONTENT)

    def find_by_words(self, queryset: Calls, term: str) -> Calls:
        """Return the calls of that person, purpose, model, provider or reason."""
        return queryset.filter(Q(actor=term) | Q(purpose=term) | Q(model=term) | Q(provider=term) | Q(reason=term))

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        is_configured = bool(configured_models(rules=guard_rules()))
        shown = {"is_configured": is_configured, "summary": call_summary(), "latest": f"{LATEST:,}"}
        return super().changelist_view(request, {**shown, **(extra_context or {})})

    # Columns

    call = column(_("What for"), lambda call: two_lines(call.purpose, call.actor))
    asked = column(_("Model"), lambda call: two_lines(call.model or NOTHING, call.provider or str(NOT_ASKED)))

    @display(description=_("Tokens in + out"))
    def tokens(self, call: ModelCall) -> SafeString:
        return two_lines(
            f"{call.input_tokens:,} + {call.output_tokens:,}", gettext("estimated") if call.is_estimated else ""
        )

    cost = column(_("Cost"), lambda call: dollars(call.cost_usd))

    @display(description=_("Took"))
    def duration(self, call: ModelCall) -> SafeString:
        tries = ngettext("%(count)s try", "%(count)s tries", call.attempts) % {"count": call.attempts}
        return two_lines(in_figures(call.latency_ms), tries if call.attempts > 1 else "")

    @display(description=_("Outcome"))
    def ended(self, call: ModelCall) -> SafeString:
        return format_html('{}<span class="mh-why">{}</span>', outcome_badge(call), why(call))

    @display(description=_("Started at"), ordering="started_at")
    def when(self, call: ModelCall) -> SafeString:
        day, _, time = moment(call.started_at).partition(" ")
        return two_lines(day, time)

    # The page of a call

    @display(description=_("Outcome"))
    def outcome_explained(self, call: ModelCall) -> SafeString:
        return format_html('{} <span class="mh-mono">{}</span>', outcome_badge(call), why(call))

    @display(description=_("What to do"))
    def what_helps(self, call: ModelCall) -> SafeString | str:
        if call.outcome != CallOutcome.REFUSED:
            return NOTHING
        return format_html(
            '{} {} <a class="mh-link" href="{}#mh-refused">{}</a>',
            gettext(advice_for(call.guard, call.reason).what),
            remedy(advice_for(call.guard, call.reason)),
            reverse("admin:llm_budgetday_changelist"),
            gettext("Refused calls"),
        )

    model_asked = column(_("Model"), lambda call: call.model or NOTHING)
    provider_asked = column(_("Provider"), lambda call: call.provider or str(NOT_ASKED))

    @display(description=_("Counted by"))
    def counted(self, call: ModelCall) -> str:
        if call.is_estimated:
            return gettext("the hub, as an estimate: the provider did not say")
        return gettext("the provider")

    @display(description=_("Cost"))
    def cost_exact(self, call: ModelCall) -> str:
        return gettext("unknown: the model had no price") if call.cost_usd is None else f"${call.cost_usd:f}"

    started = column(_("Started at"), lambda call: moment(call.started_at))

    @display(description=_("Took"))
    def duration_exact(self, call: ModelCall) -> str:
        took = f"{call.latency_ms:,.1f} ms"
        return gettext("%(time)s, with all tries and the waits between them") % {"time": took}

    what_was_asked = column(_("Asked"), lambda call: content(call, call.prompt))
    what_was_answered = column(_("Answered"), lambda call: content(call, call.answer))


def outcome_badge(call: ModelCall) -> SafeString:
    """Render how a call ended."""
    outcome = CallOutcome(call.outcome)
    return SafeString(badge(gettext(outcome.label), OUTCOME_COLOURS[outcome]))


def why(call: ModelCall) -> str:
    """Return which guard refused a call and for what reason, or why it failed."""
    reason = reason_words(call.reason)
    if not call.guard:
        return reason
    return gettext("%(guard)s: %(reason)s") % {"guard": call.get_guard_display().lower(), "reason": reason}


def remedy(advice: Advice) -> SafeString:
    """Render what helps against a refusal, with the setting that decides it."""
    if not advice.setting:
        return format_html("{}", gettext(advice.remedy))
    setting = format_html('<code class="mh-mono">{}</code>', advice.setting)
    return format_html("{} {}", gettext(advice.remedy), format_html(gettext("The setting is {}."), setting))


def content(call: ModelCall, text: str | None) -> SafeString | str:
    """Render what was asked or answered, if the operator keeps it."""
    if text is None:
        return str(NOTHING_ASKED if call.outcome == CallOutcome.REFUSED else NOT_KEPT)
    if not settings.MEMORYHUB.guards.keep_content:
        return str(NOT_SHOWN)
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return preformatted(text)
    return pretty_json(document) if isinstance(document, dict | list) else preformatted(text)


def call_summary(clock: Clock = SYSTEM_CLOCK) -> dict[str, Any]:
    """Return shares of the outcomes of the last day's calls, and percentiles of their latency by provider."""
    recent = ModelCall.objects.filter(started_at__gte=utcnow(clock) - RECENT)
    counts = dict(recent.order_by().values_list("outcome").annotate(Count("pk")))
    total, link = sum(counts.values()), reverse("admin:llm_modelcall_changelist")
    outcomes = [
        {
            "label": gettext(outcome.label),
            "count": f"{counts.get(outcome.value, 0):,}",
            "share": round(100 * counts.get(outcome.value, 0) / total, 1),
            "tone": TONES[outcome],
            "link": f"{link}?outcome={outcome.value}",
        }
        for outcome in (CallOutcome if counts else ())
    ]
    return {
        "total": f"{total:,}",
        "outcomes": outcomes,
        "latencies": list(describe_latencies(clock)),
        "percentiles": SHOWN_PERCENTILES,
    }


def describe_latencies(clock: Clock) -> Iterator[dict[str, Any]]:
    """Yield each provider with the latency of its calls, and how far that can be trusted."""
    found = recent_latencies(clock=clock)
    slowest = max((measured.summary.p99 for measured in found.values()), default=0.0) or 1.0
    for provider, measured in sorted(found.items()):
        summary = measured.summary
        note = gettext("only the first calls, which do not count")
        if count := summary.count:
            note = ngettext("of %(n)s call", "of %(n)s calls", count) % {"n": f"{count:,}"}
            if measured.quality is SampleQuality.INSUFFICIENT:
                few = ngettext(
                    "%(n)s call: too few to draw conclusions", "%(n)s calls: too few to draw conclusions", count
                )
                note = few % {"n": f"{count:,}"}
        values = [(name, getattr(summary, name)) for name in SHOWN_PERCENTILES] if count else []
        yield {
            "provider": provider,
            "bars": [
                {"name": name, "value": in_figures(value), "share": f"{max(1.0, 100 * value / slowest):.1f}"}
                for name, value in values
            ],
            "note": note,
        }
