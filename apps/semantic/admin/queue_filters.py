"""The filters of the queue of conflicts, and its list: made so that a page costs the same with many receipts."""

from collections.abc import Iterator
from typing import Any

from django.db.models import F, OuterRef, QuerySet, Subquery
from django.db.models.functions import Left
from django.http import HttpRequest
from unfold.contrib.filters.admin import DropdownFilter, RangeDateTimeFilter, RangeNumericFilter
from unfold.views import ChangeList

from apps.core.admin.lists import BoundedPaginator, HouseholdFilter, PersonaFilter, UserFilter, comparable
from apps.rules.domain.engine.arbitration import Strategy
from apps.rules.domain.engine.signals import SignalType
from apps.rules.selectors import MergeRuleVersion
from apps.semantic.conflicts.counts import decided_rules
from apps.semantic.models import Conflict, Origin, ReviewState

SHOWN_CONTENT_CHARS = 240
ALL = "all"
# What the list does not show, and what makes receipts large.
DOCUMENTS = ("rule", "signals", "records", "merge", "others", "transitions")
Receipts = QuerySet[Conflict]


class StateFilter(DropdownFilter):
    """What waits for a person, unless something else is asked for."""

    title, parameter_name = "state", "state"
    all_option = None

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [*((str(state.value), str(state.label)) for state in ReviewState), (ALL, "All")]

    def value(self) -> str:
        given = super().value()
        return given if given in {ALL, *ReviewState.values} else ReviewState.OPEN.value

    def queryset(self, request: HttpRequest, queryset: Receipts) -> Receipts:
        return queryset if self.value() == ALL else queryset.filter(state=self.value())


class RuleFilter(DropdownFilter):
    """The rules that have receipts, of all versions."""

    title, parameter_name = "rule", "rule_name"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        names = dict.fromkeys(rule.name for rule in decided_rules() if rule.name)
        return [(name, name) for name in names]

    def queryset(self, request: HttpRequest, queryset: Receipts) -> Receipts:
        return queryset.filter(rule_name=comparable(self.value())) if self.value() else queryset


class StrategyFilter(DropdownFilter):
    """What decided: a strategy of arbitration, or a person."""

    title, parameter_name = "strategy", "strategy"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        names = [strategy.value for strategy in Strategy if strategy is not Strategy.NO_CONFLICT]
        return [(name, name.capitalize()) for name in (*names, Origin.OVERRIDE.value, Origin.REVERT.value)]

    def queryset(self, request: HttpRequest, queryset: Receipts) -> Receipts:
        return queryset.filter(strategy=comparable(self.value())) if self.value() else queryset


class SignalFilter(DropdownFilter):
    """Those for which a signal spoke."""

    title, parameter_name = "signal", "signal"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(kind.value, kind.value.capitalize()) for kind in SignalType]

    def queryset(self, request: HttpRequest, queryset: Receipts) -> Receipts:
        return queryset.filter(signals__contains=[{"type": comparable(self.value())}]) if self.value() else queryset


FILTERS = [
    StateFilter,
    "outcome",
    "origin",
    RuleFilter,
    StrategyFilter,
    SignalFilter,
    UserFilter,
    HouseholdFilter,
    PersonaFilter,
    ("at", RangeDateTimeFilter),
    ("confidence", RangeNumericFilter),
]


class ReceiptPaginator(BoundedPaginator):
    """In the order of the list, which an index of each state has."""

    counted_by = ("-id",)


class ConflictList(ChangeList):
    """The receipts of a page with what its columns show, in one query; counting them reads nothing of that."""

    result_list: Any

    def get_queryset(self, request: HttpRequest, exclude_parameters: Any = None) -> Receipts:
        found: Receipts = super().get_queryset(request, exclude_parameters)
        return found.defer(*DOCUMENTS)

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        self.result_list = self.result_list.annotate(**dict(_columns()))


def _columns() -> Iterator[tuple[str, Any]]:
    for side in ("candidate", "existing", "result"):
        yield f"{side}_text", Left(f"{side}__content", SHOWN_CONTENT_CHARS)
        yield f"{side}_status", F(f"{side}__status")
    changes = MergeRuleVersion.objects.filter(version=OuterRef("rule_version"), rule_name=OuterRef("rule_name"))
    yield "rule_change", Subquery(changes.values("pk")[:1])
