"""Examples of the operations of rules."""

from apps.core.schemas.examples import Example
from apps.rules.domain.engine.signals import ACT_FROM, NOTICE_FROM, SAME_FROM, VETO_BELOW

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
DEFAULT = {
    "name": "default",
    "description": "Applies where no other rule does. The newer of two conflicting memories wins.",
}
INFERRED = {
    "name": "inferred",
    "extends": "default",
    "priority": -100,
    "description": "What was only inferred never overrides what a better source said, however old that is. Of two "
    "inferred memories the newer one wins. Holds beside every rule that does not name this source.",
    "conditions": {"source": "inferred"},
    "arbitration": {
        "priority_recency": False,
        "priority_source": True,
        "weights": {"importance": 0, "recency": 1, "source": 0, "semantic": 0},
        "merge_threshold": 0,
    },
}
CONDITIONS = {
    "user_id": None,
    "household_id": "home",
    "persona_id": None,
    "source": "system",
    "importance_range": {"min": None, "max": None},
}
# With all that it inherits.
KITCHEN_RESOLVED = {
    **KITCHEN,
    "enabled": True,
    "conditions": CONDITIONS,
    "detection": {
        "semantic_threshold": 0.98,
        "keyword_threshold": 0.9,
        "contradiction_threshold": 0.5,
        "act_threshold": 0.85,
        "restate_threshold": 0.8,
        "pair_notice_threshold": NOTICE_FROM,
        "pair_act_threshold": ACT_FROM,
        "pair_same_threshold": SAME_FROM,
        "pair_veto_threshold": VETO_BELOW,
        "judge_threshold": 0.8,
        "time_window_seconds": 300.0,
        "importance_delta": 0.3,
        "weights": {
            "semantic": 1.0,
            "keyword": 1.0,
            "time": 1.0,
            "importance": 1.0,
            "contradiction": 1.0,
            "cross_encoder": 1.0,
            "judge": 1.0,
        },
    },
    "arbitration": {
        "priority_importance": False,
        "priority_recency": False,
        "priority_source": True,
        "weights": {"importance": 0.4, "recency": 0.3, "source": 0.2, "semantic": 0.1},
        "merge_threshold": 0.2,
        "allow_merge": True,
        "merge_contradictions": False,
        "act_on_weak_evidence": False,
        "hide_after_days": 30.0,
        "default_strategy": "keep-candidate",
    },
    "merge": {
        "content_strategy": "smart",
        "metadata_strategy": {
            "importance": "max",
            "timestamp": "max",
            "keywords": "union",
            "source": "prefer-higher",
        },
        "boost_amount": 0.1,
        "deduplicate": True,
        "deduplicate_threshold": 0.8,
    },
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
                {**DEFAULT, "version": 1, "rule_version": 0},
                {**INFERRED, "version": 1, "rule_version": 0},
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
            "conditions": {**CONDITIONS, "source": ["skill", "system"]},
            "version": 2,
            "rule_version": 2,
        },
    ),
    "rules_delete": Example("Delete a rule", after=AFTER, path=NAME, query={"expected_version": 1}, status=204),
    "rules_export": Example(
        "Export all rules", after=AFTER, answer={"rules": [DEFAULT, INFERRED, KITCHEN], "count": 3, "version": 1}
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
