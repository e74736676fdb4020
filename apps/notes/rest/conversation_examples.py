"""Examples of the operations of conversations."""

from typing import Any

from apps.core.schemas.examples import Example

ANA = {"user_id": "ana"}
SESSION = {"session_id": "chat-12"}
RUN_ID = "3f1c7a52-6d0e-4b8f-9a41-27c5e8d0b613"
MESSAGE_IDS = ("b7a9d2c4-51e8-4f36-8d0b-6c3e9f1a7205", "0e4c8b16-f2a7-4d93-b5e1-9a6d3c7f8041")
SAID = (
    {
        "role": "user",
        "content": "I am moving to Oslo on 3 May.",
        "message_id": "m-1",
        "at": "2026-03-02T19:40:00+01:00",
    },
    {"role": "assistant", "content": "Noted. Do you need help with it?", "message_id": "m-2"},
)
CONVERSATION: dict[str, Any] = {
    "id": "c1d5e0f8-3a92-4b67-8e1d-7f4a2c9b6053",
    "session_id": "chat-12",
    "messages": 2,
    "new_messages": 2,
    "created_at": "2026-03-02T18:40:02.310000Z",
    "last_message_at": "2026-03-02T18:40:02.310000Z",
    "last_extraction_at": None,
    "ended_at": None,
    "context_use": None,
    "cycle": 1,
    "flushed": False,
}
ADDED = [
    {"id": uuid, "message_id": said["message_id"], "number": number, "action": "added"}
    for number, (uuid, said) in enumerate(zip(MESSAGE_IDS, SAID, strict=True), 1)
]
MESSAGES = [
    {
        "id": uuid,
        "message_id": said["message_id"],
        "number": number,
        "role": said["role"],
        "speaker": "",
        "content": said["content"],
        "at": at,
        "recalled": False,
        "run": None,
    }
    for number, (uuid, said, at) in enumerate(
        zip(MESSAGE_IDS, SAID, ("2026-03-02T19:40:00+01:00", "2026-03-02T18:40:02.310000Z"), strict=True), 1
    )
]
ENDED = {
    **CONVERSATION,
    "new_messages": 0,
    "last_extraction_at": "2026-03-02T18:41:10.480000Z",
    "ended_at": "2026-03-02T18:41:10.480000Z",
}
RUN: dict[str, Any] = {
    "id": RUN_ID,
    "session_id": "chat-12",
    "trigger": "end",
    "state": "waiting",
    "actor": "key:operator",
    "requested_at": "2026-03-02T18:41:10.480000Z",
    "started_at": None,
    "ended_at": None,
    "next_try_at": "2026-03-02T18:41:10.480000Z",
    "duration_ms": 0,
    "tries": 0,
    "error": "",
    "messages": 2,
    "facts": 0,
    "applied": 0,
    "model": "",
    "cost_usd": "0",
}
AFTER_END = ("conversations_add_messages", "conversations_add_event")

EXAMPLES = {
    "conversations_add_messages": Example(
        "Add messages to a conversation",
        path=SESSION,
        body={**ANA, "messages": list(SAID), "recalled": ["Ana lives in Lisbon."]},
        status=201,
        answer={"conversation": CONVERSATION, "results": ADDED},
    ),
    "conversations_add_event": Example(
        "Say what happened to a conversation",
        after=("conversations_add_messages",),
        path=SESSION,
        body={**ANA, "type": "session.end"},
        answer={
            "action": "extracting",
            "reason": None,
            "next_at": None,
            "missing_messages": 0,
            "runs": [RUN_ID],
            "conversation": ENDED,
        },
    ),
    "conversations_list": Example(
        "List conversations",
        after=("conversations_add_messages",),
        query={**ANA, "limit": 20},
        answer={"next": None, "previous": None, "results": [CONVERSATION]},
    ),
    "conversations_retrieve": Example(
        "Show a conversation",
        after=("conversations_add_messages",),
        path=SESSION,
        query=ANA,
        answer={
            **CONVERSATION,
            "latest_messages": [
                *MESSAGES,
                {
                    **MESSAGES[1],
                    "id": "d8f2b3a1-7c60-4e95-a1b4-5e0c9d7f6238",
                    "message_id": "",
                    "number": 3,
                    "role": "system",
                    "content": "Ana lives in Lisbon.",
                    "recalled": True,
                },
            ],
        },
    ),
    "conversations_delete": Example(
        "Delete a conversation", after=("conversations_add_messages",), path=SESSION, query=ANA, status=204
    ),
    "extraction_runs_list": Example(
        "List runs of extraction",
        after=AFTER_END,
        query={**ANA, "session_id": "chat-12", "limit": 20},
        answer={"next": None, "previous": None, "results": [RUN]},
    ),
    "extraction_runs_retrieve": Example(
        "Show a run of extraction",
        after=AFTER_END,
        path={"uuid": RUN_ID},
        answer={**RUN, "received": {"messages": 2, "first": 1, "last": 2}, "steps": [], "results": []},
    ),
    "auto_memory_status": Example(
        "Show the state of automatic memory",
        after=AFTER_END,
        query=ANA,
        answer={
            "enabled": True,
            "auto_extract": True,
            "extract_interval_seconds": 60,
            "min_new_messages": 4,
            "flush_threshold": 0.75,
            "conversations": 1,
            "new_messages": 0,
            "runs": {"waiting": 1, "running": 0, "finished": 0, "failed": 0},
            "facts": {"found": 0, "dropped": 0, "applied": 0, "undone": 0},
            "last_extraction_at": "2026-03-02T18:41:10.480000Z",
            "conversation_days": 30,
        },
    ),
}
