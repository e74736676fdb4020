"""Conversations of ChatGPT's data export: trees of nodes, of which one branch is what the person saw last.

No schema is published. The names here are those of exports of 2023 to 2026: `mapping` of nodes with `parent`,
`children` and `message`, and `current_node`, the end of the branch that is shown.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from apps.core.domain.origin import WriteOrigin
from apps.imports.domain.found import (
    Found,
    FoundEvent,
    FoundMemory,
    Kind,
    Reason,
    Refused,
    Target,
    clean_text,
    clean_title,
    read_moment,
)

# What the assistant noted of the person is a message to this tool.
MEMORY_TOOL = "bio"
ROLES = {"user": WriteOrigin.PERSON, "assistant": WriteOrigin.APP}
SPOKEN = frozenset({"text", "multimodal_text"})
INSTRUCTIONS = "user_editable_context"


def read_conversation(place: str, value: Any) -> Iterator[Found]:
    """Yield what is in a conversation: messages, and what was noted for good. value: as parsed, of any shape."""
    nodes = value.get("mapping") if isinstance(value, Mapping) else None
    if not isinstance(nodes, Mapping):
        yield Refused(place=place, reason=Reason.NOT_UNDERSTOOD, target=Target.EVENTS)
        return
    branch = shown_branch(nodes, value.get("current_node"))
    about = {
        "import": Kind.CHATGPT.value,
        "conversation": clean_title(value.get("conversation_id") or value.get("id")),
        "title": clean_title(value.get("title")),
    }
    last = read_moment(value.get("create_time"))
    shown = set(branch)
    for number, name in enumerate(branch, 1):
        message = message_of(nodes, name)
        if message is None:
            continue
        last = read_moment(message.get("create_time")) or last
        yield read_message(f"{place}, message {number}", message, last, about)
    for name in nodes:
        if name not in shown and is_said(message_of(nodes, name)):
            yield Refused(place=place, reason=Reason.OTHER_BRANCH, target=Target.EVENTS)


def shown_branch(nodes: Mapping[str, Any], current: Any) -> list[str]:
    """Return the names of the nodes from the root to the current one; without one, to the latest leaf."""
    if not isinstance(current, str) or current not in nodes:
        leaves = [name for name in nodes if not children_of(nodes, name)]
        current = max(leaves or nodes, key=lambda name: written_at(nodes, name), default=None)
    branch: list[str] = []
    seen: set[str] = set()
    while isinstance(current, str) and current in nodes and current not in seen:
        seen.add(current)
        branch.append(current)
        node = nodes[current]
        current = node.get("parent") if isinstance(node, Mapping) else None
    return branch[::-1]


def children_of(nodes: Mapping[str, Any], name: str) -> Sequence[Any]:
    """Return the names of the nodes that follow one."""
    node = nodes[name]
    children = node.get("children") if isinstance(node, Mapping) else None
    return children if isinstance(children, list) else []


def written_at(nodes: Mapping[str, Any], name: str) -> float:
    """Return when a message was written, in seconds; 0 where that is not known."""
    moment = read_moment((message_of(nodes, name) or {}).get("create_time"))
    return moment.timestamp() if moment else 0.0


def message_of(nodes: Mapping[str, Any], name: str) -> Mapping[str, Any] | None:
    """Return the message of a node; None for one that only holds others together."""
    node = nodes[name]
    message = node.get("message") if isinstance(node, Mapping) else None
    return message if isinstance(message, Mapping) else None


def part_of(message: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return a member that is an object; an empty one where it is not."""
    value = message.get(name)
    return value if isinstance(value, Mapping) else {}


def is_said(message: Mapping[str, Any] | None) -> bool:
    """Return whether a message has words of the person or an answer to them."""
    if message is None:
        return False
    content = part_of(message, "content")
    is_spoken = part_of(message, "author").get("role") in ROLES and content.get("content_type") in SPOKEN
    return is_spoken and bool(words_of(content).strip())


def read_message(place: str, message: Mapping[str, Any], moment: datetime | None, about: Mapping[str, str]) -> Found:
    """Return what a message of the shown branch becomes. moment: of it, or of the last one before that has any."""
    content, metadata = part_of(message, "content"), part_of(message, "metadata")
    role, kind = part_of(message, "author").get("role"), content.get("content_type")
    if role == "assistant" and message.get("recipient") == MEMORY_TOOL:
        return noted_memory(place, content, moment, about)
    if kind == INSTRUCTIONS:
        return instructions(place, content, metadata)
    if role not in ROLES or kind not in SPOKEN or message.get("recipient", "all") not in {"all", None}:
        return Refused(place=place, reason=Reason.TOOL, target=Target.EVENTS)
    if metadata.get("is_visually_hidden_from_conversation"):
        return Refused(place=place, reason=Reason.HIDDEN, target=Target.EVENTS)
    words = words_of(content)
    if not words.strip():
        return Refused(place=place, reason=Reason.NO_WORDS, target=Target.EVENTS)
    if moment is None:
        return Refused(place=place, reason=Reason.NO_DATE, target=Target.EVENTS)
    said = {**about, "role": role, "message": clean_title(message.get("id"))}
    return FoundEvent(place=place, content=words, origin=ROLES[role], timestamp=moment, metadata=said)


def words_of(content: Mapping[str, Any]) -> str:
    """Return the words of a message: of parts that are text, and of what was spoken. Pictures have none."""
    parts = content.get("parts")
    if not isinstance(parts, list):
        return clean_text(content.get("text"))
    texts = [one.get("text") if isinstance(one, Mapping) else one for one in parts]
    return "\n\n".join(clean_text(text) for text in texts if isinstance(text, str) and text.strip())


def noted_memory(place: str, content: Mapping[str, Any], moment: datetime | None, about: Mapping[str, str]) -> Found:
    """Return what the assistant noted of the person."""
    words = words_of(content)
    if not words.strip():
        return Refused(place=place, reason=Reason.NO_WORDS, target=Target.MEMORIES)
    return FoundMemory(
        place=place, content=words.strip(), origin=WriteOrigin.APP, occurred_at=moment, metadata={"import": dict(about)}
    )


def instructions(place: str, content: Mapping[str, Any], metadata: Mapping[str, Any]) -> Found:
    """Return what the person told the assistant about themselves and their wishes. It is repeated in conversations."""
    written = part_of(metadata, "user_context_message_data")
    texts = [
        clean_text(written.get("about_user_message") or content.get("user_profile")).strip(),
        clean_text(written.get("about_model_message") or content.get("user_instructions")).strip(),
    ]
    words = "\n\n".join(text for text in texts if text)
    if not words:
        return Refused(place=place, reason=Reason.NO_WORDS, target=Target.MEMORIES)
    about = {"import": {"import": Kind.CHATGPT.value}}
    return FoundMemory(
        place=place, content=words, origin=WriteOrigin.PERSON, source="user", type="instructions", metadata=about
    )


def read_saved(place: str, value: Any) -> Found:
    """Return a saved memory of a file of its own, which some exports have: a text, or an object with one."""
    if isinstance(value, Mapping) and value.get("enabled") is False:
        return Refused(place=place, reason=Reason.DELETED, target=Target.MEMORIES)
    names = ("content", "memory", "text", "value")
    found = next((value[name] for name in names if value.get(name)), "") if isinstance(value, Mapping) else value
    words = clean_text(found).strip()
    if not words:
        reason = Reason.NO_WORDS if isinstance(value, str | Mapping) else Reason.NOT_UNDERSTOOD
        return Refused(place=place, reason=reason, target=Target.MEMORIES)
    moment = None
    if isinstance(value, Mapping):
        moments = (read_moment(value.get(name)) for name in ("created_at", "create_time", "updated_at", "timestamp"))
        moment = next((one for one in moments if one), None)
    about = {"import": {"import": Kind.CHATGPT.value}}
    return FoundMemory(place=place, content=words, origin=WriteOrigin.APP, occurred_at=moment, metadata=about)
