"""The part of the admin's first page about chat models, where there are any."""

from django.http import HttpRequest
from django.urls import reverse

from apps.core.admin.kit import dollars
from apps.llm.domain.breaker import Phase
from apps.llm.services import BudgetStatus, ConfiguredModel, budget_status, configured_models, guard_rules
from memoryhub.admin.navigation import may_view
from memoryhub.admin.tiles import Tile


def model_tiles(request: HttpRequest) -> list[Tile]:
    """What is spent today, and whether calls get through; nothing without a chat model."""
    if not may_view(request, "llm.budgetday"):
        return []
    rules = guard_rules()
    configured = configured_models(rules=rules)
    return [_spent_tile(budget_status(rules=rules), configured)] if configured else []


def _spent_tile(budget: BudgetStatus, configured: list[ConfiguredModel]) -> Tile:
    note, tone = _trouble(configured) or _share(budget)
    link = reverse("admin:llm_budgetday_changelist")
    return Tile("Spent on models today", dollars(budget.spent), note, "account_balance_wallet", link, tone)


def _trouble(configured: list[ConfiguredModel]) -> tuple[str, str] | None:
    """Why calls to a model do not get through, if they do not."""
    if broken := [model.provider for model in configured if model.breaker.phase is not Phase.CLOSED]:
        return f"the circuit of {broken[0]} is not closed", "bad"
    if refused := [model.model for model in configured if not model.passes]:
        return f"{refused[0]} has no price, so it is not called", "bad"
    return None


def _share(budget: BudgetStatus) -> tuple[str, str]:
    if budget.limit is None:
        return "no budget is set", ""
    return f"{budget.percent:.0f}% of {dollars(budget.limit)}", "" if budget.tone == "good" else budget.tone
