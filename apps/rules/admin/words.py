"""Rules in plain words: what they catch, how they decide, and what an edit changes."""

from collections.abc import Iterable, Mapping
from typing import Any

from apps.rules.domain.documents.differences import INHERITED, SettingChange
from apps.rules.domain.documents.rule import DEFAULT_RULE, INFERRED_RULE, Document, RuleConfig
from apps.rules.domain.engine.arbitration import DefaultStrategy
from apps.rules.forms import DEFAULTS, SEPARATOR, setting_name, value_at, value_words

AT_LAST = {
    DefaultStrategy.KEEP_CANDIDATE: "the new one",
    DefaultStrategy.KEEP_EXISTING: "the stored one",
    DefaultStrategy.REJECT: "the stored one, and the new one is rejected",
}
MAX_PATHS = 6


def join_words(words: Iterable[str], last: str = "or") -> str:
    """Return words as people list them: `a, b or c`."""
    *others, end = words
    return f"{', '.join(others)} {last} {end}" if others else end


def describe_conditions(rule: RuleConfig) -> str:
    """Return what a rule catches, in words."""
    if rule.name == DEFAULT_RULE:
        return "Whatever no other rule catches"
    conditions, span = rule.conditions, rule.conditions.importance_range
    parts = [
        conditions.user_id and f"of the user {conditions.user_id}",
        conditions.household_id and f"in the household {conditions.household_id}",
        conditions.persona_id and f"of the persona {conditions.persona_id}",
        conditions.source and f"from the source {join_words(conditions.source)}",
        describe_span(span.min, span.max),
    ]
    named = " ".join(part for part in parts if part)
    return f"New memories {named}" if named else "Every new memory"


def describe_span(least: float | None, most: float | None) -> str:
    """Return between which importances, in words; empty for any."""
    if least is not None and most is not None:
        return f"of importance {least:g} to {most:g}"
    if least is not None:
        return f"of importance {least:g} or more"
    return "" if most is None else f"of importance {most:g} or less"


def describe_exception(rule: RuleConfig, guard: RuleConfig | None) -> str:
    """Return what the guard keeps from a rule, in words; empty for nothing. guard: the rule of inferred memories."""
    is_exempt = rule.name in {DEFAULT_RULE, INFERRED_RULE} or bool(rule.conditions.source)
    return "" if guard is None or not guard.enabled or is_exempt else "but for those that were only inferred"


def describe_strategies(rule: RuleConfig) -> str:
    """Return how a rule decides, step by step in words."""
    arbitration = rule.arbitration
    near = " (near ones are merged)" if arbitration.allow_merge else ""
    steps = [
        arbitration.priority_importance and "the more important memory",
        arbitration.priority_recency and "the newer one",
        arbitration.priority_source and "the one of the more trusted source",
        f"the one with the higher score{near}",
        AT_LAST[arbitration.default_strategy],
    ]
    return f"What stays: {', else '.join(step for step in steps if step)}."


def describe_change(change: SettingChange, parent: str, inherited: Document) -> str:
    """Return what an edit does to one setting, in a sentence. parent: by name, `inherited`: all that it has."""
    field = change.path.replace(".", SEPARATOR)
    beside = value_words(field, value_at(inherited, field))

    def words(value: Any) -> str:
        return f"as in {parent} ({beside})" if value is INHERITED else value_words(field, value)

    if change.path in {"extends", "description", "name"}:
        before, after = (DEFAULTS if value is INHERITED else str(value) for value in (change.before, change.after))
        return {
            "extends": f"Inherits from {after} instead of {before}.",
            "description": "The description is another one.",
            "name": f"A new rule, {after}.",
        }[change.path]
    return f"{setting_name(change.path)}: {words(change.after)}, was {words(change.before)}."


def list_settings(changes: list[SettingChange]) -> str:
    """Return the paths of the first settings that changed, and how many more."""
    paths = [change.path for change in changes]
    return ", ".join(paths[:MAX_PATHS]) + (f" and {len(paths) - MAX_PATHS} more" if len(paths) > MAX_PATHS else "")


def own_settings(document: Mapping[str, Any]) -> int:
    """Return how many settings a document has besides name, description and what it extends."""
    sections = {name: value for name, value in document.items() if name not in {"name", "extends", "description"}}
    return sum(count_values(value) for value in sections.values())


def count_values(value: Any) -> int:
    """Return the number of values in a section; 1 for a value."""
    return sum(map(count_values, value.values())) if isinstance(value, Mapping) else 1
