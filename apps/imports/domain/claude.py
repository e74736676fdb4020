"""Claude's data export: conversations, what it has in memory, and projects. No schema is published; see `chatgpt`."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from apps.core.domain.origin import WriteOrigin
from apps.imports.domain.found import (
    Found,
    FoundEvent,
    FoundNote,
    Kind,
    Reason,
    Refused,
    Target,
    clean_text,
    clean_title,
    read_moment,
)
from apps.imports.domain.markdown import memories_of_text, note_path

SENDERS = {"human": ("user", WriteOrigin.PERSON), "assistant": ("assistant", WriteOrigin.APP)}
PROJECTS = "projects"
_MEMORY_KEYS = ("conversations_memory", "project_memories", "memory_files")
_SUFFIX = re.compile(r"\.(md|markdown|txt|xml)$", re.IGNORECASE)


def read_conversation(place: str, value: Any) -> Iterator[Found]:
    """Yield the messages of a conversation."""
    messages = value.get("chat_messages") if isinstance(value, Mapping) else None
    if not isinstance(messages, list):
        yield Refused(place=place, reason=Reason.NOT_UNDERSTOOD, target=Target.EVENTS)
        return
    about = {
        "import": Kind.CLAUDE.value,
        "conversation": clean_title(value.get("uuid")),
        "title": clean_title(value.get("name")),
    }
    for number, message in enumerate(messages, 1):
        yield from read_message(f"{place}, message {number}", message, about)


def read_message(place: str, message: Any, about: Mapping[str, str]) -> Iterator[Found]:
    """Yield a message, and a refusal for each file that was attached to it."""
    sender = SENDERS.get(str(message.get("sender"))) if isinstance(message, Mapping) else None
    if sender is None:
        yield Refused(place=place, reason=Reason.NOT_UNDERSTOOD, target=Target.EVENTS)
        return
    role, origin = sender
    words, moment = words_of(message), read_moment(message.get("created_at"))
    if not words.strip():
        yield Refused(place=place, reason=Reason.NO_WORDS, target=Target.EVENTS)
    elif moment is None:
        yield Refused(place=place, reason=Reason.NO_DATE, target=Target.EVENTS)
    else:
        said = {**about, "role": role, "message": clean_title(message.get("uuid"))}
        yield FoundEvent(place=place, content=words, origin=origin, timestamp=moment, metadata=said)
    attached = message.get("attachments")
    for _ in attached if isinstance(attached, list) else []:
        yield Refused(place=place, reason=Reason.ATTACHMENT, target=Target.NOTES)


def words_of(message: Mapping[str, Any]) -> str:
    """Return what was said: the blocks of text, else `text`, which in older exports is all there is.

    Thoughts, and what tools were asked and answered, are no words of the conversation.
    """
    blocks = message.get("content")
    said = [
        clean_text(one.get("text"))
        for one in (blocks if isinstance(blocks, list) else [])
        if isinstance(one, Mapping) and one.get("type") == "text"
    ]
    return "\n\n".join(text for text in said if text.strip()) or clean_text(message.get("text"))


def read_memories(place: str, value: Any, projects: Mapping[str, str]) -> Iterator[Found]:
    """Yield what Claude has in memory. projects: their names by their ids."""
    if not isinstance(value, Mapping) or not any(name in value for name in _MEMORY_KEYS):
        yield Refused(place=place, reason=Reason.NOT_UNDERSTOOD, target=Target.MEMORIES)
        return
    about = {"import": Kind.CLAUDE.value}
    yield from memories_of_text(
        place, clean_text(value.get("conversations_memory")), origin=WriteOrigin.APP, about=about
    )
    of_projects = value.get("project_memories")
    for uuid, text in of_projects.items() if isinstance(of_projects, Mapping) else ():
        name = projects.get(str(uuid), "") or clean_title(uuid)
        yield from memories_of_text(
            f"{place}, project {clean_title(uuid)}",
            clean_text(text),
            origin=WriteOrigin.APP,
            about=about,
            project=name[:100],
        )
    files = value.get("memory_files")
    for number, one in enumerate(files if isinstance(files, list) else [], 1):
        if not isinstance(one, Mapping):
            yield Refused(place=f"{place}, file {number}", reason=Reason.NOT_UNDERSTOOD, target=Target.MEMORIES)
            continue
        path = clean_title(one.get("path"))
        written = read_moment(one.get("updated_at"))
        origin = {**about, "path": path} | ({"written_at": written.isoformat()} if written else {})
        yield from memories_of_text(
            f"{place}, {path}", clean_text(one.get("content")), origin=WriteOrigin.APP, about=origin, heading=path
        )


def project_name(value: Any) -> tuple[str, str] | None:
    """Return the id and the name of a project; None for what is none."""
    if not isinstance(value, Mapping) or not isinstance(value.get("uuid"), str):
        return None
    return value["uuid"], clean_title(value.get("name")) or value["uuid"]


def read_project(place: str, value: Any) -> Iterator[Found]:
    """Yield the documents of a project, and its instructions, as notes."""
    named = project_name(value)
    if named is None:
        yield Refused(place=place, reason=Reason.NOT_UNDERSTOOD, target=Target.NOTES)
        return
    folder = f"{PROJECTS}/{named[1].replace('/', '-')}"
    instructions = "\n\n".join(
        text for name in ("description", "prompt_template") if (text := clean_text(value.get(name)).strip())
    )
    if instructions:
        text = f"# {named[1]}\n\n{instructions}\n"
        yield FoundNote(
            place=place,
            path=note_path(f"{folder}/instructions.md"),
            text=text.encode(),
            written_at=read_moment(value.get("updated_at")),
        )
    documents = value.get("docs")
    for number, one in enumerate(documents if isinstance(documents, list) else [], 1):
        where = f"{place}, document {number}"
        if not isinstance(one, Mapping) or not clean_text(one.get("content")).strip():
            yield Refused(place=where, reason=Reason.NO_WORDS, target=Target.NOTES)
            continue
        name = (clean_title(one.get("filename")) or f"document {number}").replace("/", "-")
        name = name if _SUFFIX.search(name) else f"{name}.md"
        yield FoundNote(
            place=where,
            path=note_path(f"{folder}/{name}"),
            text=clean_text(one.get("content")).encode(),
            written_at=read_moment(one.get("created_at")),
        )
