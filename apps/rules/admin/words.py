"""Rules in plain words: what they catch, how they decide, and what an edit changes."""

from collections.abc import Mapping
from functools import reduce
from typing import Any

from django.utils.html import format_html
from django.utils.translation import gettext, pgettext
from django.utils.translation import gettext_lazy as _

from apps.rules.domain.documents.differences import INHERITED, SettingChange
from apps.rules.domain.documents.rule import DEFAULT_RULE, INFERRED_RULE, Document, RuleConfig
from apps.rules.domain.engine.arbitration import DefaultStrategy
from apps.rules.forms import DEFAULTS, SEPARATOR, setting_name, value_at, value_words

AT_LAST = {
    DefaultStrategy.KEEP_CANDIDATE: _("the new one"),
    DefaultStrategy.KEEP_EXISTING: _("the stored one"),
    DefaultStrategy.REJECT: _("the stored one, and the new one is rejected"),
}
MAX_PATHS = 6


def describe_conditions(rule: RuleConfig) -> str:
    """Return what a rule catches, in words."""
    if rule.name == DEFAULT_RULE:
        return gettext("Whatever no other rule catches")
    conditions, span = rule.conditions, rule.conditions.importance_range
    *others, end = conditions.source or [""]
    listed = gettext("%(others)s or %(last)s") % {"others": ", ".join(others), "last": end} if others else end
    parts = [
        conditions.user_id and gettext("of the user %(id)s") % {"id": conditions.user_id},
        conditions.household_id and gettext("in the household %(id)s") % {"id": conditions.household_id},
        conditions.persona_id and gettext("of the persona %(id)s") % {"id": conditions.persona_id},
        conditions.source and gettext("from the source %(names)s") % {"names": listed},
        describe_span(span.min, span.max),
    ]
    named = [part for part in parts if part]
    if not named:
        return gettext("Every new memory")
    words = reduce(
        lambda first, then: pgettext("conditions", "%(first)s %(then)s") % {"first": first, "then": then}, named
    )
    return gettext("New memories %(conditions)s") % {"conditions": words}


def describe_span(least: float | None, most: float | None) -> str:
    """Return between which importances, in words; empty for any."""
    if least is not None and most is not None:
        return gettext("of importance %(least)s to %(most)s") % {"least": f"{least:g}", "most": f"{most:g}"}
    if least is not None:
        return gettext("of importance %(least)s or more") % {"least": f"{least:g}"}
    return "" if most is None else gettext("of importance %(most)s or less") % {"most": f"{most:g}"}


def describe_exception(rule: RuleConfig, guard: RuleConfig | None) -> str:
    """Return what the guard keeps from a rule, in words; empty for nothing. guard: the rule of inferred memories."""
    is_exempt = rule.name in {DEFAULT_RULE, INFERRED_RULE} or bool(rule.conditions.source)
    return "" if guard is None or not guard.enabled or is_exempt else gettext("except those that were only inferred")


def describe_strategies(rule: RuleConfig) -> str:
    """Return how a rule decides, step by step in words."""
    arbitration = rule.arbitration
    steps = [
        arbitration.priority_importance and gettext("the more important memory"),
        arbitration.priority_recency and gettext("the newer one"),
        arbitration.priority_source and gettext("the one from the more trusted source"),
        gettext("the one with the higher score (near ones are merged)")
        if arbitration.allow_merge
        else gettext("the one with the higher score"),
        str(AT_LAST[arbitration.default_strategy]),
    ]
    said = [step for step in steps if step]
    words = reduce(lambda first, then: gettext("%(first)s, else %(then)s") % {"first": first, "then": then}, said)
    return gettext("What stays: %(steps)s.") % {"steps": words}


def describe_change(change: SettingChange, parent: str, inherited: Document) -> str:
    """Return what an edit does to one setting, in a sentence. parent: by name, `inherited`: all that it has."""
    field = change.path.replace(".", SEPARATOR)
    beside = value_words(field, value_at(inherited, field))

    def words(value: Any) -> str:
        if value is not INHERITED:
            return value_words(field, value)
        return gettext("as in %(parent)s (%(value)s)") % {"parent": parent, "value": beside}

    if change.path in {"extends", "description", "name"}:
        before, after = (str(DEFAULTS) if value is INHERITED else str(value) for value in (change.before, change.after))
        return {
            "extends": gettext("Inherits from %(after)s instead of %(before)s.") % {"after": after, "before": before},
            "description": gettext("The description is different."),
            "name": gettext("A new rule, %(name)s.") % {"name": after},
        }[change.path]
    return gettext("%(setting)s: %(after)s, was %(before)s.") % {
        "setting": setting_name(change.path),
        "after": words(change.after),
        "before": words(change.before),
    }


def list_settings(changes: list[SettingChange]) -> str:
    """Return the paths of the first settings that changed, and how many more."""
    paths = [change.path for change in changes]
    names = format_html('<span translate="no">{}</span>', ", ".join(paths[:MAX_PATHS]))
    if len(paths) <= MAX_PATHS:
        return names
    return format_html(gettext("{names} and {count} more"), names=names, count=len(paths) - MAX_PATHS)


def count_settings(value: Any) -> int:
    """Return the number of values in a document or a section of it; 1 for a value."""
    return sum(map(count_settings, value.values())) if isinstance(value, Mapping) else 1
