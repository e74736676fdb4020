"""Codes of guards, outcomes, failures and purposes of calls in words: in English each without its underscores."""

from django.utils.translation import gettext_lazy as _

from apps.core.words import Words

REASONS: dict[str, Words] = {
    # Guards, and why they refuse.
    "configuration": _("configuration"),
    "budget": _("budget"),
    "budget_exceeded": _("budget exceeded"),
    "price_unknown": _("price unknown"),
    "breaker": _("breaker"),
    "closed": _("closed"),
    "open": _("open"),
    "half_open": _("half open"),
    "rate": _("rate"),
    "throttled": _("throttled"),
    "full": _("full"),
    "too_large": _("too large"),
    # How a call ended.
    "refused": _("refused"),
    "failed": _("failed"),
    "unusable": _("unusable"),
    "provider": _("provider"),
    "output": _("output"),
    "deadline": _("deadline"),
    "timeout": _("timeout"),
    "connection": _("connection"),
    "rate_limited": _("rate limited"),
    "overloaded": _("overloaded"),
    "auth": _("auth"),
    "bad_request": _("bad request"),
    "bad_response": _("bad response"),
    "cut_off": _("cut off"),
    "empty": _("empty"),
    "filtered": _("filtered"),
    "too_long": _("too long"),
    "invalid_json": _("invalid json"),
    "wrong_shape": _("wrong shape"),
    # What it was for.
    "judge": _("judge"),
    "gate": _("gate"),
    "extract": _("extract"),
    "compact": _("compact"),
    "rerank": _("rerank"),
}


def reason_words(code: str) -> str:
    """Return a code in the language of the viewer; one that is not known as it is, without underscores."""
    return str(REASONS[code]) if code in REASONS else code.replace("_", " ")
