"""The list of calls to models, made so that a page costs the same with many of them.

Records have indexes by time, by model, and by time of those that did not succeed. A list that is narrowed to a span of
time or to one call reads that; any other one searches among the latest calls only, and says so.
"""

from typing import Any

from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.contrib.filters.admin import DropdownFilter, RangeDateTimeFilter
from unfold.views import ChangeList

from apps.core.admin.lists import BoundedPaginator, IdentifierFilter, as_uuid, comparable
from apps.llm.models import CallGuard, CallOutcome, ModelCall

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
    """The calls of a span of time, or the latest ones."""

    def get_queryset(self, request: HttpRequest, exclude_parameters: Any = None) -> Calls:
        found: Calls = super().get_queryset(request, exclude_parameters)
        self.is_narrowed = is_narrowed(request)
        return found if self.is_narrowed else found.filter(pk__gt=latest_from())


def is_narrowed(request: HttpRequest) -> bool:
    """Return whether an index finds all rows of the list."""
    return any(request.GET.get(name) for name in MOMENTS) or as_uuid(comparable(request.GET.get("q"))) is not None


def latest_from() -> int:
    """Return the number of the record after which the latest ones begin."""
    newest = ModelCall.objects.order_by("-pk").values_list("pk", flat=True).first()
    return (newest or 0) - LATEST


def matching(calls: Calls, term: str) -> Calls:
    """Return the call of that id, or the calls of that person, purpose, model or reason."""
    if uuid := as_uuid(term):
        return calls.filter(uuid=uuid)
    return calls.filter(Q(actor=term) | Q(purpose=term) | Q(model=term) | Q(provider=term) | Q(reason=term))
