"""Anthropic's memory tool over notes, and a session of OpenAI's agents over the timeline, against a real hub."""

import asyncio
from typing import Any

import pytest
from anthropic.lib.tools import ToolError

from apps.episodic.models import TimelineEvent
from memoryhub_client import AsyncClient, Client
from memoryhub_client.anthropic_memory import AsyncNotesMemoryTool, NotesMemoryTool

pytestmark = pytest.mark.django_db(transaction=True)
TEA = "/memories/tea.md"


def commands() -> list[dict[str, Any]]:
    """A model that writes a note, reads it, changes it, moves it and deletes it."""
    return [
        {"command": "create", "path": TEA, "file_text": "# Tea\nAna likes green tea.\n"},
        {"command": "view", "path": TEA},
        {"command": "str_replace", "path": TEA, "old_str": "green", "new_str": "white"},
        {"command": "insert", "path": TEA, "insert_line": 2, "insert_text": "Without sugar.\n"},
        {"command": "view", "path": TEA, "view_range": [2, 3]},
        {"command": "rename", "old_path": TEA, "new_path": "/memories/drinks.md"},
        {"command": "view", "path": "/memories"},
        {"command": "delete", "path": "/memories/drinks.md"},
    ]


def test_a_model_keeps_its_files_as_notes(url: str, key: str) -> None:
    with Client(url, key) as hub:
        tool = NotesMemoryTool(hub)
        said = [str(tool.call(command)) for command in commands()]
        assert "green tea" in said[1]
        assert ("white tea" in said[4], "Without sugar." in said[4], "drinks.md" in said[6]) == (True, True, True)
        with pytest.raises(ToolError, match="does not exist"):
            tool.call({"command": "view", "path": TEA})
    with Client(url, "mh_wrong") as stranger, pytest.raises(ToolError, match="Bearer"):
        NotesMemoryTool(stranger).call(commands()[0])


def test_the_memory_tool_works_asynchronously(url: str, key: str) -> None:
    async def work() -> list[str]:
        async with AsyncClient(url, key) as hub:
            tool = AsyncNotesMemoryTool(hub)
            said = [str(await tool.call(command)) for command in commands()]
            with pytest.raises(ToolError):
                await tool.call({"command": "delete", "path": TEA})
            return said

    assert "white tea" in asyncio.run(work())[4]


def test_a_session_keeps_its_items_in_order(url: str, key: str) -> None:
    # Importing them takes seconds, which every process that collects would pay.
    from agents.memory import Session

    from memoryhub_client.openai_session import TimelineSession

    items: list[Any] = [
        {"role": "user", "content": "Where does Ana live?"},
        {"type": "function_call", "call_id": "1", "name": "look", "arguments": '{"who": "Ana"}'},
        {"type": "function_call_output", "call_id": "1", "output": "Lisbon"},
        {"role": "assistant", "content": [{"type": "output_text", "text": "In Lisbon."}]},
        {"role": "user", "content": "Where does Ana live?"},
    ]

    async def work() -> None:
        async with AsyncClient(url, key) as hub:
            session, other = TimelineSession(hub, "chat-1"), TimelineSession(hub, "chat-2")
            assert isinstance(session, Session)
            assert (await session.get_items(), await session.pop_item()) == ([], None)
            await session.add_items(items[:3])
            await session.add_items(items[3:])
            await other.add_items(items[:1])
            assert await session.get_items() == items
            assert await session.get_items(2) == items[-2:]
            assert await TimelineSession(hub, "chat-1").pop_item() == items[-1]
            assert await session.get_items() == items[:-1]
            found = (await hub.query_events("In Lisbon."))["results"][0]
            assert found["content"] == "assistant: In Lisbon."
            with pytest.raises(ValueError, match="18000"):
                await session.add_items([{"role": "user", "content": "x" * 20_000}])
            await session.clear_session()
            assert (await session.get_items(), await other.get_items()) == ([], items[:1])

    asyncio.run(work())
    assert TimelineEvent.objects.count() == 1
