"""Examples of the operations of `core`."""

import json

from apps.core.schemas.examples import Example

KEY_ID = "0b6f6a4e-8d0c-4c53-9d1e-6a2f64f0b1c7"
BY_ID = {"uuid": KEY_ID}
EXPIRY = "2036-01-01T00:00:00Z"
KEY = {
    "id": KEY_ID,
    "name": "kitchen assistant",
    "shown": "mh_uV2DW",
    "permissions": ["read", "write"],
    "user_id": None,
    "household_id": "home",
    "persona_id": None,
    "origin": "app",
    "reads": ["team:kitchen"],
    "stopped_by": [],
    "created_at": "2026-03-01T17:02:11.480000Z",
    "created_by": "key:operator",
    "expires_at": EXPIRY,
    "last_used_at": None,
    "revoked_at": None,
    "rotated_at": None,
    "previous_until": None,
}
OPERATOR = {
    **KEY,
    "id": "9d7c1f52-30b8-4a6e-8e15-2b4f7a90c3d6",
    "name": "operator",
    "shown": "mh_EMqKF",
    "permissions": ["read", "write", "operator"],
    "household_id": None,
    "reads": [],
    "created_at": "2026-03-01T16:58:40.102000Z",
    "created_by": "first start",
    "expires_at": None,
    "last_used_at": "2026-03-01T17:02:11.471000Z",
}
AFTER = ("keys_create",)
EXPORTED = (
    {"kind": "header", "format": 1, "hub": "0.1.0", "asked": {"user_id": "ana"}, "vectors": False},
    {
        "kind": "membership",
        "uuid": "8b1f5f0e-6c1d-4c58-9d3f-2a7c40f1be63",
        "user_id": "ana",
        "household_id": "home",
        "persona_id": "",
        "state": "member",
        "made_by": "key:operator",
        "made_at": "2026-03-01T17:31:04.273000+00:00",
    },
    {
        "kind": "memory",
        "uuid": "3f0c8d1e-0e7e-4b0e-8a53-1f4b6f0a2c91",
        "user_id": "ana",
        "household_id": "home",
        "persona_id": "",
        "content": "Ana lives in Lisbon.",
        "agent": "",
        "personality": "",
        "project": "",
        "type": "home",
        "is_global": False,
        "decay_policy": "reinforceable",
        "importance": 0.7,
        "base_confidence": 1.0,
        "keywords": ["address"],
        "source": "conversation",
        "origin": "app",
        "occurred_at": "2026-03-01T17:30:00+00:00",
        "expires_at": None,
        "session_id": "chat-7",
        "further_sessions": [],
        "context": "",
        "metadata": {"message": "m-118"},
        "managed_by": "",
        "status": "active",
        "created_at": "2026-03-01T17:31:04.273000+00:00",
        "updated_at": "2026-03-01T17:31:04.273000+00:00",
        "last_reinforced_at": None,
        "status_changed_at": None,
        "history": [
            {
                "action": "created",
                "reason": "unique_hash",
                "actor": "key:operator",
                "at": "2026-03-01T17:31:04.273000+00:00",
                "changes": {},
                "conflict": None,
            }
        ],
    },
    *(
        {
            "kind": "audit_entry",
            "at": "2026-03-09T08:00:00.200000+00:00",
            "actor_kind": "key",
            "actor": "operator",
            "action": action,
            "object_type": object_type,
            "object_id": object_id,
            "user_id": "ana",
            "household_id": household,
            "persona_id": "",
            "outcome": "done",
            "address": "127.0.0.1",
            "request_id": "",
            "detail": {"key": "1f6f2f30-58f5-4a9c-8f0b-2f1f6c1d2a10"},
        }
        for action, object_type, object_id, household in (
            ("memories.create", "memories", "4d237db0-1f06-489f-b09d-3e46a85144bf", "home"),
            ("export.open", "export", "", ""),
        )
    ),
    {"kind": "end", "lines": {"membership": 1, "memory": 1, "audit_entry": 2}, "complete": True},
)

MEMBERSHIP_ID = "5f7c2f0e-1f4d-4f6e-9a53-0d6f1b8e7c24"
MEMBERSHIP = {
    "id": MEMBERSHIP_ID,
    "user_id": "ana",
    "household_id": "home",
    "persona_id": None,
    "state": "member",
    "made_by": "key:operator",
    "made_at": "2026-03-01T17:02:11.480000Z",
}
AFTER_MEMBERSHIP = ("memberships_create",)

EXAMPLES = {
    "memberships_create": Example(
        "Add a user to a household",
        body={"user_id": "ana", "household_id": "home"},
        status=201,
        answer=MEMBERSHIP,
    ),
    "memberships_list": Example(
        "List who belongs to a household",
        after=AFTER_MEMBERSHIP,
        query={"household_id": "home"},
        answer={"next": None, "previous": None, "results": [MEMBERSHIP]},
    ),
    "memberships_retrieve": Example(
        "Show a membership", after=AFTER_MEMBERSHIP, path={"uuid": MEMBERSHIP_ID}, answer=MEMBERSHIP
    ),
    "memberships_end": Example("End a membership", after=AFTER_MEMBERSHIP, path={"uuid": MEMBERSHIP_ID}, status=204),
    "export": Example(
        "Export a person or everything",
        after=("memories_save",),
        query={"user_id": "ana"},
        answer="".join(json.dumps(line, separators=(",", ":")) + "\n" for line in EXPORTED),
    ),
    "keys_create": Example(
        "Create a key",
        body={
            "name": "kitchen assistant",
            "household_id": "home",
            "permissions": ["read", "write"],
            "reads": ["team:kitchen"],
            "expires_at": EXPIRY,
        },
        status=201,
        answer={**KEY, "key": "mh_uV2DW0aYx3s7Zq9Lk1TnBv5Rc8Wd4Ef6Gh2Jm0Pq3S"},
    ),
    "keys_list": Example("List keys", after=AFTER, answer={"results": [KEY, OPERATOR], "count": 2}),
    "keys_retrieve": Example("Show a key", after=AFTER, path=BY_ID, answer=KEY),
    "keys_update": Example(
        "Change a key",
        after=AFTER,
        path=BY_ID,
        body={"name": "kitchen and garden", "expires_at": None},
        answer={**KEY, "name": "kitchen and garden", "expires_at": None},
    ),
    "keys_rotate": Example(
        "Rotate a key",
        after=AFTER,
        path=BY_ID,
        body={"overlap_seconds": 3600},
        answer={
            **KEY,
            "shown": "mh_to7W7",
            "rotated_at": "2026-03-09T08:00:00.913000Z",
            "previous_until": "2026-03-09T09:00:00.913000Z",
            "key": "mh_to7W7wX3s3rmYnD8vr1EWoHPPOW3nnghUaljzLqe0Is",
        },
    ),
    "keys_revoke": Example("Revoke a key", after=AFTER, path=BY_ID, status=204),
}
