"""Forms of API keys: a new one, a change, a rotation."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from itertools import chain
from typing import Any

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.utils.html import format_html, format_html_join
from django.utils.module_loading import import_string
from django.utils.safestring import SafeString
from django.utils.translation import gettext, gettext_noop, ngettext
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget, UnfoldBooleanSwitchWidget

from apps.core.db.user_locks import locked_among
from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.keys import DEFAULT_OVERLAP, MISSING_BOUND
from apps.core.domain.origin import CONNECTED, WriteOrigin
from apps.core.domain.scope import IDENTIFIERS, MAX_IDENTIFIER_CHARS, MAX_OWNERS, IdentifierCount, Permission
from apps.core.models import ApiKey

MAX_SUGGESTIONS = 1_000
OVERLAPS = {
    timedelta(): _("Not at all"),
    timedelta(hours=1): _("An hour"),
    DEFAULT_OVERLAP: _("A day"),
    timedelta(days=7): _("A week"),
    timedelta(days=30): _("30 days"),
}
# What a new key is proposed to live.
PROPOSED_LIFE = timedelta(days=90)
# Said by `domain.keys`, which imports no framework.
DOMAIN_WORDS = (
    gettext_noop(
        "A key without a bound can reach everyone's memories. Choose a user, a household or a persona, or confirm "
        "that the key has no bound."
    ),
    gettext_noop("A key that a person connected is an app: it writes as app, document or derived."),
)
NOT_CONFIRMED = _("This key can reach everyone's memories. Confirm that you want this.")


def known_identifiers(name: str) -> list[str]:
    """Return identifiers that memories, events or keys have, in their order, at most MAX_SUGGESTIONS.

    name: one of IDENTIFIERS. What knows some is listed in settings.IDENTIFIER_SOURCES.
    """
    sources = (import_string(path)(name, MAX_SUGGESTIONS) for path in settings.IDENTIFIER_SOURCES)
    bounds = ApiKey.objects.exclude(**{name: ""}).order_by(name).values_list(name, flat=True).distinct()
    return sorted({*chain.from_iterable(sources), *bounds[:MAX_SUGGESTIONS]})[:MAX_SUGGESTIONS]


def in_words(count: IdentifierCount) -> str:
    """Return what there is of a user, a household or a persona."""
    memories = ngettext("%(shown)s memory", "%(shown)s memories", count.memories) % {"shown": f"{count.memories:,}"}
    if count.people is None:
        return memories
    people = ngettext("%(shown)s person", "%(shown)s people", count.people) % {"shown": f"{count.people:,}"}
    return f"{people}, {memories}"


class IdentifierInput(UnfoldAdminTextInputWidget):  # type: ignore[misc]
    """A text field that suggests the identifiers there are, and says what there is of them; others can be entered."""

    def render(self, name: str, value: Any, attrs: dict[str, Any] | None = None, renderer: Any = None) -> SafeString:
        known = f"mh-known-{name}"
        given = {**(attrs or {}), "list": known, "autocomplete": "off", "data-scope-field": known}
        field = super().render(name, value, given, renderer)
        count: Callable[[str, int], Mapping[str, IdentifierCount]] = import_string(settings.IDENTIFIER_COUNTS)
        counts = count(name, MAX_SUGGESTIONS)
        options = format_html_join(
            "",
            '<option value="{}">{}</option>',
            {one: in_words(counts[one]) if one in counts else "" for one in known_identifiers(name)}.items(),
        )
        hint = format_html(
            '<span class="mh-note mh-scope-hint" data-scope-hint="{}" data-empty="{}" data-unknown="{}" '
            'aria-live="polite"></span>',
            known,
            gettext("{id}: no memories yet"),
            gettext("The hub knows nothing about this id. Is it mistyped, or new?"),
        )
        return format_html('{}<datalist id="{}">{}</datalist>{}', field, known, options, hint)


class OwnersInput(IdentifierInput):
    """A text field for each owner and some empty ones, which suggest the users and teams there are."""

    EMPTY = 3

    def render(self, name: str, value: Any, attrs: dict[str, Any] | None = None, renderer: Any = None) -> SafeString:
        owners = [*(value or []), *[""] * self.EMPTY][:MAX_OWNERS]
        known, first = "mh-known-owners", (attrs or {}).get("id", f"id_{name}")
        given = {**(attrs or {}), "list": known, "autocomplete": "off"}
        # The label of the form belongs to the first of them.
        parts = [
            {"id": f"{first}_{n}", "aria-label": gettext("Another one, %(number)s") % {"number": n + 1}} if n else {}
            for n in range(len(owners))
        ]
        fields = (
            (UnfoldAdminTextInputWidget.render(self, name, owner, {**given, "id": first, **part}),)
            for owner, part in zip(owners, parts, strict=True)
        )
        options = format_html_join("", '<option value="{}"></option>', ((one,) for one in known_identifiers("user_id")))
        inputs = format_html_join("", '<div class="mb-2">{}</div>', fields)
        return format_html('{}<datalist id="{}">{}</datalist>', inputs, known, options)

    def value_from_datadict(self, data: Any, files: Any, name: str) -> list[str]:
        given = data.getlist(name) if hasattr(data, "getlist") else data.get(name, [])
        return [owner for owner in given if owner.strip()]


class OwnersField(forms.Field):
    """Users and teams that a key may read besides its bound."""

    widget = OwnersInput

    def clean(self, value: Any) -> list[str]:
        owners = sorted(set(value or []))
        if len(owners) > MAX_OWNERS:
            raise ValidationError(gettext("At most %(most)s users and teams.") % {"most": MAX_OWNERS})
        if any(len(owner) > MAX_IDENTIFIER_CHARS or "\0" in owner for owner in owners):
            raise ValidationError(gettext("An id has at most %(most)s characters.") % {"most": MAX_IDENTIFIER_CHARS})
        if locked_among(owners):
            raise ValidationError(gettext("One of them is being forgotten, so nothing of theirs can be granted."))
        return owners

    def has_changed(self, initial: Any, data: Any) -> bool:
        return sorted(initial or []) != sorted(set(data or []))


class ShownOwnersField(forms.JSONField):
    """The owners that a page showed, which it sends back; None from what sends none."""

    widget = forms.HiddenInput

    def clean(self, value: Any) -> Any:
        shown = super().clean(value)
        if shown is not None and not (isinstance(shown, list) and all(isinstance(owner, str) for owner in shown)):
            raise ValidationError(gettext("Reload the page."))
        return shown

    def has_changed(self, initial: Any, data: Any) -> bool:
        return False


class KeyChangeForm(forms.ModelForm):  # type: ignore[type-arg]
    """What may change of a key. Its permission and bound stay."""

    reads = OwnersField(
        required=False,
        label=_("May also read"),
        help_text=_(
            "Users and teams, such as team:platform. The key finds their memories and events when a search includes "
            "them, and cannot write to them. Save to add more fields."
        ),
    )

    shown_reads = ShownOwnersField(required=False, label="")

    class Meta:
        model = ApiKey
        fields = ["name", "expires_at", "origin", "reads"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "origin" in self.fields:
            self.fields["origin"].required = False  # what does not say it leaves it as it is
        if "shown_reads" in self.fields:
            self.fields["shown_reads"].initial = self.instance.reads

    def grant_changes(self) -> tuple[list[str], list[str]] | None:
        """Return the owners as they were shown and as they were sent; None when the two are the same."""
        sent, shown = self.cleaned_data["reads"], self.cleaned_data["shown_reads"]
        shown = self.initial["reads"] if shown is None else shown
        return (shown, sent) if set(shown) != set(sent) else None

    def clean_expires_at(self) -> Any:
        expires_at = self.cleaned_data["expires_at"]
        is_new = "expires_at" in self.changed_data
        if is_new and expires_at is not None and expires_at <= utcnow(SYSTEM_CLOCK):
            raise ValidationError(gettext("The expiry must be in the future."))
        return expires_at

    def clean_origin(self) -> str:
        origin: str = self.cleaned_data["origin"] or self.instance.origin
        if self.instance.is_connected and WriteOrigin.APP.is_below(WriteOrigin(origin)):
            raise ValidationError(gettext(CONNECTED))
        return origin


class KeyForm(KeyChangeForm):
    """A new key: for whom, or for everyone's memories, which must be said."""

    shown_reads = None  # type: ignore[assignment]  # how Django leaves out a field of the base
    unbound = forms.BooleanField(
        required=False,
        label=_("Sees everything"),
        widget=UnfoldBooleanSwitchWidget,
        help_text=_("It can reach everyone's memories. An operator key always can."),
    )
    confirmed = forms.BooleanField(
        required=False,
        label=_("Yes, let it reach everyone's memories"),
        help_text=_(
            "Whoever has this key can read everything that the hub knows and, unless the key is read-only, change it."
        ),
    )

    class Meta:
        model = ApiKey
        fields = ["name", "permission", "origin", *IDENTIFIERS, "reads", "expires_at"]
        labels = {"user_id": _("User"), "household_id": _("Household"), "persona_id": _("Persona")}
        widgets = dict.fromkeys(IDENTIFIERS, IdentifierInput)

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        # It names what it is bound to, or says that it is not; one of the two.
        is_bound = any(data.get(name) or name in self.errors for name in IDENTIFIERS)
        sees_everything = data.get("unbound") or data.get("permission") == Permission.OPERATOR
        if not (is_bound or sees_everything):
            self.add_error("unbound", gettext(MISSING_BOUND))
        if is_bound and data.get("unbound"):
            self.add_error(
                "unbound", gettext('You filled in a bound and turned on "Sees everything". Keep one of the two.')
            )
        if sees_everything and not data.get("confirmed") and not self.errors:
            self.add_error("confirmed", NOT_CONFIRMED)
        return data


class RotationForm(forms.Form):
    """For how long the present secret works beside the new one."""

    overlap = forms.TypedChoiceField(
        label=_("How long the current secret keeps working"),
        choices=[(int(overlap.total_seconds()), label) for overlap, label in OVERLAPS.items()],
        coerce=lambda seconds: timedelta(seconds=int(seconds)),
        initial=int(DEFAULT_OVERLAP.total_seconds()),
        widget=UnfoldAdminSelectWidget,
    )
