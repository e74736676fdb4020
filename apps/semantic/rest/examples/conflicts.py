"""Examples: Ana moves, the hub decides, and a person reviews that."""

from apps.core.schemas.examples import Example
from apps.semantic.rest.examples.memories import CONFLICT_ID, LISBON, LISBON_ID, MOVED, SCOPE

BY_ID = {"uuid": CONFLICT_ID}
AFTER = ("memories_save", "memories_save_batch")
ACTIVE = {"status": "active", "superseded_by": None, "status_changed_at": None}
DECIDED_AT = MOVED["created_at"]
REVIEWED_AT = "2026-05-02T19:20:07.296000Z"
SUPERSEDED = {"status": "superseded", "superseded_by": MOVED["id"], "status_changed_at": DECIDED_AT}
DELETED = {"status": "deleted", "superseded_by": None, "status_changed_at": REVIEWED_AT}
CANDIDATE = {
    "id": MOVED["id"],
    "content": MOVED["content"],
    "timestamp": MOVED["occurred_at"],
    "importance": 0.5,
    "source": "user",
    "origin": "app",
    "keywords": [],
    "status": "active",
    "superseded_by": None,
}
EXISTING = {
    "id": LISBON_ID,
    "content": LISBON["content"],
    "timestamp": "2026-03-01T17:30:00Z",
    "importance": 0.7,
    "source": "conversation",
    "origin": "app",
    "keywords": ["address"],
    "status": "superseded",
    "superseded_by": MOVED["id"],
}
RECEIPT = {
    "id": CONFLICT_ID,
    **SCOPE,
    "persona_id": None,
    "origin": "save",
    "outcome": "superseded_existing",
    "state": "open",
    "candidate": CANDIDATE,
    "existing": EXISTING,
    "result": MOVED["id"],
    "action": "keep",
    "winner": "candidate",
    "loser": "existing",
    "strategy": "recency",
    "confidence": 0.991884,
    "reason": "The newer memory wins: it is 61 days younger.",
    "signals": [
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
                "target": LISBON_ID,
            },
        }
    ],
    "total_score": 1.0,
    "similarity": 0.686352,
    "rule": "default",
    "rule_version": 0,
    "merge": None,
    "others": [],
    "transitions": [
        {"memory": MOVED["id"], "before": None, "after": ACTIVE},
        {"memory": LISBON_ID, "before": ACTIVE, "after": SUPERSEDED},
    ],
    "about": None,
    "actor": "key:kitchen assistant",
    "at": DECIDED_AT,
    "reviewed_by": "",
    "reviewed_at": None,
}
REVIEWED = {**RECEIPT, "state": "accepted", "reviewed_by": "key:operator", "reviewed_at": REVIEWED_AT}
REVERSAL = {
    **REVIEWED,
    "result": None,
    "winner": None,
    "loser": None,
    "confidence": 1.0,
    "about": CONFLICT_ID,
    "actor": "key:operator",
    "at": REVIEWED_AT,
}
# As a rehearsal shows it.
DECISION = {
    "outcome": "superseded_existing",
    "rule": "default",
    "existing": LISBON_ID,
    "inactive": [LISBON_ID],
    "merged": None,
    "strategy": "recency",
    "confidence": 0.991884,
    "reason": "The newer memory wins: it is 61 days younger.",
}

EXAMPLES = {
    "conflicts_list": Example(
        "List conflicts",
        after=AFTER,
        query={"user_id": "ana", "state": "open", "limit": 20, "count": True},
        answer={"next": None, "previous": None, "total": 1, "results": [RECEIPT]},
    ),
    "conflicts_retrieve": Example("Show a conflict", after=AFTER, path=BY_ID, answer=RECEIPT),
    "conflicts_accept": Example("Accept a decision", after=AFTER, path=BY_ID, answer=REVIEWED),
    "conflicts_revert": Example(
        "Revert a decision",
        after=AFTER,
        path=BY_ID,
        answer={
            **REVERSAL,
            "id": "d007c895-b339-4efd-b105-e69599c1f4f4",
            "origin": "revert",
            "outcome": "reverted",
            "candidate": {**CANDIDATE, "status": "deleted"},
            "existing": {**EXISTING, "status": "active", "superseded_by": None},
            "action": "revert",
            "strategy": "revert",
            "reason": "Reverted by key:operator.",
            "transitions": [
                {"memory": MOVED["id"], "before": ACTIVE, "after": DELETED},
                {"memory": LISBON_ID, "before": SUPERSEDED, "after": ACTIVE},
            ],
        },
    ),
    "conflicts_override": Example(
        "Override a decision",
        after=AFTER,
        path=BY_ID,
        body={"winner": "both"},
        answer={
            **REVERSAL,
            "id": "25169a52-f587-4c9d-8b86-31d31220c342",
            "origin": "override",
            "outcome": "kept_both",
            "existing": {**EXISTING, "status": "active", "superseded_by": None},
            "strategy": "override",
            "reason": "key:operator decided: both memories are kept.",
            "transitions": [{"memory": LISBON_ID, "before": SUPERSEDED, "after": ACTIVE}],
        },
    ),
    "rules_rehearse": Example(
        "Rehearse a change of a rule",
        after=AFTER,
        path={"name": "default"},
        body={
            "user_id": "ana",
            "changes": {
                "arbitration": {
                    "priority_recency": False,
                    "priority_source": False,
                    "weights": {"recency": 0, "source": 0},
                }
            },
        },
        answer={
            "rule": "default",
            "version": 0,
            "changed_rules": ["default"],
            "decisions": {
                "replayed": 1,
                "differ": 1,
                "transitions": {"superseded_existing -> kept_existing": 1},
                "rules": [{"rule": "default", "count": 1}],
                "complete": True,
                "due_to_change": 1,
                "results": [
                    {
                        "conflict": CONFLICT_ID,
                        "at": DECIDED_AT,
                        "origin": "save",
                        "state": "open",
                        "candidate": {"id": MOVED["id"], "excerpt": MOVED["content"]},
                        "existing": {"id": LISBON_ID, "excerpt": LISBON["content"]},
                        "similarity": 0.686352,
                        "current": DECISION,
                        "changed": {
                            **DECISION,
                            "outcome": "kept_existing",
                            "inactive": [MOVED["id"]],
                            "strategy": "multi-factor",
                            "confidence": 0.58,
                            "reason": "The score 0.560 beats 0.400.",
                        },
                        "recorded": DECISION,
                        "due_to_change": True,
                    }
                ],
            },
            "neighbours": None,
        },
    ),
}
