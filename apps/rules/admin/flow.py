"""The list of rules as a flow: in the order in which they are asked, with what they catch and what became of it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse
from django.utils.translation import gettext

from apps.core.admin.kit import may_view, moment, operator_access
from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.pages.sayings import say
from apps.rules.admin.words import count_settings, describe_conditions, describe_exception, describe_strategies
from apps.rules.domain.documents.rule import DEFAULT_RULE, INFERRED_RULE
from apps.rules.figures import DecisionFigures, decision_figures
from apps.rules.forms import DEFAULTS
from apps.rules.models import MergeRule
from apps.rules.registry import RuleSet, active_rules

DAYS = 30
# Of more, the search finds one.
MAX_SHOWN = 200
# Besides the settings of its own that a rule has.
NOT_COUNTED = frozenset({"name", "extends", "description"})
DECISIONS = "admin:semantic_conflict_changelist"


@dataclass(frozen=True)
class FlowRow:
    """A rule in the flow. place: when it is asked, None for never. figures: None for who may not see decisions."""

    name: str
    url: str
    place: int | None
    catches: str
    exception: str
    decides: str
    description: str
    parent: str
    parent_url: str
    own: int
    problem: str
    changed: str
    figures: DecisionFigures | None
    decisions_url: str

    @property
    def searched(self) -> str:
        """Return what the search of the list looks through."""
        return " ".join((self.name, self.description, self.catches, self.parent)).casefold()


def flow_context(request: HttpRequest) -> dict[str, Any]:
    """Return what the list shows: the rules that are asked, the default rule, and those that are not."""
    known, now = active_rules(), utcnow(SYSTEM_CLOCK)
    figures = None
    if may_view(request, "semantic.conflict"):
        figures = decision_figures(operator_access(request), now - timedelta(days=DAYS))
    words = request.GET.get("q", "").replace("\x00", "").strip()
    rows = [row for row in flow_rows(known, figures) if words.casefold() in row.searched]
    shown = rows[:MAX_SHOWN]
    gone = {name: one for name, one in (figures or {}).items() if name not in known.documents}
    return {
        "asked": [row for row in shown if row.place is not None and row.name != DEFAULT_RULE],
        "last": next((row for row in shown if row.name == DEFAULT_RULE), None),
        "silent": [row for row in shown if row.place is None],
        "left_out": len(rows) - len(shown),
        "total": len(known.documents),
        "words": words,
        "days": DAYS,
        "shows_figures": figures is not None,
        "gone": sum(one.decided for one in gone.values()),
        "now": now,
    }


def flow_rows(known: RuleSet, figures: Mapping[str, DecisionFigures] | None) -> Iterator[FlowRow]:
    """Yield every rule: those that are asked in their order, the default rule, then the disabled and broken ones."""
    stored = {row.name: row for row in MergeRule.objects.all()}
    enabled = [rule for rule in known.ordered() if rule.enabled and rule.name != DEFAULT_RULE]
    asked = [rule.name for rule in [*enabled, known.rules[DEFAULT_RULE]]]
    silent = sorted(stored.keys() - set(asked))
    keys = {name: row.pk for name, row in stored.items()}
    for place, name in enumerate([*asked, *silent], 1):
        row = stored.get(name)
        if row is None:
            continue
        rule, document = known.rules.get(name), known.documents.get(name, row.document)
        parent = str(document.get("extends") or "")
        yield FlowRow(
            name=name,
            url=rule_url(row.pk),
            place=place if name in asked else None,
            catches=describe_conditions(rule) if rule else "",
            exception=describe_exception(rule, known.rules.get(INFERRED_RULE)) if rule else "",
            decides=describe_strategies(rule) if rule else "",
            description=str(document.get("description") or ""),
            parent=parent or str(DEFAULTS),
            parent_url=rule_url(keys[parent]) if parent in keys else "",
            own=count_settings({name: value for name, value in document.items() if name not in NOT_COUNTED}),
            problem=say(known.broken.get(name, "")),
            changed=gettext("%(at)s by %(actor)s") % {"at": moment(row.updated_at), "actor": row.updated_by},
            figures=None if figures is None else figures.get(name, DecisionFigures(0)),
            decisions_url=decisions_url(name),
        )


def rule_url(pk: int) -> str:
    """Return the address of a rule's page."""
    return reverse("admin:rules_mergerule_change", args=[pk])


def decisions_url(name: str) -> str:
    """Return the address of the decisions of a rule, whatever became of them; empty where there is no such page."""
    try:
        return f"{reverse(DECISIONS)}?{urlencode({'rule_name': name, 'state': 'all'})}"
    except NoReverseMatch:
        return ""
