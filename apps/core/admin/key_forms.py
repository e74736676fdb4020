"""Forms of API keys: a new one, a change, a rotation."""

from datetime import timedelta
from itertools import chain
from typing import Any

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.utils.html import format_html, format_html_join
from django.utils.module_loading import import_string
from django.utils.safestring import SafeString
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget, UnfoldBooleanSwitchWidget

from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.keys import DEFAULT_OVERLAP, MISSING_BOUND
from apps.core.domain.scope import IDENTIFIERS, Permission
from apps.core.models import ApiKey

MAX_SUGGESTIONS = 1_000
OVERLAPS = {
    timedelta(): "Not at all",
    timedelta(hours=1): "An hour",
    DEFAULT_OVERLAP: "A day",
    timedelta(days=7): "A week",
    timedelta(days=30): "30 days",
}


def known_identifiers(name: str) -> list[str]:
    """Return identifiers that memories, events or keys have, in their order, at most MAX_SUGGESTIONS.

    name: one of IDENTIFIERS. What knows some is listed in settings.IDENTIFIER_SOURCES.
    """
    sources = (import_string(path)(name, MAX_SUGGESTIONS) for path in settings.IDENTIFIER_SOURCES)
    bounds = ApiKey.objects.exclude(**{name: ""}).order_by(name).values_list(name, flat=True).distinct()
    return sorted({*chain.from_iterable(sources), *bounds[:MAX_SUGGESTIONS]})[:MAX_SUGGESTIONS]


class IdentifierInput(UnfoldAdminTextInputWidget):  # type: ignore[misc]
    """A text field that suggests the identifiers there are; others can be entered."""

    def render(self, name: str, value: Any, attrs: dict[str, Any] | None = None, renderer: Any = None) -> SafeString:
        known = f"mh-known-{name}"
        field = super().render(name, value, {**(attrs or {}), "list": known, "autocomplete": "off"}, renderer)
        options = format_html_join("", '<option value="{}"></option>', ((one,) for one in known_identifiers(name)))
        return format_html('{}<datalist id="{}">{}</datalist>', field, known, options)


class KeyChangeForm(forms.ModelForm):  # type: ignore[type-arg]
    """What may change of a key. Its permission and bound stay."""

    class Meta:
        model = ApiKey
        fields = ["name", "expires_at"]

    def clean_expires_at(self) -> Any:
        expires_at = self.cleaned_data["expires_at"]
        is_new = "expires_at" in self.changed_data
        if is_new and expires_at is not None and expires_at <= utcnow(SYSTEM_CLOCK):
            raise ValidationError("The expiry must lie in the future.")
        return expires_at


class KeyForm(KeyChangeForm):
    """A new key: for whom, or for everyone's memories, which must be said."""

    unbound = forms.BooleanField(
        required=False,
        widget=UnfoldBooleanSwitchWidget,
        help_text="It reaches everyone's memories. An operator key always does.",
    )

    class Meta:
        model = ApiKey
        fields = ["name", "permission", *IDENTIFIERS, "expires_at"]
        labels = {"user_id": "User", "household_id": "Household", "persona_id": "Persona"}
        widgets = dict.fromkeys(IDENTIFIERS, IdentifierInput)

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        is_bound = any(data.get(name) or name in self.errors for name in IDENTIFIERS)
        is_unbound = data.get("unbound")
        if not (is_bound or is_unbound or data.get("permission") == Permission.OPERATOR):
            self.add_error("unbound", MISSING_BOUND)
        if is_bound and is_unbound:
            self.add_error("unbound", "Name what the key is bound to, or say that it is unbound.")
        return data


class RotationForm(forms.Form):
    """For how long the present secret works beside the new one."""

    overlap = forms.TypedChoiceField(
        label="How long the present secret keeps working",
        choices=[(int(overlap.total_seconds()), label) for overlap, label in OVERLAPS.items()],
        coerce=lambda seconds: timedelta(seconds=int(seconds)),
        initial=int(DEFAULT_OVERLAP.total_seconds()),
        widget=UnfoldAdminSelectWidget,
    )
