"""Problems of chat models and of the reranker: budget, breakers, prices."""

from collections.abc import Iterator

from django.utils.translation import gettext

from apps.core.admin.kit import dollars
from apps.llm.domain.breaker import Phase
from apps.llm.services import (
    BudgetStatus,
    GuardedModel,
    budget_status,
    configured_models,
    guard_rules,
    guarded_reranker,
)
from apps.monitor.domain.problems import Problem, ProblemSeverity
from memoryhub.problems.links import link

NEARLY_PERCENT = 90
BUDGET_PERMISSION = "llm.view_budgetday"


def model_problems() -> Iterator[Problem]:
    """Yield what keeps calls to the configured chat models and the reranker from getting through, or soon will."""
    rules = guard_rules()
    configured: list[GuardedModel] = [*configured_models(rules=rules)]
    if (reranker := guarded_reranker(rules=rules)) is not None:
        configured.append(reranker)
    if not configured:
        return
    budget = budget_status(rules=rules)
    yield from budget_problems(budget)
    # A model may be configured for two roles.
    for model in {(one.provider, one.model): one for one in configured}.values():
        yield from breaker_problems(model)
        if not model.is_priced:
            yield price_problem(model, budget.limit is not None)


def budget_problems(budget: BudgetStatus) -> Iterator[Problem]:
    """Yield that the budget of the day is spent, or nearly."""
    if budget.limit is None or budget.percent < NEARLY_PERCENT:
        return
    is_spent = budget.spent >= budget.limit
    said = gettext("%(percent)s %% of the budget of %(amount)s for models, which lasts until %(time)s, is spent.")
    if is_spent:
        said = gettext("The budget of %(amount)s for models is spent: calls are refused until %(time)s.")
    values = {
        "percent": f"{budget.percent:.0f}",
        "amount": dollars(budget.limit),
        "time": f"{budget.resets_at:%Y-%m-%d %H:%M} UTC",
    }
    yield Problem(
        code="budget_spent" if is_spent else "budget_nearly_spent",
        severity=ProblemSeverity.CRITICAL if is_spent else ProblemSeverity.WARNING,
        sentence=said % values,
        advice=gettext("Reset today’s spending, or raise MEMORYHUB_CHAT_DAILY_BUDGET_USD."),
        permission=BUDGET_PERMISSION,
        remedy=link(gettext("See the budget"), "admin:llm_budgetday_changelist"),
    )


def breaker_problems(model: GuardedModel) -> Iterator[Problem]:
    """Yield that the breaker of a provider is not closed."""
    if model.breaker.phase is Phase.CLOSED:
        return
    is_open = model.breaker.phase is Phase.OPEN
    said = gettext("%(provider)s did not answer properly and is being tried again.")
    if is_open:
        said = gettext("%(provider)s is not answering properly: calls are refused.")
    yield Problem(
        code="breaker_open" if is_open else "breaker_half_open",
        severity=ProblemSeverity.WARNING if is_open else ProblemSeverity.NOTICE,
        sentence=said % {"provider": model.provider},
        advice=gettext("Check the address, the key and the status of the provider. It is retried automatically."),
        permission=BUDGET_PERMISSION,
        subject=model.provider,
        since=model.breaker.since,
        remedy=link(gettext("See the breakers"), "admin:llm_budgetday_changelist"),
    )


def price_problem(model: GuardedModel, has_budget: bool) -> Problem:
    """Return the problem that a model has no price."""
    said = gettext("%(model)s of %(provider)s has no price: what it costs is not known.")
    if has_budget:
        said = gettext("%(model)s of %(provider)s has no price: it is not called, because there is a budget.")
    return Problem(
        code="model_without_price",
        severity=ProblemSeverity.WARNING if has_budget else ProblemSeverity.NOTICE,
        sentence=said % {"model": model.model, "provider": model.provider},
        advice=gettext("Set its price per million tokens; 0 for a model of your own."),
        permission="llm.view_price",
        subject=f"{model.provider} {model.model}",
        remedy=link(gettext("Set a price"), "admin:llm_price_add"),
    )
