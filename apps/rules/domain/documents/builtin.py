"""The rules that every hub has from its first start. They can be edited, but not deleted."""

from collections.abc import Mapping
from typing import Any

from apps.rules.domain.documents.rule import DEFAULT_RULE, INFERRED_RULE

# What they do not say comes from the defaults of the configuration classes, which are chosen by measurement.
BUILT_IN: Mapping[str, Mapping[str, Any]] = {
    DEFAULT_RULE: {
        "name": DEFAULT_RULE,
        "description": "Applies where no other rule does. The newer of two conflicting memories wins.",
    },
    INFERRED_RULE: {
        "name": INFERRED_RULE,
        "extends": DEFAULT_RULE,
        "priority": -100,
        "description": "What was only inferred never overrides what a better source said, however old that is. "
        "Of two inferred memories the newer one wins. Holds beside every rule that does not name this source.",
        "conditions": {"source": "inferred"},
        "arbitration": {
            "priority_recency": False,
            "priority_source": True,
            "weights": {"importance": 0, "recency": 1, "source": 0, "semantic": 0},
            "merge_threshold": 0,
        },
    },
}


def with_built_in(stored: Mapping[str, dict[str, Any]], versions: Mapping[str, int]) -> dict[str, dict[str, Any]]:
    """All rules: those stored, and the built-in ones as they are here unless they were edited.

    versions: name -> version of the registry when the rule last changed, 0 for never.
    """
    unedited = {name: dict(document) for name, document in BUILT_IN.items() if not versions.get(name)}
    return {**stored, **unedited}
