"""Claude's export: messages, what it has in memory, and the documents of projects."""

from typing import Any

from apps.imports.domain.claude import read_conversation, read_memories, read_project
from apps.imports.domain.found import FoundEvent, FoundMemory, FoundNote, Reason, Refused


def message(sender: str, text: str, **more: Any) -> dict[str, Any]:
    return {"uuid": "m1", "sender": sender, "text": text, "created_at": "2026-03-04T05:06:07.800000Z", **more}


def test_messages_become_events_and_attachments_are_refused() -> None:
    blocks = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Use less water."}]
    value = {
        "uuid": "talk",
        "name": "Bread",
        "chat_messages": [
            message("human", "My dough sticks.", attachments=[{"file_name": "dough.txt", "extracted_content": "..."}]),
            message("assistant", "hm Use less water.", content=blocks),
            message("human", "  "),
        ],
    }
    found = list(read_conversation("conversations.json, 1", value))
    assert [one.content for one in found if isinstance(one, FoundEvent)] == ["My dough sticks.", "Use less water."]
    assert [one.reason for one in found if isinstance(one, Refused)] == [Reason.ATTACHMENT, Reason.NO_WORDS]


def test_memory_is_divided_at_items_and_paragraphs() -> None:
    value = {
        "conversations_memory": "**Work context**\n\n"
        "Runs a bakery in Leeds and keeps the books alone, in the evenings.\n\n"
        "**Wishes**\n\n- Short answers\n- Metric units",
        "project_memories": {"p1": "The shop opens in May."},
        "memory_files": [
            {"path": "/people.md", "content": "- Ida is her sister", "updated_at": "2026-01-02T03:04:05Z"}
        ],
    }
    found = [one for one in read_memories("memories.json, 1", value, {"p1": "Shop"}) if isinstance(one, FoundMemory)]
    assert [(one.content, one.context, one.project) for one in found] == [
        ("Runs a bakery in Leeds and keeps the books alone, in the evenings.", "Work context", ""),
        ("Short answers", "Wishes", ""),
        ("Metric units", "Wishes", ""),
        ("The shop opens in May.", "", "Shop"),
        ("Ida is her sister", "/people.md", ""),
    ]


def test_documents_of_projects_become_notes_that_stay_inside() -> None:
    value = {
        "uuid": "p1",
        "name": "Shop / Leeds",
        "prompt_template": "Answer as a baker.",
        "docs": [{"filename": "../../menu", "content": "Rye", "created_at": "2026-01-02T03:04:05Z"}, {"filename": "x"}],
    }
    found = list(read_project("projects.json, 1", value))
    assert [one.path for one in found if isinstance(one, FoundNote)] == [
        "projects/Shop - Leeds/instructions.md",
        "projects/Shop - Leeds/-..-menu.md",
    ]
    assert [one.reason for one in found if isinstance(one, Refused)] == [Reason.NO_WORDS]


def test_anything_else_is_refused_and_not_an_error() -> None:
    for value in (None, 7, [], {}, {"chat_messages": [3, {"sender": "robot"}]}, {"docs": 4, "uuid": 5}):
        found = [*read_conversation("c", value), *read_memories("m", value, {}), *read_project("p", value)]
        assert all(isinstance(one, Refused) for one in found)
