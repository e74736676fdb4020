"""Inputs and outputs of rehearsals."""

from collections.abc import Callable
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from apps.core.domain.scope import Access
from apps.core.schemas.fields import StrictBooleanField, StrictIntegerField
from apps.core.schemas.serializers import ScopeInput
from apps.rules.domain.documents.json_schema import rule_schema
from apps.rules.domain.engine.arbitration import Strategy
from apps.rules.domain.engine.record import MemoryRecord
from apps.rules.domain.engine.verdict import VerdictOutcome
from apps.rules.selectors import is_visible
from apps.semantic.conflicts.near_pairs import DEFAULT_PAIRS, MAX_PAIRS
from apps.semantic.conflicts.rehearsal import DEFAULT_LIMIT, MAX_LIMIT, Difference, Rehearsal, Replayed
from apps.semantic.domain.rehearsal import NO_CONFLICT, ReplayCase, ReplayCounts, ReplayedOutcome
from apps.semantic.models import Origin, ReviewState
from apps.semantic.schemas.memories import iso


@extend_schema_field({**rule_schema(leave_out=["name"]), "nullable": True})
class ChangesField(serializers.Field[Any, Any, Any, Any]):
    """Settings of a rule, as for changing it: null makes one inherit again. The service says what is wrong."""

    def to_internal_value(self, data: Any) -> Any:
        return data


class RehearseInput(ScopeInput):
    """What to change, whose decisions to replay, and how many."""

    changes = ChangesField(required=False, allow_null=True)
    limit = StrictIntegerField(
        required=False,
        min_value=1,
        max_value=MAX_LIMIT,
        default=DEFAULT_LIMIT,
        help_text="At most so many decisions, the newest first.",
    )
    neighbours = StrictBooleanField(
        required=False,
        default=False,
        help_text="Compare the near neighbours among the active memories of a user, too.",
    )
    max_pairs = StrictIntegerField(
        required=False,
        min_value=1,
        max_value=MAX_PAIRS,
        default=DEFAULT_PAIRS,
        help_text="At most so many pairs of neighbours.",
    )


AnySerializer = serializers.Serializer[Any]
MAX_EXCERPT_CHARS = 200
OUTCOMES = [outcome.value for outcome in VerdictOutcome] + [NO_CONFLICT]
STRATEGIES = ", ".join(strategy.value for strategy in Strategy)
ShownRule = Callable[[str], str | None]


class ExcerptOutput(AnySerializer):
    """A memory, in short."""

    id = serializers.UUIDField()
    excerpt = serializers.CharField(help_text=f"Its first {MAX_EXCERPT_CHARS} characters.")


class FateOutput(AnySerializer):
    """What a decision comes to."""

    outcome = serializers.ChoiceField(choices=OUTCOMES)
    rule = serializers.CharField(allow_null=True, help_text="By name; null for one that this key may not know of.")
    existing = serializers.UUIDField(allow_null=True, help_text="The memory that it is decided against.")
    leaving = serializers.ListField(child=serializers.UUIDField(), help_text="The memories that stand no longer.")
    merged = serializers.CharField(allow_null=True, help_text="The beginning of what two become.")
    strategy = serializers.CharField(help_text=f"What decided: {STRATEGIES}.")
    confidence = serializers.FloatField()
    reason = serializers.CharField()


class DifferenceOutput(AnySerializer):
    """A pair of memories about which something else would be decided. existing: the one that matters then."""

    candidate = ExcerptOutput()
    existing = ExcerptOutput()
    similarity = serializers.FloatField(allow_null=True)
    current = FateOutput(help_text="Under the rules as they are.")
    changed = FateOutput(help_text="Under the rules as they would be.")


class DecisionOutput(DifferenceOutput):
    """A recorded decision that would be another one."""

    conflict = serializers.UUIDField(help_text="Its receipt.")
    at = serializers.DateTimeField()
    origin = serializers.ChoiceField(choices=Origin.choices)
    state = serializers.ChoiceField(choices=ReviewState.choices, help_text="Where the receipt stands now.")
    recorded = FateOutput(help_text="As the receipt has it.")
    due_to_change = serializers.BooleanField(help_text="False: the rules as they are would not decide so, either.")


class MatchedOutput(AnySerializer):
    """How many a rule would decide."""

    rule = serializers.CharField(allow_null=True)
    count = serializers.IntegerField()


class SummaryOutput(AnySerializer):
    """Counts. `complete` is false when there were more than was asked for."""

    replayed = serializers.IntegerField()
    differ = serializers.IntegerField()
    transitions = serializers.DictField(
        child=serializers.IntegerField(), help_text="Of those that differ: `merged -> noticed`, and how many."
    )
    rules = MatchedOutput(many=True, help_text="Which rules matched under the change.")
    complete = serializers.BooleanField()


class DecisionsOutput(SummaryOutput):
    """Recorded decisions, replayed."""

    due_to_change = serializers.IntegerField()
    results = DecisionOutput(many=True)


class NeighboursOutput(SummaryOutput):
    """Pairs of memories that no decision was recorded about."""

    results = DifferenceOutput(many=True)


class RehearsalOutput(AnySerializer):
    """What a change of a rule would do. Nothing was changed."""

    rule = serializers.CharField()
    version = serializers.IntegerField(allow_null=True, help_text="The registry's; null for a key with a bound.")
    changed_rules = serializers.ListField(
        child=serializers.CharField(), help_text="The rules that would not be what they are: this one, and heirs."
    )
    decisions = DecisionsOutput()
    neighbours = NeighboursOutput(allow_null=True)


def render_rehearsal(access: Access, rehearsal: Rehearsal) -> dict[str, Any]:
    """A rehearsal as RehearsalOutput describes it. Rules that the caller may not know of stay unnamed."""
    show = _shown_rules(access, rehearsal)
    decisions, neighbours = rehearsal.decisions, rehearsal.neighbours
    return {
        "rule": rehearsal.rule,
        "version": None if access.bound.named() else rehearsal.current.version,
        "changed_rules": [name for name in rehearsal.changed_rules if show(name)],
        "decisions": {
            **_summary(decisions, show),
            "due_to_change": decisions.tally.due_to_change,
            "results": [render_decision(one, show) for one in decisions.differences],
        },
        "neighbours": neighbours
        and {
            **_summary(neighbours, show),
            "results": [render_difference(one, show) for one in neighbours.differences],
        },
    }


def _shown_rules(access: Access, rehearsal: Rehearsal) -> ShownRule:
    """The name of a rule that the caller may know of. A receipt may be of one that is gone; whose it was is unknown."""
    known = rehearsal.current
    visible = {name for name, rule in known.rules.items() if is_visible(access, rule, known)}
    return lambda name: name if not access.bound.named() or name in visible else None


def _summary(replayed: Replayed, show: ShownRule) -> dict[str, Any]:
    tally = replayed.tally
    return {
        "replayed": tally.replayed,
        "differ": tally.differ,
        "transitions": {f"{before} -> {after}": count for (before, after), count in tally.transitions.most_common()},
        "rules": _matched(tally, show),
        "complete": replayed.is_complete,
    }


def _matched(tally: ReplayCounts, show: ShownRule) -> list[dict[str, Any]]:
    counts: dict[str | None, int] = {}
    for name, count in tally.rules.most_common():
        counts[show(name)] = counts.get(show(name), 0) + count
    return [{"rule": name, "count": count} for name, count in counts.items()]


def render_decision(difference: Difference, show: ShownRule) -> dict[str, Any]:
    """A recorded decision as DecisionOutput describes it."""
    receipt = difference.receipt
    assert receipt is not None
    return {
        "conflict": str(receipt.uuid),
        "at": iso(receipt.at),
        "origin": receipt.origin,
        "state": receipt.state,
        **render_difference(difference, show),
        "recorded": render_outcome(difference.before, show),
        "due_to_change": difference.is_due_to_change,
    }


def render_difference(difference: Difference, show: ShownRule) -> dict[str, Any]:
    """A pair as DifferenceOutput describes it."""
    existing = find_shown_partner(difference)
    return {
        "candidate": render_excerpt(difference.case.candidate),
        "existing": render_excerpt(existing),
        "similarity": difference.case.similarity(existing),
        "current": render_outcome(difference.current, show),
        "changed": render_outcome(difference.changed, show),
    }


def find_shown_partner(difference: Difference) -> MemoryRecord:
    """Of several memories that the candidate conflicts with, that which decides under the change, else did before."""
    case: ReplayCase = difference.case
    return case.partner(difference.changed.existing or difference.before.existing)


def render_excerpt(record: MemoryRecord) -> dict[str, str]:
    """A memory as ExcerptOutput describes it."""
    return {"id": record.key, "excerpt": record.content[:MAX_EXCERPT_CHARS]}


def render_outcome(fate: ReplayedOutcome, show: ShownRule) -> dict[str, Any]:
    """What a decision comes to, as FateOutput describes it."""
    return {
        "outcome": fate.outcome,
        "rule": show(fate.rule),
        "existing": fate.existing,
        "leaving": sorted(fate.gone),
        "merged": None if fate.merged is None else fate.merged[:MAX_EXCERPT_CHARS],
        "strategy": fate.strategy,
        "confidence": fate.confidence,
        "reason": fate.reason,
    }
