"""Small exports of other programs, in the shapes of theirs and in words of our own."""

import json
import zipfile
from pathlib import Path
from typing import Any

from apps.imports.domain.found import Kind

TALK = {
    "conversation_id": "talk-1",
    "title": "Garlic",
    "create_time": 1_767_225_600.0,
    "current_node": "noted",
    "mapping": {
        "root": {"id": "root", "parent": None, "children": ["q"], "message": None},
        "q": {
            "id": "q", "parent": "root", "children": ["a", "b"],
            "message": {
                "id": "q", "author": {"role": "user"}, "create_time": 1_767_225_601.5,
                "content": {"content_type": "text", "parts": ["When do I plant garlic?"]},
            },
        },
        "a": {
            "id": "a", "parent": "q", "children": ["noted"],
            "message": {
                "id": "a", "author": {"role": "assistant"}, "create_time": 1_767_225_605.0,
                "content": {"content_type": "text", "parts": ["Plant it in October."]},
            },
        },
        "b": {
            "id": "b", "parent": "q", "children": [],
            "message": {
                "id": "b", "author": {"role": "assistant"}, "create_time": 1_767_225_604.0,
                "content": {"content_type": "text", "parts": ["Plant it in spring."]},
            },
        },
        "noted": {
            "id": "noted", "parent": "a", "children": [],
            "message": {
                "id": "noted", "author": {"role": "assistant"}, "recipient": "bio", "create_time": 1_767_225_606.0,
                "content": {"content_type": "text", "parts": ["Grows garlic in raised beds."]},
            },
        },
    },
}  # fmt: skip
CLAUDE = {
    "conversations.json": [
        {
            "uuid": "c-1",
            "name": "Bread",
            "chat_messages": [
                {"uuid": "1", "sender": "human", "text": "My dough sticks.", "created_at": "2026-03-04T05:06:07.8Z"},
                {"uuid": "2", "sender": "assistant", "text": "Use less water.", "created_at": "2026-03-04T05:06:09Z"},
            ],
        }
    ],
    "memories.json": [{"conversations_memory": "**Wishes**\n\n- Wants short answers\n- Uses metric units"}],
    "projects.json": [
        {"uuid": "p", "name": "Shop", "docs": [{"filename": "menu.md", "content": "# Menu\n\nRye\n"}]},
    ],
}
MEM0 = [
    {"id": "1", "memory": "Plays the cello", "user_id": "u", "created_at": "2025-05-06T07:08:09.123456-07:00",
     "metadata": {"category": "hobby", "page": 3}, "categories": ["music"]},
    {"id": "2", "memory": "Is allergic to nuts", "user_id": "u", "created_at": "2025-05-07T07:08:09-07:00"},
    {"id": "3", "memory": " ", "user_id": "u"},
]  # fmt: skip
RYE = "---\ntitle: Rye\n---\n# Rye\n\n- [method] Proof it cold overnight #slow\n- requires [[Starter]]\n"
# What each keeps: memories, events, notes; and how many items are refused.
KEPT = {
    Kind.CHATGPT: (1, 2, 0, 1),
    Kind.CLAUDE: (2, 2, 1, 0),
    Kind.MEM0: (2, 0, 0, 1),
    Kind.BASIC_MEMORY: (1, 0, 1, 0),
    Kind.MARKDOWN: (0, 0, 2, 1),
    Kind.CLAUDE_CODE: (2, 0, 1, 1),
}


def zipped(path: Path, files: dict[str, Any]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, value in files.items():
            archive.writestr(name, value if isinstance(value, str | bytes) else json.dumps(value))
    return path


def folder(path: Path, files: dict[str, str | bytes]) -> Path:
    for name, text in files.items():
        place = path / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def export_of(kind: Kind, path: Path) -> Path:
    """Write an export of a kind below a folder, and return where it is."""
    if kind is Kind.CHATGPT:
        return zipped(path / "chatgpt.zip", {"conversations.json": [TALK], "user.json": {}, "chat.html": "<p>"})
    if kind is Kind.CLAUDE:
        return zipped(path / "claude.zip", {f"data/{name}": value for name, value in CLAUDE.items()})
    if kind is Kind.MEM0:
        (path / "mem0.json").write_text(json.dumps({"results": MEM0}))
        return path / "mem0.json"
    if kind is Kind.BASIC_MEMORY:
        return folder(path / "basic", {"bread/rye.md": RYE})
    if kind is Kind.MARKDOWN:
        files: dict[str, str | bytes] = {"a.md": "# A\n\nword\n", "b/c.md": "- one\n- two\n", "d.md": b"\xff\xfe"}
        return folder(path / "vault", files | {"picture.png": b"png"})
    files = {"MEMORY.md": "# Memory\n\n- Prefers pytest\n- [Style](style.md)\n- Deploys on Mondays\n"}
    return folder(path / "memory", files | {"CLAUDE.md": "# Rules\n\n- Use tabs\n"})
