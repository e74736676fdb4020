"""What files of memories and of questions may hold, and what is said about the rest."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from apps.semantic.imports.files import UnreadableFileError, read_memories, read_questions
from apps.semantic.imports.importer import BadLine, PlacedDraft

CONVERSATION = Path(__file__).parents[2] / "fixtures" / "conversation.json"
TEA = '{"user_id": "ana", "content": "tea"}'
ASKED = {"user_id": "ana", "question": "Tea?", "evidence": ["D1:4"]}

Change = Callable[[Any], object]


def write(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def talk(tmp_path: Path) -> Callable[[Change], Path]:
    """The conversation of the fixtures with a change."""

    def make(change: Change) -> Path:
        samples = json.loads(CONVERSATION.read_text("utf-8"))
        change(samples[0])
        return write(tmp_path / "talk.json", json.dumps(samples))

    return make


def second_turn(**fields: Any) -> Change:
    return lambda sample: sample["conversation"]["session_1"][1].update(fields)


def first_question(**fields: Any) -> Change:
    return lambda sample: sample["qa"][0].update(fields)


def bad_ones(path: Path) -> list[str]:
    """What is said about the places that cannot be used; all others must be usable."""
    total, items = read_memories(path)
    items = list(items)
    assert len(items) == total
    assert sum(isinstance(item, PlacedDraft) for item in items) == total - 1
    return [f"{item.place}: {item.reason}" for item in items if isinstance(item, BadLine)]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"user_id": "ana", "content": "tea", "importance": ' + "9" * 5_000 + "}", "not a JSON object (Exceeds"),
        ('{"user_id": "ana", "content": "tea", "importance": NaN}', "not a JSON object (NaN is not JSON.)"),
        ('{"user_id": "ana", "content": "tea", "content": "milk"}', "content: Given more than once."),
        ('{"user_id": "ana", "content": "tea", "metadata": {"a": 1, "a": 2}}', "a: Given more than once."),
        ('["user_id", "content"]', "not a JSON object"),
        ("null", "not a JSON object"),
        ("[" * 100_000, "not a JSON object (nested too deeply: at most 100 levels.)"),
    ],
    ids=["long number", "NaN", "member twice", "inner member twice", "list", "null", "deep"],
)
@pytest.mark.parametrize("first", [True, False], ids=["first line", "last line"])
def test_a_line_that_cannot_be_used_is_named(line: str, reason: str, first: bool, tmp_path: Path) -> None:
    lines = [line, TEA] if first else [TEA, line]
    [said] = bad_ones(write(tmp_path / "memories.jsonl", *lines))
    assert said.startswith(f"line {lines.index(line) + 1}: {reason}")


def test_what_is_larger_than_request_may_be_is_refused(settings: Any, tmp_path: Path) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 100
    [said] = bad_ones(write(tmp_path / "memories.jsonl", TEA, TEA.replace("tea", "x" * 100)))
    assert said == "line 2: too large: at most 100 bytes, got 133"
    with pytest.raises(UnreadableFileError, match="too large"):
        read_memories(CONVERSATION)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (second_turn(text="No\x00idea"), "sample talk-1 D1:2: content: Null characters are not allowed."),
        (second_turn(text="no " * 40_000), "sample talk-1 D1:2: content: Ensure this field has no more than"),
        (second_turn(text="No\ud800idea"), "sample talk-1 D1:2: content: "),
        (second_turn(text=None), "sample talk-1 D1:2: text: expected a text."),
        (second_turn(speaker="J\x00"), "sample talk-1 D1:2: content: "),
        (second_turn(blip_caption=["a cat"]), "sample talk-1 D1:2: blip_caption: expected a text."),
        (second_turn(dia_id=None), "sample talk-1 session_1 turn 2: dia_id: expected a text."),
        (second_turn(dia_id="D1\x00"), "sample talk-1 session_1 turn 2: metadata: "),
        (lambda sample: sample["conversation"]["session_1"].__setitem__(1, 7), "sample talk-1 session_1 turn 2: "),
    ],
    ids=["NUL", "long", "surrogate", "no text", "NUL in speaker", "caption", "no id", "NUL in id", "no object"],
)
def test_a_turn_that_cannot_be_used_is_named(change: Change, said: str, talk: Callable[[Change], Path]) -> None:
    [error] = bad_ones(talk(change))
    assert error.startswith(said)


def test_turns_obey_the_same_limit_as_the_api(talk: Callable[[Change], Path]) -> None:
    room = settings.MEMORYHUB.max_content_chars - len("Jonas: ")
    _, items = read_memories(talk(second_turn(text="x" * room)))
    assert all(isinstance(item, PlacedDraft) for item in items)
    assert bad_ones(talk(second_turn(text="x" * (room + 1))))


def test_sessions_of_same_number_are_both_read(talk: Callable[[Change], Path]) -> None:
    def change(sample: Any) -> None:
        sample["conversation"]["session_01"] = sample["conversation"]["session_1"][:1]

    total, _ = read_memories(talk(change))
    assert total == 8


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda sample: sample.update(conversation=[1]), "sample 1: conversation: expected an object"),
        (lambda sample: sample.pop("sample_id"), "sample 1: sample_id: expected"),
        (lambda sample: sample.update(sample_id="a\x00b"), "sample 1: sample_id: expected"),
        (lambda sample: sample.update(sample_id=float("nan")), "NaN is not JSON"),
        (
            lambda sample: sample["conversation"].update(session_2_date_time="11:59 pm on 31 December, 99999"),
            "session_2_date_time",
        ),
    ],
    ids=["conversation", "no id", "NUL in id", "NaN", "date"],
)
def test_a_broken_conversation_is_refused(change: Change, said: str, talk: Callable[[Change], Path]) -> None:
    with pytest.raises(UnreadableFileError, match=said):
        read_memories(talk(change))


@pytest.mark.parametrize("read", [read_memories, read_questions])
def test_conversation_with_number_beyond_reason_is_still_known_as_one(
    read: Callable[[Path], Any], tmp_path: Path
) -> None:
    text = CONVERSATION.read_text("utf-8").replace('"category": 4', '"category": ' + "4" * 5_000)
    with pytest.raises(UnreadableFileError, match=r"looks like a LoCoMo file, but: .*digits"):
        read(write(tmp_path / "talk.json", text))


def test_member_named_twice_in_conversation_is_refused(tmp_path: Path) -> None:
    text = CONVERSATION.read_text("utf-8").replace('"session_2"', '"session_1"')
    with pytest.raises(UnreadableFileError, match="session_1: Given more than once"):
        read_memories(write(tmp_path / "talk.json", text))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda sample: sample.pop("sample_id"), "sample 1: sample_id: expected"),
        (lambda sample: sample.update(qa={"question": "Who?"}), "sample 1: qa: expected a list"),
        (lambda sample: sample.update(qa=[1]), "sample 1: qa: expected a list"),
        (first_question(question=None), "sample talk-1 question 1: question: "),
        (first_question(question="Wh\ud800?"), "sample talk-1 question 1: question: "),
    ],
    ids=["no id", "qa", "qa of numbers", "no question", "surrogate"],
)
def test_broken_questions_of_conversation_are_refused(
    change: Change, said: str, talk: Callable[[Change], Path]
) -> None:
    with pytest.raises(UnreadableFileError, match=said):
        read_questions(talk(change))


@pytest.mark.parametrize("evidence", [["D1:03; D2:1"], ["D1:3", "D2:1", "D"], "D1:3, D2:1", [["D1:3"], {"x": "D2:1"}]])
def test_turn_ids_are_found_in_whatever_evidence_is(evidence: Any, talk: Callable[[Change], Path]) -> None:
    question = read_questions(talk(first_question(evidence=evidence)))[0]
    assert question.evidence == {"D1:3", "D2:1"}


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ({"question": "Who?"}, "user_id: "),
        ({**ASKED, "evidence": "D1:4"}, "evidence: "),
        ({**ASKED, "user_id": "a\x00"}, "user_id: Null characters"),
        ({**ASKED, "question": " "}, "question: "),
        ({**ASKED, "question": "x" * 10_001}, "question: "),
        (json.dumps(ASKED).replace('"question"', '"user_id"'), "user_id: Given more than once"),
        ("9" * 5_000, "not a JSON object"),
        ("[]", "not a JSON object"),
    ],
    ids=["no user", "evidence", "NUL", "blank", "long", "member twice", "long number", "list"],
)
def test_a_malformed_question_is_named(line: Any, reason: str, tmp_path: Path) -> None:
    text = line if isinstance(line, str) else json.dumps(line)
    with pytest.raises(UnreadableFileError, match=f"line 2: {reason}"):
        read_questions(write(tmp_path / "questions.jsonl", json.dumps(ASKED), text))


def test_question_may_hold_fields_of_askers_own(tmp_path: Path) -> None:
    line = json.dumps({**ASKED, "category": 3, "answer": "Yes"})
    [question] = read_questions(write(tmp_path / "questions.jsonl", line))
    assert (question.category, question.evidence) == ("3", {"D1:4"})
