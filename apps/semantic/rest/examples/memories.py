"""Examples: what the assistant learns about Ana, and changes."""

from apps.core.schemas.examples import Example

LISBON_ID = "3f0c8d1e-0e7e-4b0e-8a53-1f4b6f0a2c91"
CONFLICT_ID = "e8b1c9d4-2f3a-4d76-8c05-6a9e1b7f4d20"
VERSION = "dd81327f0a64c95be3d1"
BY_ID = {"uuid": LISBON_ID}
SCOPE = {"user_id": "ana", "household_id": "home"}
AFTER = ("memories_save",)
LISBON_INPUT = {
    **SCOPE,
    "content": "Ana lives in Lisbon.",
    "type": "home",
    "decay_policy": "reinforceable",
    "importance": 0.7,
    "keywords": ["address"],
    "source": "conversation",
    "session_id": "chat-7",
    "occurred_at": "2026-03-01T18:30:00+01:00",
    "metadata": {"message": "m-118"},
}
LISBON = {
    "id": LISBON_ID,
    "version": VERSION,
    "content": "Ana lives in Lisbon.",
    **SCOPE,
    "persona_id": None,
    "agent": "",
    "personality": "",
    "project": "",
    "type": "home",
    "global": False,
    "decay_policy": "reinforceable",
    "importance": 0.7,
    "confidence": 1.0,
    "base_confidence": 1.0,
    "keywords": ["address"],
    "source": "conversation",
    "origin": "app",
    "occurred_at": "2026-03-01T18:30:00+01:00",
    "expires_at": None,
    "session_id": "chat-7",
    "further_sessions": [],
    "context": "",
    "metadata": {"message": "m-118"},
    "managed": False,
    "status": "active",
    "deleted": False,
    "superseded_by": None,
    "created_at": "2026-03-01T17:31:04.273000Z",
    "updated_at": "2026-03-01T17:31:04.273000Z",
    "last_reinforced_at": None,
}
CHANGED = {**LISBON, "version": "227feb283a80dab9d858", "updated_at": "2026-03-08T10:12:45.033000Z"}
MOVED = {
    **LISBON,
    "id": "9a4d2b77-6c1f-4e57-b1d6-0c5e8f7a3b12",
    "version": "2f1b43728bc33553280b",
    "content": "Ana does not live in Lisbon.",
    "decay_policy": "stable",
    "importance": 0.5,
    "keywords": [],
    "source": "user",
    "occurred_at": "2026-05-01T08:00:00Z",
    "session_id": "",
    "metadata": {},
    "created_at": "2026-05-01T08:03:22.716000Z",
    "updated_at": "2026-05-01T08:03:22.716000Z",
}
PEANUTS = {
    **MOVED,
    "id": "c1e7a5d0-4b8e-4f6a-9f21-7d3b2a6e5c48",
    "version": "e7a50d2430e319dba60f",
    "content": "Ana is allergic to peanuts.",
    "persona_id": "cook",
    "project": "birthday",
    "type": "health",
    "importance": 1.0,
    "occurred_at": None,
}

EXAMPLES = {
    "memories_save": Example(
        "Save a memory",
        body=LISBON_INPUT,
        status=201,
        answer={"action": "inserted", "reason": "unique_hash", "memory": LISBON, "conflict": None},
    ),
    "memories_save_batch": Example(
        "Save many memories",
        after=AFTER,
        body={
            "memories": [
                {
                    **SCOPE,
                    "content": "Ana does not live in Lisbon.",
                    "type": "home",
                    "occurred_at": "2026-05-01T08:00:00Z",
                },
                {
                    **SCOPE,
                    "persona_id": "cook",
                    "content": "Ana is allergic to peanuts.",
                    "project": "birthday",
                    "type": "health",
                    "importance": 1.0,
                },
                {**SCOPE, "content": "Ana likes green tea.", "importance": 70},
            ]
        },
        answer={
            "results": [
                {
                    "status": 200,
                    "action": "superseded_existing",
                    "reason": "recency",
                    "memory": MOVED,
                    "conflict": CONFLICT_ID,
                },
                {"status": 201, "action": "inserted", "reason": "unique_hash", "memory": PEANUTS, "conflict": None},
                {
                    "status": 400,
                    "type": "validation_error",
                    "errors": [
                        {
                            "code": "max_value",
                            "detail": "Ensure this value is less than or equal to 1.",
                            "attr": "importance",
                        }
                    ],
                },
            ],
            "count": 3,
        },
    ),
    "memories_list": Example(
        "List memories",
        after=AFTER,
        query={
            **SCOPE,
            "type": "home",
            "filter": '{"importance": {"gte": 0.5}}',
            "sort": "-importance",
            "limit": 20,
            "count": True,
        },
        answer={"next": None, "previous": None, "total": 1, "results": [LISBON]},
    ),
    "memories_retrieve": Example("Show a memory", after=AFTER, path=BY_ID, answer=LISBON),
    "memories_update": Example(
        "Change a memory",
        after=AFTER,
        path=BY_ID,
        headers={"If-Match": f'"{VERSION}"'},
        body={"importance": 0.9, "metadata": {"message": None, "confirmed": True}},
        answer={
            "action": "updated",
            "reason": "edited",
            "memory": {**CHANGED, "importance": 0.9, "metadata": {"confirmed": True}},
            "conflict": None,
        },
    ),
    "memories_history": Example(
        "Show the history of a memory",
        after=("memories_save", "memories_update"),
        path=BY_ID,
        answer={
            "results": [
                {
                    "action": "created",
                    "reason": "unique_hash",
                    "actor": "key:kitchen assistant",
                    "at": LISBON["created_at"],
                    "changes": {},
                    "conflict": None,
                },
                {
                    "action": "updated",
                    "reason": "edited",
                    "actor": "key:kitchen assistant",
                    "at": CHANGED["updated_at"],
                    "changes": {"importance": [0.7, 0.9], "metadata": [{"message": "m-118"}, {"confirmed": True}]},
                    "conflict": None,
                },
            ],
            "count": 2,
        },
    ),
    "memories_reinforce": Example(
        "Reinforce a memory",
        after=AFTER,
        path=BY_ID,
        answer={**CHANGED, "last_reinforced_at": CHANGED["updated_at"]},
    ),
    "memories_delete": Example("Delete a memory", after=AFTER, path=BY_ID, status=204),
    "memories_restore": Example(
        "Restore a memory", after=("memories_save", "memories_delete"), path=BY_ID, answer=CHANGED
    ),
    "memories_delete_many": Example(
        "Delete many memories",
        after=AFTER,
        body={**SCOPE, "filter": {"type": "home", "metadata.message": {"exists": True}}, "dry_run": True},
        answer={"matched": 1, "deleted": 0, "managed": 0, "protected": 0, "dry_run": True},
    ),
}
