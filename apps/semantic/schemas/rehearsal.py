"""Inputs and outputs of rehearsals."""

from collections.abc import Callable
from typing import Annotated, Any, TypedDict

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from apps.core.domain.scope import Access
from apps.core.schemas.fields import StrictBooleanField, StrictIntegerField
from apps.core.schemas.outputs import Moment, Uuid, iso, render
from apps.core.schemas.serializers import ScopeInput
from apps.rules.domain.documents.json_schema import rule_schema
from apps.rules.domain.engine.arbitration import Strategy
from apps.rules.domain.engine.record import MemoryRecord
from apps.rules.domain.engine.verdict import VerdictOutcome
from apps.rules.selectors import is_visible
from apps.semantic.conflicts.near_pairs import DEFAULT_PAIRS, MAX_PAIRS
from apps.semantic.conflicts.rehearsal import DEFAULT_LIMIT, MAX_LIMIT, Difference, Rehearsal, ReplayReport
from apps.semantic.domain.rehearsal import NO_CONFLICT, ReplayedOutcome
from apps.semantic.models import Origin, ReviewState

MAX_EXCERPT_CHARS = 200
OUTCOMES = [outcome.value for outcome in VerdictOutcome] + [NO_CONFLICT]
STRATEGIES = ", ".join(strategy.value for strategy in Strategy)
# Returns the name of a rule, None for one that the caller may not know of.
ShownRule = Callable[[str], str | None]


@extend_schema_field({**rule_schema(leave_out=["name"]), "nullable": True})
class ChangesField(serializers.Field[Any, Any, Any, Any]):
    """Settings of a rule, as for changing it: null makes one inherit again. The service says what is wrong."""

    def to_internal_value(self, data: Any) -> Any:
        return data


class RehearseInput(ScopeInput):
    """What to change, the scope of the decisions to replay, and how many of them."""

    changes = ChangesField(required=False, allow_null=True)
    limit = StrictIntegerField(
        required=False, min_value=1, max_value=MAX_LIMIT, default=DEFAULT_LIMIT,
        help_text="The most decisions to replay, the newest first.",
    )  # fmt: skip
    neighbours = StrictBooleanField(
        required=False, default=False, help_text="Also compare near neighbours among a user's active memories."
    )
    max_pairs = StrictIntegerField(
        required=False, min_value=1, max_value=MAX_PAIRS, default=DEFAULT_PAIRS,
        help_text="The most pairs of neighbours to compare.",
    )  # fmt: skip


class ExcerptOutput(TypedDict):
    """A memory, in short."""

    id: Uuid
    excerpt: Annotated[str, f"Its first {MAX_EXCERPT_CHARS} characters."]


class ReplayOutput(TypedDict):
    """The outcome of one decision."""

    outcome: Annotated[str, serializers.ChoiceField(choices=OUTCOMES)]
    rule: Annotated[str | None, "By name; null if this key may not know of it."]
    existing: Annotated[Uuid | None, "The memory that it is compared with."]
    inactive: Annotated[list[Uuid], "The memories that are no longer active."]
    merged: Annotated[str | None, "The beginning of the merged text."]
    strategy: Annotated[str, f"What decided: {STRATEGIES}."]
    confidence: float
    reason: str


class DifferenceOutput(TypedDict):
    """A pair of memories that would be decided otherwise. existing: the one that matters then."""

    candidate: ExcerptOutput
    existing: ExcerptOutput
    similarity: float | None
    current: Annotated[ReplayOutput, "Under the present rules."]
    changed: Annotated[ReplayOutput, "Under the changed rules."]


class DecisionOutput(DifferenceOutput):
    """A recorded decision that would be another one."""

    conflict: Annotated[Uuid, "Its receipt."]
    at: Moment
    origin: Annotated[str, serializers.ChoiceField(choices=Origin.choices)]
    state: Annotated[str, serializers.ChoiceField(choices=ReviewState.choices), "The present state of the receipt."]
    recorded: Annotated[ReplayOutput, "As in the receipt."]
    due_to_change: Annotated[bool, "False if the present rules would not decide that way either."]


class MatchedOutput(TypedDict):
    """How many cases a rule would decide."""

    rule: str | None
    count: int


class SummaryOutput(TypedDict):
    """Counts. `complete` is false when there were more than was asked for."""

    replayed: int
    differ: int
    transitions: Annotated[dict[str, int], "The differing decisions, such as `merged -> noticed`, and how many."]
    rules: Annotated[list[MatchedOutput], "Which rules matched under the change."]
    complete: bool


class DecisionsOutput(SummaryOutput):
    """Recorded decisions, replayed."""

    due_to_change: int
    results: list[DecisionOutput]


class NeighboursOutput(SummaryOutput):
    """Pairs of memories without a recorded decision."""

    results: list[DifferenceOutput]


class RehearsalOutput(TypedDict):
    """What a change of a rule would do. Nothing was changed."""

    rule: str
    version: Annotated[int | None, "The registry's; null for a key with a bound."]
    changed_rules: Annotated[list[str], "The rules that would differ: this one and those that extend it."]
    decisions: DecisionsOutput
    neighbours: NeighboursOutput | None


def render_rehearsal(access: Access, rehearsal: Rehearsal) -> RehearsalOutput:
    """Return a rehearsal as JSON. Rules that the caller may not know of stay unnamed."""
    # The rule of a receipt may be gone, and then nothing says whose it was: it stays unnamed, too.
    visible = {name for name, rule in rehearsal.current.rules.items() if is_visible(access, rule, rehearsal.current)}
    has_bound = not access.bound.is_everything

    def show(name: str) -> str | None:
        return None if has_bound and name not in visible else name

    decisions, replayed = rehearsal.decisions, rehearsal.neighbours
    neighbours: NeighboursOutput | None = None
    if replayed is not None:
        differences = [render_difference(one, show) for one in replayed.differences]
        neighbours = {**render_summary(replayed, show), "results": differences}
    return {
        "rule": rehearsal.rule,
        "version": None if has_bound else rehearsal.current.version,
        "changed_rules": [name for name in rehearsal.changed_rules if show(name)],
        "decisions": {
            **render_summary(decisions, show),
            "due_to_change": decisions.tally.due_to_change,
            "results": [
                {
                    "conflict": str(one.receipt.uuid),
                    "at": iso(one.receipt.at),
                    "origin": one.receipt.origin,
                    "state": one.receipt.state,
                    **render_difference(one, show),
                    "recorded": render_outcome(one.before, show),
                    "due_to_change": one.is_due_to_change,
                }
                for one in decisions.differences
                if one.receipt is not None  # which all decisions have
            ],
        },
        "neighbours": neighbours,
    }


def render_summary(replayed: ReplayReport, show: ShownRule) -> SummaryOutput:
    """Return the counts of replayed cases as JSON. Rules without a name are counted together."""
    counts: dict[str | None, int] = {}
    for name, count in replayed.tally.rules.most_common():
        counts[show(name)] = counts.get(show(name), 0) + count
    transitions = replayed.tally.transitions.most_common()
    return {
        "replayed": replayed.tally.replayed,
        "differ": replayed.tally.differ,
        "transitions": {f"{before} -> {after}": count for (before, after), count in transitions},
        "rules": [{"rule": name, "count": count} for name, count in counts.items()],
        "complete": replayed.is_complete,
    }


def render_difference(difference: Difference, show: ShownRule) -> DifferenceOutput:
    """Return a pair of memories that would be decided otherwise as JSON."""
    existing = find_shown_partner(difference)
    return {
        "candidate": render_excerpt(difference.case.candidate),
        "existing": render_excerpt(existing),
        "similarity": difference.case.similarity(existing),
        "current": render_outcome(difference.current, show),
        "changed": render_outcome(difference.changed, show),
    }


def find_shown_partner(difference: Difference) -> MemoryRecord:
    """Return, of several memories that the candidate conflicts with, the one that decides under the change, or did."""
    return difference.case.partner(difference.changed.existing or difference.before.existing)


def render_excerpt(record: MemoryRecord) -> ExcerptOutput:
    """Return a memory in short as JSON."""
    return {"id": record.key, "excerpt": record.content[:MAX_EXCERPT_CHARS]}


def render_outcome(replayed: ReplayedOutcome, show: ShownRule) -> ReplayOutput:
    """Return the outcome of a replayed decision as JSON."""
    return render(
        ReplayOutput,
        replayed,
        rule=show(replayed.rule),
        inactive=sorted(replayed.removed),
        merged=None if replayed.merged is None else replayed.merged[:MAX_EXCERPT_CHARS],
    )
