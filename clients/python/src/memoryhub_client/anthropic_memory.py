"""Anthropic's memory tool over the notes of a person: the model's files are Markdown that people read and edit.

    tool = NotesMemoryTool(Client(url, key, user_id="ana"))
    client.beta.messages.tool_runner(..., tools=[tool])

Needs `pip install memoryhub-client[anthropic]`.
"""

from __future__ import annotations

from typing import Any

from anthropic.lib.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool, ToolError
from anthropic.types.beta import (
    BetaMemoryTool20250818CreateCommand,
    BetaMemoryTool20250818DeleteCommand,
    BetaMemoryTool20250818InsertCommand,
    BetaMemoryTool20250818RenameCommand,
    BetaMemoryTool20250818StrReplaceCommand,
    BetaMemoryTool20250818ViewCommand,
)

from memoryhub_client.answers import CommandAnswer
from memoryhub_client.asynchronous import AsyncClient
from memoryhub_client.errors import MemoryHubError
from memoryhub_client.synchronous import Client

Command = (
    BetaMemoryTool20250818ViewCommand
    | BetaMemoryTool20250818CreateCommand
    | BetaMemoryTool20250818StrReplaceCommand
    | BetaMemoryTool20250818InsertCommand
    | BetaMemoryTool20250818DeleteCommand
    | BetaMemoryTool20250818RenameCommand
)


def fields_of(command: Command) -> dict[str, Any]:
    """Return a command as the hub takes it."""
    return command.model_dump(exclude_none=True)


def text_of(answer: CommandAnswer) -> str:
    """Return what the model is told. Raises ToolError, which makes it the error of the tool's result."""
    if answer["is_error"]:
        raise ToolError(answer["text"])
    return answer["text"]


class NotesMemoryTool(BetaAbstractMemoryTool):
    """The memory tool, whose files are notes."""

    def __init__(self, hub: Client, **options: Any) -> None:
        super().__init__(**options)
        self.hub = hub

    def carry_out(self, command: Command) -> str:
        """Have the hub carry out a command, and return what the model is told. Raises ToolError."""
        try:
            answer = self.hub.note_command(**fields_of(command))
        except MemoryHubError as error:
            raise ToolError(str(error)) from error
        return text_of(answer)

    def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        """Show a note, or the folders."""
        return self.carry_out(command)

    def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        """Write a new note."""
        return self.carry_out(command)

    def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        """Replace a passage."""
        return self.carry_out(command)

    def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        """Insert lines."""
        return self.carry_out(command)

    def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        """Delete a note; its versions stay."""
        return self.carry_out(command)

    def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        """Move a note."""
        return self.carry_out(command)


class AsyncNotesMemoryTool(BetaAsyncAbstractMemoryTool):
    """The same for asynchronous code."""

    def __init__(self, hub: AsyncClient, **options: Any) -> None:
        super().__init__(**options)
        self.hub = hub

    async def carry_out(self, command: Command) -> str:
        """Have the hub carry out a command, and return what the model is told. Raises ToolError."""
        try:
            answer = await self.hub.note_command(**fields_of(command))
        except MemoryHubError as error:
            raise ToolError(str(error)) from error
        return text_of(answer)

    async def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        """Show a note, or the folders."""
        return await self.carry_out(command)

    async def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        """Write a new note."""
        return await self.carry_out(command)

    async def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        """Replace a passage."""
        return await self.carry_out(command)

    async def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        """Insert lines."""
        return await self.carry_out(command)

    async def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        """Delete a note; its versions stay."""
        return await self.carry_out(command)

    async def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        """Move a note."""
        return await self.carry_out(command)
