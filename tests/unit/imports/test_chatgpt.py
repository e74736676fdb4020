"""Conversations of ChatGPT are trees: the branch that was shown last is kept, and what was noted becomes a memory."""

from datetime import UTC, datetime
from typing import Any

from apps.core.domain.origin import WriteOrigin
from apps.imports.domain.chatgpt import read_conversation, read_saved
from apps.imports.domain.found import Found, FoundEvent, FoundMemory, Reason, Refused

BEGAN = 1_767_225_600.25


def node(name: str, parent: str | None, children: list[str], message: Any = None) -> dict[str, Any]:
    return {"id": name, "parent": parent, "children": children, "message": message}


def said(role: str, words: str, seconds: float | None = 0, **more: Any) -> dict[str, Any]:
    moment = None if seconds is None else BEGAN + seconds
    content = {"content_type": "text", "parts": [words]}
    return {"id": f"m-{words[:5]}", "author": {"role": role}, "create_time": moment, "content": content, **more}


def conversation(*nodes: dict[str, Any], current: str | None = None) -> dict[str, Any]:
    return {
        "conversation_id": "talk-1",
        "title": "The garden",
        "create_time": BEGAN,
        "current_node": current,
        "mapping": {one["id"]: one for one in nodes},
    }


def read(value: Any) -> list[Found]:
    return list(read_conversation("conversations.json, 1", value))


TREE = (
    node("root", None, ["q"]),
    node("q", "root", ["a1", "a2"], said("user", "When do I plant garlic?")),
    node("a1", "q", [], said("assistant", "In spring.", 5)),
    node("a2", "q", [], said("assistant", "In October.", 9)),
)


def test_the_branch_of_the_current_node_is_kept() -> None:
    found = read(conversation(*TREE, current="a2"))
    events = [one for one in found if isinstance(one, FoundEvent)]
    assert [one.content for one in events] == ["When do I plant garlic?", "In October."]
    assert [one.origin for one in events] == [WriteOrigin.PERSON, WriteOrigin.APP]
    assert [one.reason for one in found if isinstance(one, Refused)] == [Reason.OTHER_BRANCH]


def test_moment_and_origin_of_a_message_are_kept() -> None:
    event = read(conversation(*TREE, current="a2"))[0]
    assert isinstance(event, FoundEvent)
    assert event.timestamp == datetime(2026, 1, 1, 0, 0, 0, 250_000, UTC)
    expected = {"import": "chatgpt", "conversation": "talk-1", "title": "The garden", "role": "user"}
    assert event.metadata == expected | {"message": "m-When"}


def test_without_a_current_node_the_latest_leaf_ends_the_branch() -> None:
    found = read(conversation(*TREE))
    assert [one.content for one in found if isinstance(one, FoundEvent)][-1] == "In October."


def test_nodes_that_name_each_other_end() -> None:
    found = read(conversation(node("a", "b", ["b"], said("user", "one")), node("b", "a", ["a"], said("user", "two"))))
    assert len([one for one in found if isinstance(one, FoundEvent)]) == 2


def test_what_was_noted_becomes_a_memory_of_its_moment() -> None:
    noted = said("assistant", "Grows garlic in raised beds.", 3, recipient="bio")
    [memory] = read(conversation(node("n", None, [], noted), current="n"))
    assert isinstance(memory, FoundMemory)
    assert (memory.content, memory.origin) == ("Grows garlic in raised beds.", WriteOrigin.APP)
    assert memory.occurred_at == datetime(2026, 1, 1, 0, 0, 3, 250_000, UTC)


def test_instructions_become_one_undated_memory_of_the_person() -> None:
    wishes = {"user_profile": "I am a baker.", "user_instructions": "Be brief."}
    content = {"content_type": "user_editable_context", **wishes}
    hidden = {"is_visually_hidden_from_conversation": True}
    message = {"author": {"role": "user"}, "content": content, "metadata": hidden}
    [memory] = read(conversation(node("n", None, [], message), current="n"))
    assert isinstance(memory, FoundMemory)
    assert (memory.content, memory.origin, memory.occurred_at) == (
        "I am a baker.\n\nBe brief.", WriteOrigin.PERSON, None,
    )  # fmt: skip


def test_tools_thoughts_and_empty_messages_are_refused_with_reasons() -> None:
    thoughts = {"author": {"role": "assistant"}, "content": {"content_type": "thoughts", "thoughts": []}}
    picture = said("user", "", 1) | {"content": {"content_type": "multimodal_text", "parts": [{"asset": "x"}]}}
    hidden = said("user", "hidden", 2, metadata={"is_visually_hidden_from_conversation": True})
    code = said("assistant", "print(1)", 3, recipient="python")
    reasons = []
    for message in (thoughts, picture, hidden, code):
        [refused] = read(conversation(node("n", None, [], message), current="n"))
        assert isinstance(refused, Refused)
        reasons.append(refused.reason)
    assert reasons == [Reason.TOOL, Reason.NO_WORDS, Reason.HIDDEN, Reason.TOOL]


def test_a_message_without_a_date_has_that_of_the_one_before() -> None:
    first, second = node("a", None, ["b"], said("user", "one", 7)), node("b", "a", [], said("user", "two", None))
    found = read(conversation(first, second, current="b"))
    moments = [one.timestamp for one in found if isinstance(one, FoundEvent)]
    assert moments == [datetime(2026, 1, 1, 0, 0, 7, 250_000, UTC)] * 2


def test_anything_else_is_refused_and_not_an_error() -> None:
    for value in (None, 7, "text", [], {}, {"mapping": []}, {"mapping": {"a": 1, "b": None, "c": {"message": 3}}}):
        assert all(isinstance(one, Refused) for one in read(value))


def test_a_saved_memory_is_a_text_or_an_object() -> None:
    dated = {"content": "Has a dog.", "created_at": "2026-02-03T04:05:06Z"}
    saved = [read_saved("memories.json, 1", one) for one in ("Has a cat.", dated)]
    assert [one.content for one in saved if isinstance(one, FoundMemory)] == ["Has a cat.", "Has a dog."]
    assert isinstance(read_saved("memories.json, 3", {"content": "Had a fox.", "enabled": False}), Refused)
