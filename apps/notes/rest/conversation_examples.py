"""Examples of the operations of conversations and compactions."""

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
FACT_ID = "a40e6b29-8f15-4c7d-b3e2-61d9f0c85a74"
RUN: dict[str, Any] = {
    "id": RUN_ID,
    "session_id": "chat-12",
    "trigger": "end",
    "state": "finished",
    "actor": "key:operator",
    "requested_at": "2026-03-02T18:41:10.480000Z",
    "started_at": "2026-03-02T18:41:10.910000Z",
    "ended_at": "2026-03-02T18:41:11.020000Z",
    "next_try_at": None,
    "duration_ms": 108,
    "tries": 1,
    "error": "",
    "messages": 2,
    "facts": 1,
    "applied": 1,
    "model": "",
    "cost_usd": "0",
}
STEPS: list[dict[str, Any]] = [
    {"step": "extract", "how": "patterns", "turns": 2, "recalled": 1, "facts": 1, "beyond_limit": 0},
    {"step": "reconcile", "facts": 1, "dropped": {}},
    {"step": "gate", "enabled": False, "facts": 1, "dropped": {}},
    {"step": "apply", "applied": 1, "actions": {"inserted": 1}},
    {"step": "finish", "index": "refreshed", "compaction": None},
]
FACT: dict[str, Any] = {
    "id": FACT_ID,
    "content": "I am moving to Oslo on 3 May (2026-05-03).",
    "category": "Plans",
    "confidence": 0.85,
    "pattern": "dated-plan",
    "message": MESSAGE_IDS[0],
    "message_number": 1,
    "state": "applied",
    "reason": "",
    "note_version": "5b2d8e07-c4f6-4193-a7d0-e81f3c6b9a52",
    "memory": "f6c3a9e1-2b70-4d58-91e4-0a7d5b8c3f16",
    "memory_action": "inserted",
    "receipt": None,
    "undo": {"note": None, "memory": None, "at": None, "by": ""},
}
AFTER_END = ("conversations_add_messages", "conversations_add_event")

CONVERSATIONS = {
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
        answer={
            **RUN,
            "received": {"messages": 2, "first": 1, "last": 2},
            "steps": [{**step, "at": "2026-03-02T18:41:10.950000+00:00"} for step in STEPS],
            "results": [FACT],
        },
    ),
    "extracted_facts_undo": Example(
        "Take back a fact",
        after=(*AFTER_END, "extraction_runs_retrieve"),
        path={"uuid": FACT_ID},
        answer={
            **FACT,
            "state": "undone",
            "undo": {
                "note": "removed",
                "memory": "deleted",
                "at": "2026-03-02T19:05:44.160000Z",
                "by": "key:operator",
            },
        },
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


COMPACTION_ID = "3f2f0a54-7d0e-4f0c-9a38-5a4f9f0e6c21"
BY_ID = {"uuid": COMPACTION_ID}
BEFORE = ("notes_main_append", "notes_compact")
ASKED = {
    "id": COMPACTION_ID,
    **ANA,
    "state": "asked",
    "automatic": False,
    "code": "",
    "detail": "",
    "facts_before": 0,
    "facts_after": 0,
    "counts": {"kept": 0, "shortened": 0, "merged": 0, "dropped": 0},
    "model": None,
    "created_at": "2026-03-02T19:45:00.120000+00:00",
    "drafted_at": None,
    "decided_at": None,
    "decided_by": "",
}
DRAFTED = {
    **ASKED,
    "state": "drafted",
    "facts_before": 3,
    "facts_after": 2,
    "counts": {"kept": 1, "shortened": 0, "merged": 2, "dropped": 0},
    "model": {
        "asked": "gpt-4o-mini",
        "provider": "openai",
        "model": "gpt-4o-mini",
        "code": "",
        "cost_usd": "0.000210000",
        "attempts": 1,
    },
    "drafted_at": "2026-03-02T19:45:04.530000+00:00",
}
DECIDED = {**DRAFTED, "decided_at": "2026-03-02T19:46:00+00:00", "decided_by": "key:operator"}
KEPT = {"number": 3, "text": "Ana rows on Sundays.", "action": "kept", "into": "", "reason": "", "code": ""}
MERGED = {**KEPT, "number": 1, "text": "Ana likes green tea.", "action": "merged", "into": "Ana likes green tea a lot."}
DETAIL = {
    **DRAFTED,
    "text": "## Preferences\n\n- Ana likes green tea a lot.\n- Ana rows on Sundays.\n",
    "diff": "--- MEMORY.md\n+++ draft\n ## Preferences\n \n-- Ana likes green tea.\n - Ana likes green tea a lot.\n",
    "is_current": True,
    "facts": [MERGED, KEPT],
}

COMPACTIONS = {
    "notes_compact": Example("Ask for a shorter MEMORY.md", body=ANA, status=202, answer=ASKED),
    "notes_compactions_list": Example(
        "List the compactions of MEMORY.md",
        after=BEFORE,
        query={**ANA, "limit": 20},
        answer={"next": None, "previous": None, "results": [DRAFTED]},
    ),
    "notes_compactions_retrieve": Example("Show what a compaction changes", after=BEFORE, path=BY_ID, answer=DETAIL),
    "notes_compactions_apply": Example(
        "Apply a draft to MEMORY.md", after=BEFORE, path=BY_ID, answer={**DECIDED, "state": "applied"}
    ),
    "notes_compactions_discard": Example(
        "Discard a draft", after=BEFORE, path=BY_ID, answer={**DECIDED, "state": "discarded"}
    ),
    "notes_compactions_undo": Example(
        "Undo a draft that was applied", after=BEFORE, path=BY_ID, answer={**DECIDED, "state": "undone"}
    ),
}
