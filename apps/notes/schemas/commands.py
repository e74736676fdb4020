"""Inputs and outputs of the file commands of Anthropic's memory tool, with its names."""

from typing import Annotated, Any, TypedDict

from rest_framework import serializers

from apps.core.schemas.fields import StrictCharField, StrictChoiceField, StrictIntegerField
from apps.notes.commands.run import Command, CommandName, CommandResult
from apps.notes.schemas.notes import MAX_TEXT_CHARS, OwnerInput, VersionOutput, version_json

MAX_PATH_CHARS = 2_000
# What each command needs.
NEEDED = {
    CommandName.VIEW: ("path",),
    CommandName.CREATE: ("path", "file_text"),
    CommandName.STR_REPLACE: ("path", "old_str"),
    CommandName.INSERT: ("path", "insert_line", "insert_text"),
    CommandName.DELETE: ("path",),
    CommandName.RENAME: ("old_path", "new_path"),
}


def path_field(text: str) -> StrictCharField:
    """Return the field of a path."""
    return StrictCharField(
        required=False, allow_null=True, trim_whitespace=False, max_length=MAX_PATH_CHARS, help_text=text
    )


def text_field(text: str) -> StrictCharField:
    """Return the field of a text."""
    return StrictCharField(
        required=False,
        allow_null=True,
        allow_blank=True,
        trim_whitespace=False,
        max_length=MAX_TEXT_CHARS,
        help_text=text,
    )


class CommandInput(OwnerInput):
    """A command as a model requests it; what the command does not need is ignored."""

    command = StrictChoiceField(choices=[each.value for each in CommandName])
    path = path_field("Starts with /memories. For every command except rename.")
    view_range = serializers.ListField(
        child=StrictIntegerField(),
        required=False,
        allow_null=True,
        min_length=2,
        max_length=2,
        help_text="For view: the first and last line, counted from 1; -1 as the last means the end.",
    )
    file_text = text_field("For create: the whole text.")
    old_str = text_field("For str_replace: a passage that appears exactly once in the file.")
    new_str = text_field("For str_replace: the text that replaces it.")
    insert_line = StrictIntegerField(
        required=False, allow_null=True, help_text="For insert: the line after which to insert; 0 is the beginning."
    )
    insert_text = text_field("For insert: the lines to add.")
    old_path = path_field("For rename: the present path of the file or folder.")
    new_path = path_field("For rename: the new path.")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Require what the command needs; leave out what is null."""
        data = {name: value for name, value in attrs.items() if value is not None}
        missing = [name for name in NEEDED[CommandName(data["command"])] if name not in data]
        if missing:
            raise serializers.ValidationError(
                {name: [f"The command {data['command']} requires it."] for name in missing}, code="required"
            )
        return data


def command_of(data: dict[str, Any]) -> Command:
    """Return the command of checked input."""
    fields = {name: value for name, value in data.items() if name not in {"user_id", "command"}}
    return Command(CommandName(data["command"]), **fields)


class CommandOutput(TypedDict):
    """The answer to a command."""

    text: Annotated[str, "The content of the tool's result, unchanged."]
    is_error: Annotated[bool, "Whether the tool's result is an error."]
    version: Annotated[VersionOutput | None, "The note that was written or deleted; null for folders and errors."]


def command_json(result: CommandResult) -> CommandOutput:
    """Return what a command did as the API shows it."""
    version = None if result.version is None else version_json(result.version)
    return {"text": result.text, "is_error": result.is_error, "version": version}
