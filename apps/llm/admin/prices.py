"""Prices of models in the admin: the rows by which calls are charged, and which of them need attention."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin
from unfold.decorators import display
from unfold.views import ChangeList

from apps.core.admin.kit import column, moment, operator_access, two_lines
from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.words import Words
from apps.llm.domain.pricing import ANY_MODEL
from apps.llm.guards.rules import guard_rules
from apps.llm.models import Price
from apps.llm.pricing.prices import (
    COMES_WITH_THE_HUB,
    called_models,
    confirmed_on,
    find_prices,
    old_prices,
    price_save,
    prices_in_force,
)
from apps.llm.status import configured_models

STATES = {"holds": _("In effect"), "old": _("Old"), "replaced": _("Replaced"), "to come": _("Not yet in effect")}
STATE_COLOURS = {"holds": "success", "old": "warning", "replaced": None, "to come": "info"}
SHOWN_NAMES = 6
EXPLAINED = _(
    "For a new price add a row with its first day, so that past costs stay explained; correct a row only where it was "
    "wrong. Saving a row confirms it."
)


class PriceForm(forms.ModelForm):
    """What a person knows of a price."""

    class Meta:
        model = Price
        fields = [
            "provider", "model", "input_per_million", "output_per_million", "above_input_tokens", "valid_from",
            "source",
        ]  # fmt: skip
        labels = {"above_input_tokens": _("For input above")}


class PriceList(ChangeList):
    """A page of prices; each knows whether it is one of those that hold, and whether it is old."""

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        table = prices_in_force()
        holding = {price.pk for prices in table.values() for price in prices}
        old = {price.pk for price in old_prices(table, models_in_use(), utcnow(SYSTEM_CLOCK).date())}
        for price in self.result_list:
            price.holds, price.is_old = price.pk in holding, price.pk in old


@admin.register(Price)
class PriceAdmin(ModelAdmin):
    """Every change goes through the service."""

    form = PriceForm
    list_display = ["of_model", "into", "out", "since", "state", "found"]
    list_display_links = ["of_model"]
    list_filter = ["provider"]
    list_fullwidth = True
    list_per_page = 100
    list_before_template = "llm/prices.html"
    search_fields = ["provider", "model"]
    search_help_text = _("Part of a model's or provider's name")
    fieldsets = [
        (None, {"fields": [("provider", "model")], "description": EXPLAINED}),
        (_("Price"), {"fields": [("input_per_million", "output_per_million"), "above_input_tokens"]}),
        (_("Since when, and where you found it"), {"fields": ["valid_from", "source"]}),
    ]  # fmt: skip
    warn_unsaved_form = True
    empty_text = _("The hub adds the prices that it knows when it starts.")

    class Media:
        css = {"all": ["llm/models.css"]}

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[PriceList]:
        return PriceList

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        return {"valid_from": utcnow(SYSTEM_CLOCK).date(), **super().get_changeform_initial_data(request)}

    def get_fieldsets(self, request: HttpRequest, obj: Price | None = None) -> Any:
        return [*self.fieldsets, (_("Edited"), {"fields": ["edited"]})] if obj else self.fieldsets

    def get_readonly_fields(self, request: HttpRequest, obj: Price | None = None) -> list[str]:
        return ["edited"]

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        return super().changelist_view(request, {**price_notes(), **(extra_context or {})})

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        try:
            return super().changeform_view(request, *args, **kwargs)
        except ValidationError:
            said = gettext("Another person entered a price for this model and day at the same time. Check it again.")
            messages.error(request, said)
            return HttpResponseRedirect(reverse("admin:llm_price_changelist"))

    def save_model(self, request: HttpRequest, obj: Price, form: Any, change: bool) -> None:
        price_save(price=obj, actor=operator_access(request).actor)

    def has_delete_permission(self, request: HttpRequest, obj: Price | None = None) -> bool:
        """Keep the prices that calls were charged by; a wrong one is corrected."""
        return False

    # Columns

    @display(description=_("Model"), ordering="model")
    def of_model(self, price: Price) -> SafeString:
        model = gettext("any other model (*)") if price.model == ANY_MODEL else price.model
        if not price.above_input_tokens:
            return two_lines(model, price.provider)
        values = {"provider": price.provider, "count": f"{price.above_input_tokens:,}"}
        return two_lines(model, gettext("%(provider)s, above %(count)s input tokens") % values)

    @display(description=_("Input, a million"), ordering="input_per_million")
    def into(self, price: Price) -> str:
        return exact_dollars(price.input_per_million)

    @display(description=_("Output, a million"), ordering="output_per_million")
    def out(self, price: Price) -> str:
        return exact_dollars(price.output_per_million)

    since = column(_("In effect from"), lambda price: price.valid_from.isoformat(), ordering="valid_from")

    @display(description=_("State"), label=STATE_COLOURS)
    def state(self, price: Any) -> tuple[str, Words]:
        state = "old" if price.is_old else "holds"
        if price.valid_from > utcnow(SYSTEM_CLOCK).date():
            state = "to come"
        elif not price.holds:
            state = "replaced"
        return state, STATES[state]

    @display(description=_("Found"))
    def found(self, price: Price) -> SafeString:
        by = gettext(COMES_WITH_THE_HUB)
        if price.edited_by != COMES_WITH_THE_HUB:
            by = gettext("by %(name)s") % {"name": price.edited_by}
        return format_html(
            '<span class="mh-lines"><span class="mh-cell" title="{}">{}</span><span class="mh-sub">{}</span></span>',
            price.source,
            source_link(price.source),
            f"{by}, {confirmed_on(price).isoformat()}",
        )

    edited = column(_("Last saved"), lambda price: f"{moment(price.edited_at)}, {price.edited_by}")


def source_link(source: str) -> SafeString | str:
    """Render where a price was found; a link to a page, by the name of its site, when it begins with an address."""
    address, _, rest = source.partition(" ")
    site = address.removeprefix("https://").partition("/")[0]
    if not address.startswith("https://") or not site:
        return source
    return format_html('<a class="mh-link" href="{}" rel="noopener noreferrer">{}</a> {}', address, site, rest)


def exact_dollars(amount: Any) -> str:
    """Return an amount with all its places, at least two."""
    whole, _, places = f"{amount:f}".partition(".")
    return f"${int(whole):,}.{places.rstrip('0').ljust(2, '0')}"


def models_in_use() -> set[tuple[str, str]]:
    """Return the provider and the name of each model that is configured or was called lately."""
    configured = configured_models(rules=guard_rules())
    return {(model.provider, model.model) for model in configured} | called_models()


def price_notes() -> dict[str, Any]:
    """Return what needs attention: models without a price, and old prices, those of configured models by name."""
    rules, table = guard_rules(), prices_in_force()
    configured = configured_models(rules=rules)
    today = utcnow(SYSTEM_CLOCK).date()
    old = {price.pk for price in old_prices(table, models_in_use(), today)}
    used = [
        f"{model.provider} {model.model}"
        for model in configured
        if any(price.pk in old for price in find_prices(table, model.provider, model.model))
    ]
    return {
        "unpriced": [f"{model.provider} {model.model}" for model in configured if not model.is_priced],
        "is_budgeted": rules.budget.is_enforced,
        "old": {"count": len(old), "used": used[:SHOWN_NAMES]},
    }
