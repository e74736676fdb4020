"""The pair of a decision as the form of a trial: a rule is tried on both texts as they were when it was decided."""

from datetime import datetime
from typing import Any

from django.urls import reverse

from apps.rules.domain.documents.rule import DEFAULT_RULE
from apps.rules.selectors import MergeRule
from apps.rules.services import TRIAL
from apps.semantic.models import Conflict

HOUR, HOUR_DIGITS = 3_600, 10


def trial_of(receipt: Conflict) -> dict[str, Any] | None:
    """Return where the pair is tried, under the rule of the receipt or what has its place now, and the fields to send.

    None for a receipt that kept no texts. Contents are sent, since an address would keep them.
    """
    rules = {rule.name: rule for rule in MergeRule.objects.filter(name__in=(receipt.rule_name, DEFAULT_RULE))}
    rule, records = rules.get(receipt.rule_name) or rules.get(DEFAULT_RULE), receipt.records
    if rule is None or not records:
        return None
    times = {side: datetime.fromisoformat(records[side]["timestamp"]) for side in ("candidate", "existing")}
    hours = (times["candidate"] - times["existing"]).total_seconds() / HOUR
    # Fractions of a second may decide which one is the newer.
    fields = {"hours": f"{hours:.{HOUR_DIGITS}f}".rstrip("0").rstrip(".")}
    for side in ("existing", "candidate"):
        record = records[side]
        fields |= {
            side: record["content"],
            f"{side}_importance": record["importance"],
            f"{side}_source": record["source"],
        }
    return {
        "url": reverse("admin:rules_mergerule_try_out", args=[rule.pk]),
        "rule": rule.name,
        "fields": [(f"{TRIAL}-{name}", value) for name, value in fields.items()],
    }
