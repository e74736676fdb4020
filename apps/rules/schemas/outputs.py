"""Answers about rules, and the functions that fill them."""

from typing import Annotated, Any, NotRequired, TypedDict

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from apps.core.domain.scope import Access
from apps.core.schemas.fields import JSONObjectField
from apps.core.schemas.outputs import JSONObject, Moment, render
from apps.rules.domain.documents.json_schema import rule_schema
from apps.rules.domain.documents.rule import Document, RuleConfig
from apps.rules.domain.engine.arbitration import SIDES, Action, Strategy
from apps.rules.domain.engine.merge import ContentStrategy, MergeResult
from apps.rules.domain.engine.signals import SignalOutput
from apps.rules.evaluate import Evaluation
from apps.rules.selectors import active_rules, shown_version

RegistryVersion = Annotated[int | None, "The registry's; null for a key with a bound."]
SideName = Annotated[str | None, serializers.ChoiceField(choices=SIDES, allow_null=True)]


@extend_schema_field(rule_schema(leave_out=["name", "extends"]) | {"additionalProperties": True})
class RuleField(JSONObjectField):
    """A rule document."""


class RuleOutput(TypedDict):
    """A rule document, with the versions of registry and rule beside its fields."""

    version: RegistryVersion
    name: str
    extends: NotRequired[str | None]
    enabled: NotRequired[bool]
    priority: NotRequired[int]
    description: NotRequired[str]
    conditions: NotRequired[JSONObject]
    detection: NotRequired[JSONObject]
    arbitration: NotRequired[JSONObject]
    merge: NotRequired[JSONObject]
    rule_version: Annotated[int | None, "The registry's version when the rule last changed."]


class RuleListOutput(TypedDict):
    """Rules in the order in which they are tried."""

    version: RegistryVersion
    results: list[RuleOutput]
    count: int


class ExportOutput(TypedDict):
    """Rules as they were given, by name."""

    version: RegistryVersion
    rules: list[Annotated[Document, RuleField()]]
    count: int


class MatchOutput(TypedDict):
    """The rule that applies."""

    version: RegistryVersion
    name: str
    rule: RuleOutput


class ArbitrationOutput(TypedDict):
    """The decision. `keep` without winner and loser: both memories stay active, as the reason says."""

    action: Annotated[str, serializers.ChoiceField(choices=[action.value for action in Action])]
    winner: SideName
    loser: SideName
    confidence: float
    reason: str
    strategy: Annotated[str, serializers.ChoiceField(choices=[strategy.value for strategy in Strategy])]


class MergeStatisticsOutput(TypedDict):
    """What merging changed."""

    content_length: int
    keywords_count: int
    importance_delta: Annotated[float, "Against the existing memory."]
    deduplicated_count: int


class MergeOutput(TypedDict):
    """The merged memory."""

    content: str
    importance: float
    timestamp: Moment
    keywords: list[str]
    source: str
    strategy: Annotated[str, serializers.ChoiceField(choices=[strategy.value for strategy in ContentStrategy])]
    common_keywords: list[str]
    statistics: MergeStatisticsOutput


class EvaluateOutput(TypedDict):
    """The decision about two memories. Nothing was changed."""

    version: RegistryVersion
    signals: list[SignalOutput]
    conflict: Annotated[bool, "Whether the signals amount to a conflict."]
    decisive: Annotated[bool, "Whether the evidence is strong enough to act on."]
    total_score: float
    similarity: Annotated[float | None, "Cosine; null if there is no embedding."]
    arbitration: ArbitrationOutput
    merge: MergeOutput | None
    rule: Annotated[str, "The name of the rule that applied."]
    warning: Annotated[str | None, "Why the semantic signal was left out, if it was."]


def render_rule(access: Access, document: Document) -> dict[str, Any]:
    """Return a document as a RuleOutput."""
    known = active_rules()
    return {
        **document,
        "version": shown_version(access, known.version),
        "rule_version": shown_version(access, known.versions.get(document["name"], 0)),
    }


def render_resolved(access: Access, rule: RuleConfig) -> dict[str, Any]:
    """Return a rule with all settings that it inherits as a RuleOutput."""
    return render_rule(access, rule.to_document())


def render_evaluation(access: Access, evaluation: Evaluation) -> EvaluateOutput:
    """Return an evaluation as JSON."""
    detection = evaluation.detection
    return {
        "signals": [signal.as_json() for signal in detection.signals],
        "conflict": detection.is_conflict,
        "decisive": detection.is_conflict and detection.is_decisive,
        "total_score": detection.total_score,
        "similarity": evaluation.similarity,
        "arbitration": render(ArbitrationOutput, evaluation.arbitration),
        "merge": render_merge(evaluation.merge) if evaluation.merge else None,
        "rule": evaluation.rule.name,
        "version": shown_version(access, evaluation.version),
        "warning": evaluation.warning,
    }


def render_merge(merged: MergeResult) -> MergeOutput:
    """Return a merged memory as JSON."""
    return render(MergeOutput, merged, statistics=render(MergeStatisticsOutput, merged.statistics))
