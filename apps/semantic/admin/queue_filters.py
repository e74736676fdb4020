"""The filters of the queue of conflicts, and its list: a page costs the same with many receipts."""

from typing import Any

from django.db.models import F, OuterRef, QuerySet, Subquery
from django.db.models.functions import Left
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from unfold.contrib.filters.admin import DropdownFilter, RangeDateTimeFilter, RangeNumericFilter
from unfold.views import ChangeList

from apps.core.admin.kit import operator_access
from apps.core.admin.lists import SCOPE_FILTERS, BoundedPaginator, comparable
from apps.core.admin.steps import OpenFirstFilter
from apps.core.pages.sayings import say
from apps.rules.domain.engine.arbitration import Strategy
from apps.rules.domain.engine.signals import SignalType
from apps.rules.selectors import MergeRuleVersion
from apps.semantic.conflicts.queue import decided_rules
from apps.semantic.models import Conflict, Origin, ReviewState

SHOWN_CONTENT_CHARS = 240
# Large columns that the list does not show.
DOCUMENTS = ("rule", "signals", "records", "merge", "others", "transitions")
Receipts = QuerySet[Conflict]


class StateFilter(OpenFirstFilter):
    title, all_words, states = _("state"), _("All"), ReviewState


class NameFilter(DropdownFilter):
    """Filter by a column that holds the chosen name."""

    def queryset(self, request: HttpRequest, queryset: Receipts) -> Receipts:
        value = comparable(self.value())
        return queryset.filter(**{self.parameter_name: value}) if value else queryset


class RuleFilter(NameFilter):
    """Filter by rule, of all versions: a choice of those with receipts."""

    title, parameter_name = _("rule"), "rule_name"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        rules = decided_rules(operator_access(request))
        return [(name, name) for name in dict.fromkeys(rule.name for rule in rules if rule.name)]


class StrategyFilter(NameFilter):
    """Filter by what decided: a strategy of the arbitration, or a person."""

    title, parameter_name = _("strategy"), "strategy"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        names = [strategy.value for strategy in Strategy if strategy is not Strategy.NO_CONFLICT]
        return [(name, say(name.capitalize())) for name in (*names, Origin.OVERRIDE.value, Origin.REVERT.value)]


class SignalFilter(DropdownFilter):
    """Filter by a type of signal among those of a receipt."""

    title, parameter_name = _("signal"), "signal"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(kind.value, say(kind.value.capitalize())) for kind in SignalType]

    def queryset(self, request: HttpRequest, queryset: Receipts) -> Receipts:
        value = comparable(self.value())
        return queryset.filter(signals__contains=[{"type": value}]) if value else queryset


FILTERS = [
    StateFilter,
    "outcome",
    "origin",
    RuleFilter,
    StrategyFilter,
    SignalFilter,
    *SCOPE_FILTERS,
    ("at", RangeDateTimeFilter),
    ("confidence", RangeNumericFilter),
]


class ReceiptPaginator(BoundedPaginator):
    """Counts in the order of the list, for which each state has an index."""

    counted_by = ("-id",)


class ConflictList(ChangeList):
    """A page of receipts with what its columns show, in one query; counting reads nothing of that."""

    result_list: Any

    def get_queryset(self, request: HttpRequest, exclude_parameters: Any = None) -> Receipts:
        found: Receipts = super().get_queryset(request, exclude_parameters)
        return found.defer(*DOCUMENTS)

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        changes = MergeRuleVersion.objects.filter(version=OuterRef("rule_version"), rule_name=OuterRef("rule_name"))
        shown: dict[str, Any] = {"rule_change": Subquery(changes.values("pk")[:1])}
        for side in ("candidate", "existing", "result"):
            shown[f"{side}_text"] = Left(f"{side}__content", SHOWN_CONTENT_CHARS)
            shown[f"{side}_status"] = F(f"{side}__status")
        self.result_list = self.result_list.annotate(**shown)
