"""Examples of the lists of users and other names."""

from typing import Any

from apps.core.schemas.examples import Example

BATCH = ("memories_save", "memories_save_batch")
ALL = (*BATCH, "events_record")


def page(summary: str, after: tuple[str, ...], *results: dict[str, Any], **query: str) -> Example:
    """Return the example of a list with these results."""
    answer = {"next": None, "previous": None, "total": len(results), "results": list(results)}
    return Example(summary, after=after, query={**query, "limit": 20, "count": True}, answer=answer)


ERASURE_ID = "5e0d1c6a-93f7-4b0e-8a42-1f6d7c9be035"
ERASURE: dict[str, Any] = {
    "id": ERASURE_ID,
    "state": "waiting",
    "requested_by": "key:operator",
    "requested_at": "2026-06-01T08:00:00.120000Z",
    "found": {},
    "left": None,
    "problems": [],
    "certificate": None,
}
LEFT = {
    "memberships": 0,
    "pauses": 0,
    "rules": 0,
    "retention_policies": 0,
    "routing_policies": 0,
    "notes": 0,
    "conversations": 0,
    "note_compactions": 0,
    "knowledge_sources": 0,
    "events": 1,
    "memories": 3,
    "memory_uses": 0,
    "receipts": 1,
    "bridge": 0,
    "consolidations": 0,
    "outbox": 6,
    "tasks": 0,
    "model_calls": 0,
    "keys": 0,
    "apps": 0,
    "accounts": 0,
    "admin": 0,
    "erasures": 0,
    "planned_erasures": 0,
    "downloads": 0,
    "looks": 0,
    "audit": 2,
}

DEVICE_CODE = "7xq0V1m3bYlZrN5tP2wKc8HsDf6GjEa9uIoTnRy4LkM"
CONNECT: dict[str, Any] = {
    "device_code": DEVICE_CODE,
    "user_code": "BDWP-HKRQ",
    "verification_uri": "https://hub.example.org/apps/connect/",
    "expires_in": 600,
    "interval": 5,
}
CONNECTED = {
    "key": "mh_uV2DW0aYx3s7Zq9Lk1TnBv5Rc8Wd4Ef6Gh2Jm0Pq3S",
    "id": "0d3b7a51-6f0e-4f4e-9c55-8a5c2f1e7d90",
    "name": "Reading lamp",
    "permission": "write",
    "user_id": "ana",
}

EXAMPLES = {
    "apps_connect": Example("Connect an app", body={"name": "Reading lamp", "permission": "write"}, answer=CONNECT),
    "apps_connect_token": Example(
        "Fetch a key by a code", after=("apps_connect",), body={"device_code": DEVICE_CODE}, answer=CONNECTED
    ),
    "erasures_create": Example(
        "Forget a user", after=ALL, body={"user_id": "ana", "dry_run": False}, status=202, answer=ERASURE
    ),
    "erasures_list": Example(
        "List erasures",
        after=(*ALL, "erasures_create"),
        query={"user_id": "ana", "limit": 20, "count": True},
        answer={"next": None, "previous": None, "total": 1, "results": [ERASURE]},
    ),
    "erasures_retrieve": Example(
        "Show an erasure",
        after=(*ALL, "erasures_create"),
        path={"uuid": ERASURE_ID},
        answer={**ERASURE, "left": LEFT},
    ),
    "users_list": page(
        "List users",
        ALL,
        {"id": "ana", "memories": 2, "inactive_memories": 1, "events": 1},
        household_id="home",
    ),
    "users_retrieve": Example(
        "Show a user in figures",
        after=ALL,
        path={"user_id": "ana"},
        answer={
            "id": "ana",
            "memories": {"active": 2, "superseded": 1, "merged": 0, "rejected": 0, "deleted": 0},
            "conflicts": {"open": 1, "accepted": 0, "overridden": 0, "reverted": 0, "outdated": 0},
            "events": 1,
            "households": 1,
            "personas": 1,
            "projects": 1,
            "types": 2,
            "sessions": 1,
            "first_saved_at": "2026-03-01T17:31:04.273000Z",
            "last_changed_at": "2026-05-01T08:03:22.716000Z",
            "last_event_at": "2026-03-02T09:30:00Z",
        },
    ),
    "households_list": page(
        "List households",
        ALL,
        {"id": "home", "memories": 2, "inactive_memories": 1, "events": 1},
        user_id="ana",
    ),
    "personas_list": page(
        "List personas",
        ALL,
        {"id": "cook", "memories": 1, "inactive_memories": 0, "events": 0},
        household_id="home",
    ),
    "projects_list": page(
        "List projects", BATCH, {"id": "birthday", "memories": 1, "inactive_memories": 0}, user_id="ana"
    ),
    "types_list": page(
        "List types of memories",
        BATCH,
        {"id": "health", "memories": 1, "inactive_memories": 0},
        {"id": "home", "memories": 1, "inactive_memories": 1},
        user_id="ana",
    ),
    "sessions_list": page(
        "List sessions", BATCH, {"id": "chat-7", "memories": 0, "inactive_memories": 1}, user_id="ana"
    ),
}
