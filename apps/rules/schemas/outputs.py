"""What answers about rules look like: shapes for the OpenAPI document, and plain functions that fill them."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from apps.core.domain.scope import Access
from apps.core.schemas.fields import JSONObjectField
from apps.rules.domain.documents.json_schema import rule_schema
from apps.rules.domain.documents.rule import Document, RuleConfig
from apps.rules.domain.engine.arbitration import SIDES, Action, Strategy
from apps.rules.domain.engine.merge import ContentStrategy, MergeResult
from apps.rules.domain.engine.signals import SignalOutput
from apps.rules.evaluate import Evaluation
from apps.rules.selectors import active_rules, shown_version

AnySerializer = serializers.Serializer[Any]


@extend_schema_field(rule_schema(leave_out=["name", "extends"]) | {"additionalProperties": True})
class RuleField(JSONObjectField):
    """A rule document."""


class RuleVersions(AnySerializer):
    """version: of the registry; null for a key with a bound, which would learn of other people's rules by it."""

    version = serializers.IntegerField(allow_null=True, help_text="The registry's; null for a key with a bound.")


class RuleOutput(RuleVersions):
    """A rule document, with the versions of registry and rule beside its fields."""

    name = serializers.CharField()
    extends = serializers.CharField(allow_null=True, required=False)
    enabled = serializers.BooleanField(required=False)
    priority = serializers.IntegerField(required=False)
    description = serializers.CharField(allow_blank=True, required=False)
    conditions = JSONObjectField(required=False)
    detection = JSONObjectField(required=False)
    arbitration = JSONObjectField(required=False)
    merge = JSONObjectField(required=False)
    rule_version = serializers.IntegerField(allow_null=True, help_text="The registry's when the rule last changed.")


class RuleListOutput(RuleVersions):
    """Rules in the order in which they are asked."""

    results = RuleOutput(many=True)
    count = serializers.IntegerField()


class ExportOutput(RuleVersions):
    """Rules as they were given, by name."""

    rules = serializers.ListField(child=RuleField())
    count = serializers.IntegerField()


class MatchOutput(RuleVersions):
    """The rule that applies."""

    name = serializers.CharField()
    rule = RuleOutput()


@extend_schema_field(list[SignalOutput])  # type: ignore[arg-type]
class SignalsField(JSONObjectField):
    """The evidence for a conflict."""


class ArbitrationOutput(AnySerializer):
    """What is decided. `keep` without winner and loser: both memories stand, as the reason says."""

    action = serializers.ChoiceField(choices=[action.value for action in Action])
    winner = serializers.ChoiceField(choices=SIDES, allow_null=True)
    loser = serializers.ChoiceField(choices=SIDES, allow_null=True)
    confidence = serializers.FloatField()
    reason = serializers.CharField()
    strategy = serializers.ChoiceField(choices=[strategy.value for strategy in Strategy])


class MergeStatisticsOutput(AnySerializer):
    """What merging changed."""

    content_length = serializers.IntegerField()
    keywords_count = serializers.IntegerField()
    importance_delta = serializers.FloatField(help_text="Against the existing memory.")
    deduplicated_count = serializers.IntegerField()


class MergeOutput(AnySerializer):
    """The merged memory."""

    content = serializers.CharField(allow_blank=True)
    importance = serializers.FloatField()
    timestamp = serializers.DateTimeField()
    keywords = serializers.ListField(child=serializers.CharField())
    source = serializers.CharField()
    strategy = serializers.ChoiceField(choices=[strategy.value for strategy in ContentStrategy])
    common_keywords = serializers.ListField(child=serializers.CharField())
    statistics = MergeStatisticsOutput()


class EvaluateOutput(RuleVersions):
    """What would be decided about two memories. Nothing was changed."""

    signals = SignalsField()
    conflict = serializers.BooleanField(help_text="Whether the signals amount to a conflict.")
    decisive = serializers.BooleanField(help_text="Whether the evidence is strong enough to act on.")
    total_score = serializers.FloatField()
    similarity = serializers.FloatField(allow_null=True, help_text="Cosine; null when there is no embedding.")
    arbitration = ArbitrationOutput()
    merge = MergeOutput(allow_null=True)
    rule = serializers.CharField(help_text="The name of the rule that applied.")
    warning = serializers.CharField(allow_null=True, help_text="Why the semantic signal was left out, if it was.")


def rule_json(access: Access, document: Document) -> dict[str, Any]:
    """A rule as RuleOutput describes it."""
    known = active_rules()
    own = known.versions.get(document["name"], 0)
    return {
        **document,
        "version": shown_version(access, known.version),
        "rule_version": shown_version(access, own),
    }


def resolved_json(access: Access, rule: RuleConfig) -> dict[str, Any]:
    """A rule with all that it inherits, as RuleOutput describes it."""
    return rule_json(access, rule.to_document())


def evaluation_json(access: Access, evaluation: Evaluation) -> dict[str, Any]:
    """An evaluation as EvaluateOutput describes it."""
    result, detection = evaluation.arbitration, evaluation.detection
    return {
        "signals": [signal.as_json() for signal in detection.signals],
        "conflict": detection.is_conflict,
        "decisive": detection.is_conflict and detection.is_decisive,
        "total_score": detection.total_score,
        "similarity": evaluation.similarity,
        "arbitration": {
            "action": result.action.value,
            "winner": result.winner,
            "loser": result.loser,
            "confidence": result.confidence,
            "reason": result.reason,
            "strategy": result.strategy.value,
        },
        "merge": merge_json(evaluation.merge) if evaluation.merge else None,
        "rule": evaluation.rule.name,
        "version": shown_version(access, evaluation.version),
        "warning": evaluation.warning,
    }


def merge_json(merged: MergeResult) -> dict[str, Any]:
    """A merged memory as MergeOutput describes it."""
    statistics = merged.statistics
    return {
        "content": merged.content,
        "importance": merged.importance,
        "timestamp": merged.timestamp.isoformat().replace("+00:00", "Z"),
        "keywords": list(merged.keywords),
        "source": merged.source,
        "strategy": merged.strategy.value,
        "common_keywords": list(merged.common_keywords),
        "statistics": {
            "content_length": statistics.content_length,
            "keywords_count": statistics.keywords_count,
            "importance_delta": statistics.importance_delta,
            "deduplicated_count": statistics.deduplicated_count,
        },
    }
