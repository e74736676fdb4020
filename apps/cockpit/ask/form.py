"""The form of a question: who asks, in which scope, and how."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.http import HttpRequest
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from apps.core.admin.kit import operator_access
from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.scope import IDENTIFIERS, MAX_IDENTIFIER_CHARS, Access, Scope
from apps.core.models import ApiKey
from apps.core.selectors import usable_keys, with_foreign
from apps.retrieval.domain.query import DEFAULT_TOP_K, SearchMode, SearchQuery

MAX_QUESTION_CHARS = 2_000
MAX_SHOWN = 100
MAX_KEYS = 200


def askable_keys(request: HttpRequest) -> list[ApiKey]:
    """Return the keys as which a viewer may ask: every one, or those that reach no further than a bound account."""
    viewer, keys = operator_access(request), usable_keys(utcnow(SYSTEM_CLOCK)).order_by("name", "pk")
    if not viewer.bound.named():
        return list(keys[:MAX_KEYS]) if request.user.has_perm("core.view_apikey") else []
    inside = with_foreign(keys.filter(**viewer.bound.named())[:MAX_KEYS])
    return [key for key in inside if reaches_no_further(key.access, viewer)]


def reaches_no_further(one: Access, viewer: Access) -> bool:
    """Return whether a viewer may read everything that another access may."""
    if not viewer.bound.contains(one.bound):
        return False
    return all(owner in viewer.reads or viewer.bound.contains(Scope(owner)) for owner in one.reads)


class AskForm(forms.Form):
    """A question, as which key or in which scope it is asked, and the options of the search."""

    question = forms.CharField(
        label=_("Question"), max_length=MAX_QUESTION_CHARS, widget=forms.Textarea(attrs={"rows": 2})
    )
    key = forms.ChoiceField(required=False, label=_("As"))
    user_id = forms.CharField(required=False, label=_("User"), max_length=MAX_IDENTIFIER_CHARS)
    household_id = forms.CharField(required=False, label=_("Household"), max_length=MAX_IDENTIFIER_CHARS)
    persona_id = forms.CharField(required=False, label=_("Persona"), max_length=MAX_IDENTIFIER_CHARS)
    mode = forms.ChoiceField(
        required=False,
        label=_("Find by"),
        choices=[
            (SearchMode.HYBRID.value, _("Meaning and words")),
            (SearchMode.VECTOR.value, _("Meaning only")),
            (SearchMode.KEYWORD.value, _("Words only")),
        ],
    )
    top_k = forms.IntegerField(
        required=False, label=_("Maximum results"), min_value=1, max_value=MAX_SHOWN, initial=DEFAULT_TOP_K
    )
    start = forms.DateTimeField(
        required=False, label=_("Happened from"), widget=forms.DateTimeInput(attrs={"type": "datetime-local"})
    )
    end = forms.DateTimeField(
        required=False, label=_("Happened until"), widget=forms.DateTimeInput(attrs={"type": "datetime-local"})
    )
    granted = forms.BooleanField(required=False, label=_("Include the owners that the key was granted (include)"))

    def __init__(self, *args: Any, viewer: Access, keys: Sequence[ApiKey], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.viewer, self.keys = viewer, {str(key.uuid): key for key in keys}
        field = self.fields["key"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [("", gettext("no key: only the scope"))] + [
            (uuid, key.name) for uuid, key in self.keys.items()
        ]
        for name in IDENTIFIERS:
            self.fields[name].widget.attrs |= {"list": f"known-{name}", "autocomplete": "off"}

    def clean(self) -> dict[str, Any]:
        """Return the data, with a window that does not end before it begins."""
        data = super().clean() or {}
        if data.get("start") and data.get("end") and data["start"] > data["end"]:
            self.add_error("end", gettext("This is before the start."))
        return data

    @property
    def chosen_key(self) -> ApiKey | None:
        """Return the key as which is asked, None for the scope alone."""
        return self.keys.get(self.cleaned_data["key"])

    @property
    def access(self) -> Access:
        """Return what the question may reach."""
        return self.chosen_key.access if self.chosen_key else self.viewer

    @property
    def query(self) -> SearchQuery:
        """Return the search that `POST /api/semantic/search` would make of the same fields."""
        data = self.cleaned_data
        return SearchQuery(
            scope=Scope(*(data[name] or None for name in IDENTIFIERS)),
            include=self.access.reads if data["granted"] else (),
            query=data["question"],
            mode=SearchMode(data["mode"]) if data["mode"] else None,
            top_k=data["top_k"] or DEFAULT_TOP_K,
            start=data["start"],
            end=data["end"],
            explain=True,
        )
