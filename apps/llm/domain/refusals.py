"""Why guards refuse calls, in words: what happened, which setting decides it, and what helps."""

from dataclasses import dataclass
from enum import StrEnum

from apps.core.domain.words import gettext_noop
from apps.llm.domain.breaker import Phase
from apps.llm.domain.budget import BUDGET_EXCEEDED
from apps.llm.domain.rate import RateVerdict

PRICE_UNKNOWN = "price_unknown"


class Help(StrEnum):
    """Where an operator can do something about a refusal."""

    WAIVE = "waive"
    PRICE = "price"
    RESET = "reset"
    SETTING = "setting"


@dataclass(frozen=True)
class Advice:
    """what: why the call was refused. setting: the one that decides it, empty where none does. remedy: what helps."""

    what: str
    setting: str
    remedy: str
    help: Help = Help.SETTING


_TOKENS = "MEMORYHUB_CHAT_TOKENS_PER_MINUTE"
ADVICE = {
    ("budget", BUDGET_EXCEEDED): Advice(
        gettext_noop("The day's budget had no room for the most that the call could cost."),
        "MEMORYHUB_CHAT_DAILY_BUDGET_USD",
        gettext_noop(
            "Reset today's spending, or raise the budget; at midnight UTC a new day begins. A call that may cost "
            "more than a whole day's budget is refused until the budget is raised."
        ),
        Help.WAIVE,
    ),
    ("budget", PRICE_UNKNOWN): Advice(
        gettext_noop("The model has no price, so the budget could not say what the call may cost."),
        "",
        gettext_noop("Add a price for the model, or one for any model (*) of its provider; 0 is a valid price."),
        Help.PRICE,
    ),
    ("breaker", Phase.OPEN.value): Advice(
        gettext_noop("The provider had failed too often, so no call was made to it for a while."),
        "MEMORYHUB_CHAT_BREAKER_COOLDOWN_SECONDS",
        gettext_noop("See why it failed. Once it is back, reset its breaker, or wait for the probes to notice."),
        Help.RESET,
    ),
    ("breaker", Phase.HALF_OPEN.value): Advice(
        gettext_noop("Probes were testing whether the provider is back, and only they went through."),
        "MEMORYHUB_CHAT_BREAKER_PROBES",
        gettext_noop(
            "Usually nothing: it closes after its probes. If you know that the provider is back, reset its breaker."
        ),
        Help.RESET,
    ),
    ("rate", RateVerdict.THROTTLED.value): Advice(
        # THROTTLE_PERCENT
        gettext_noop("More than 80% of the provider's tokens of the minute were used or promised."),
        _TOKENS,
        gettext_noop("Raise the limit if your plan with the provider allows more; 0 means no limit."),
    ),
    ("rate", RateVerdict.FULL.value): Advice(
        gettext_noop("The minute had no room left for the tokens of the call."),
        _TOKENS,
        gettext_noop("Raise the limit if your plan with the provider allows more; 0 means no limit."),
    ),
    ("rate", RateVerdict.TOO_LARGE.value): Advice(
        gettext_noop("This call alone may need more tokens than a whole minute allows, so waiting does not help."),
        _TOKENS,
        gettext_noop("Raise the limit above the tokens of such a call, or ask for less at a time."),
    ),
}
UNKNOWN = Advice(
    gettext_noop("A guard refused the call for a reason that this hub does not recognise."),
    "",
    gettext_noop("See the log of the hub."),
)


def advice_for(guard: str, reason: str) -> Advice:
    """Return why a guard refused a call, and what helps. guard, reason: as they are recorded."""
    return ADVICE.get((guard, reason), UNKNOWN)
