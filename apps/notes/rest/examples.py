"""Examples of the operations of notes."""

from datetime import date

from apps.core.schemas.examples import Example
from apps.notes.domain.prompt import introduction
from apps.notes.rest.conversation_examples import ANA, COMPACTIONS, CONVERSATIONS

MAIN_TEXT = "## Preferences\n\n- Ana likes green tea.\n"
MAIN_SHA = "c9f5e1a3f7c7f6f5d0c2d2a4f7f1b1b5f8d4c3b2a19081726354453627181900"
MAIN_VERSION_ID = "7d0c1f0a-9a4e-4f57-8c6b-0f6f3c1f2a11"
MAIN_VERSION = {
    "id": MAIN_VERSION_ID,
    "path": "MEMORY.md",
    "number": 1,
    "kind": "append",
    "sha256": MAIN_SHA,
    "size": 40,
    "author": "key:operator",
    "at": "2026-03-02T19:41:00.120000+00:00",
    "other_path": None,
}
DAY = {"day": "2026-03-02"}
DAY_TEXT = "- 09:30 Ana was at the dentist.\n"
DAY_VERSION = {
    **MAIN_VERSION,
    "id": "0b8d8c2e-6f0b-4a0f-9d63-3f3b6d2b7c55",
    "path": "daily/2026-03-02.md",
    "kind": "edit",
    "size": 32,
}
NOTE = {"path": "MEMORY.md", "text": MAIN_TEXT, "sha256": MAIN_SHA, "exists": True, "is_utf8": True, "version": 1}

CONFIG = {
    "enabled": True,
    "autoExtract": True,
    "flushThreshold": 0.8,
    "extractIntervalSeconds": 60,
    "minNewMessages": 4,
    "llmGatingEnabled": False,
    "llmGatingModel": "gpt-4o-mini",
    "llmExtractionEnabled": False,
    "llmExtractionModel": "gpt-4o-mini",
    "llmExtractionMaxMessages": 20,
    "llmCompactionEnabled": False,
    "llmCompactionModel": "gpt-4o-mini",
    "llmCompactionFactThreshold": 30,
    "llmCompactionAutoApply": False,
    "problems": [],
}

TEA_TEXT = "# Tea\n\n- Ana has a green teapot.\n"

SEARCH = {
    "results": [
        {
            "path": "MEMORY.md",
            "first_line": 3,
            "last_line": 3,
            "heading": "Preferences",
            "text": "- Ana likes green tea.",
            "score": 0.566,
            "vector_score": 0.612,
            "bm25_score": 0.459,
        }
    ],
    "count": 1,
    "mode": "hybrid",
    "reason": "",
    "vectors_missing": 0,
}

BOUNDARY = "=====6c0f0d0b9f2f4c52a0c3f7c1d5b8e9a4====="
PROMPT_TEXT = f"{introduction(BOUNDARY, date(2026, 3, 4))}\n## Long-term Memory\n\n{BOUNDARY}\n{MAIN_TEXT}{BOUNDARY}\n"

EXAMPLES = {
    "notes_search": Example(
        "Search the notes of a user",
        after=("notes_main_append",),
        query={**ANA, "q": "green tea", "limit": 5},
        answer=SEARCH,
    ),
    "notes_status": Example(
        "Show the search index of notes",
        after=("notes_main_append",),
        query=ANA,
        answer={
            "mode": "hybrid",
            "reason": "",
            "is_watched": False,
            "files": 12,
            "chunks": 140,
            "vectors_missing": 0,
            "skipped": {},
            "looked_at": "2026-03-02T19:41:00.120000+00:00",
        },
    ),
    **CONVERSATIONS,
    "notes_command": Example(
        "Carry out a file command of a model",
        body={**ANA, "command": "create", "path": "/memories/tea.md", "file_text": TEA_TEXT},
        answer={
            "text": "File created successfully at: /memories/tea.md",
            "is_error": False,
            "version": {
                **MAIN_VERSION,
                "id": "5f0f2c1e-8a55-4d0e-9c3f-6f1a1c5f7e02",
                "path": "tea.md",
                "kind": "edit",
                "size": 34,
            },
        },
    ),
    **COMPACTIONS,
    "notes_prompt": Example(
        "Compose a prompt of notes",
        after=("notes_main_append",),
        body={**ANA, "message": "What does Ana drink?", "budget_tokens": 2000},
        answer={
            "text": PROMPT_TEXT,
            "tokens": 116,
            "sections": [
                {
                    "title": "Long-term Memory",
                    "tokens": 37,
                    "is_whole": True,
                    "items": [
                        {"path": "MEMORY.md", "first_line": 1, "last_line": 3, "memory_id": None, "origin": None}
                    ],
                }
            ],
            "left_out": [],
            "search": {"mode": "hybrid", "reason": ""},
        },
    ),
    "notes_config_retrieve": Example("Show the settings of notes", query=ANA, answer=CONFIG),
    "notes_config_update": Example("Change settings of notes", body={**ANA, "flushThreshold": 0.8}, answer=CONFIG),
    "notes_config_partial_update": Example(
        "Change single settings of notes", body={**ANA, "autoExtract": True}, answer=CONFIG
    ),
    "notes_main_append": Example(
        "Add a fact to MEMORY.md",
        body={
            **ANA,
            "entry": "Ana likes green tea.",
            "category": "Preferences",
            "operation_id": "conversation-12-turn-3",
        },
        status=201,
        answer={"action": "added", "version": MAIN_VERSION},
    ),
    "notes_main_retrieve": Example("Show MEMORY.md", after=("notes_main_append",), query=ANA, answer=NOTE),
    "notes_main_update": Example(
        "Replace MEMORY.md",
        body={**ANA, "text": "## Preferences\n\n- Ana likes green tea, without sugar.\n"},
        answer={**MAIN_VERSION, "kind": "edit", "size": 55},
    ),
    "notes_daily_append": Example(
        "Add an entry to the log of today",
        body={**ANA, "entry": "Ana was at the dentist.", "timezone": "Europe/Oslo"},
        status=201,
        answer={"action": "added", "version": {**DAY_VERSION, "kind": "append"}},
    ),
    "notes_daily_update": Example(
        "Replace the log of a day", path=DAY, body={**ANA, "text": DAY_TEXT}, answer=DAY_VERSION
    ),
    "notes_daily_retrieve": Example(
        "Show the log of a day",
        after=("notes_daily_update",),
        path=DAY,
        query=ANA,
        answer={**NOTE, "path": DAY_VERSION["path"], "text": DAY_TEXT},
    ),
    "notes_today_retrieve": Example(
        "Show the log of today",
        after=("notes_daily_append",),
        query={**ANA, "timezone": "Europe/Oslo"},
        answer={**NOTE, "path": DAY_VERSION["path"], "text": DAY_TEXT},
    ),
    "notes_daily_list": Example(
        "List the daily logs",
        after=("notes_daily_update",),
        query=ANA,
        answer={"results": [{**DAY, "path": DAY_VERSION["path"]}], "count": 1},
    ),
    "notes_versions_list": Example(
        "List the versions of a note",
        after=("notes_main_append",),
        query={**ANA, "path": "MEMORY.md", "limit": 20},
        answer={"next": None, "previous": None, "results": [MAIN_VERSION]},
    ),
    "notes_versions_retrieve": Example(
        "Show a version of a note",
        after=("notes_main_append",),
        path={"uuid": MAIN_VERSION_ID},
        answer={**MAIN_VERSION, "text": MAIN_TEXT},
    ),
    "notes_versions_restore": Example(
        "Restore a version of a note",
        after=("notes_main_append",),
        path={"uuid": MAIN_VERSION_ID},
        answer=MAIN_VERSION,
    ),
}
