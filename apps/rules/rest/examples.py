"""Examples of the operations of rules."""

from apps.core.schemas.examples import Example
from apps.rules.domain.documents.inheritance import resolve
from apps.rules.domain.documents.rule import BUILT_IN, DEFAULT_RULE, INFERRED_RULE

NAME = {"name": "kitchen"}
AFTER = ("rules_register",)
KITCHEN = {
    "name": "kitchen",
    "extends": "default",
    "priority": 10,
    "description": "What a device reports never replaces what a person said.",
    "conditions": {"household_id": "home", "source": "system"},
    "arbitration": {"priority_recency": False},
}
# With all that it inherits.
KITCHEN_RESOLVED = {
    **KITCHEN,
    **resolve("kitchen", {**BUILT_IN, "kitchen": KITCHEN}).to_document(),
    "version": 1,
    "rule_version": 1,
}
STORED = {
    "user_id": "ana",
    "household_id": "home",
    "content": "Ana lives in Lisbon.",
    "occurred_at": "2026-03-01T18:30:00Z",
}
REPORTED = {
    **STORED,
    "content": "Ana does not live in Lisbon.",
    "occurred_at": "2026-05-01T08:00:00Z",
    "source": "system",
}
SIGNALS = [
    {
        "type": "keyword",
        "score": 1.0,
        "evidence": {"overlap": 1.0, "threshold": 0.9, "keywords": ["ana", "lisbon", "live"], "target": "existing"},
    },
    {
        "type": "contradiction",
        "score": 1.0,
        "evidence": {
            "reason": "negation",
            "candidate": "ana does not live in lisbon",
            "existing": "ana lives in lisbon",
            "readings": ["assertion, present, negative", "assertion, present"],
            "differing": [["not", ""]],
            "common": ["ana", "lisbon", "live"],
            "threshold": 0.5,
            "target": "existing",
        },
    },
]

EXAMPLES = {
    "rules_register": Example("Register a rule", body=KITCHEN, status=201, answer=KITCHEN_RESOLVED),
    "rules_list": Example(
        "List rules",
        after=AFTER,
        query={"raw": True},
        answer={
            "results": [
                {**KITCHEN, "version": 1, "rule_version": 1},
                {**BUILT_IN[DEFAULT_RULE], "version": 1, "rule_version": 0},
                {**BUILT_IN[INFERRED_RULE], "version": 1, "rule_version": 0},
            ],
            "count": 3,
            "version": 1,
        },
    ),
    "rules_retrieve": Example(
        "Show a rule",
        after=AFTER,
        path=NAME,
        query={"raw": True},
        answer={**KITCHEN, "version": 1, "rule_version": 1},
    ),
    "rules_update": Example(
        "Change a rule",
        after=AFTER,
        path=NAME,
        query={"expected_version": 1},
        body={"priority": 20, "conditions": {"source": ["system", "skill"]}},
        answer={
            **KITCHEN_RESOLVED,
            "priority": 20,
            "conditions": {**KITCHEN_RESOLVED["conditions"], "source": ["skill", "system"]},
            "version": 2,
            "rule_version": 2,
        },
    ),
    "rules_delete": Example("Delete a rule", after=AFTER, path=NAME, query={"expected_version": 1}, status=204),
    "rules_export": Example(
        "Export all rules", after=AFTER, answer={"rules": [*BUILT_IN.values(), KITCHEN], "count": 3, "version": 1}
    ),
    "rules_load": Example(
        "Load rules",
        body={"rules": [KITCHEN]},
        answer={"results": [KITCHEN_RESOLVED], "count": 1, "version": 1},
    ),
    "rules_match": Example(
        "Find the rule for two memories",
        after=AFTER,
        body={"candidate": REPORTED, "existing": STORED},
        answer={"name": "kitchen", "rule": KITCHEN_RESOLVED, "version": 1},
    ),
    "rules_evaluate": Example(
        "Try a rule on two memories",
        after=AFTER,
        body={
            "candidate": REPORTED,
            "existing": STORED,
            "rule": "kitchen",
            "config": {"merge": {"deduplicate": False}},
        },
        answer={
            "signals": SIGNALS,
            "conflict": True,
            "decisive": True,
            "total_score": 2.0,
            "similarity": 0.686352,
            "arbitration": {
                "action": "keep",
                "winner": "existing",
                "loser": "candidate",
                "confidence": 0.9,
                "reason": "The source user is better than system.",
                "strategy": "source",
            },
            "merge": None,
            "rule": "kitchen",
            "version": 1,
            "warning": None,
        },
    ),
}
