"""The check of an answer: whole, JSON where that was expected, and of the shape that the schema requires.

- An answer that the model ended is repaired where it is damaged JSON (spec 002 sections 7 and 8).
- What was cut, at `max_tokens`, because the connection broke, or inside a value whatever the model said, is repaired
  only for callers that accept a part (`partial_ok`), and only as a list with its whole elements: repair closes whatever
  is open, so its last part may differ from what the model would have written. A document that is whole is not cut, even
  where the end of the stream is missing.
"""

import json
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import BaseModel, ValidationError

from apps.llm.domain.chat import ChatMessage, ChatRequest, FinishReason, MessageRole
from apps.llm.domain.json_repair.repair import RepairResult, repair_json
from apps.llm.domain.json_repair.types import Repair
from apps.llm.domain.outcome import OutputFault

MAX_PROBLEMS = 5
MAX_PLACE_CHARS = 100
MAX_PROBLEM_CHARS = 300
MAX_QUOTED_CHARS = 8_000
CORRECTABLE = frozenset({OutputFault.EMPTY, OutputFault.CUT_OFF, OutputFault.INVALID_JSON, OutputFault.WRONG_SHAPE})
"""Faults that a model can correct when they are explained; a refusal and endless text are not."""
_NO_ANSWER = "(no answer)"


@dataclass(frozen=True, slots=True)
class Expectation:
    """What an answer must be. schema: of the JSON document; with one, JSON is expected.

    partial_ok: the caller can use a list without its last elements; `is_cut` marks it.
    """

    schema: type[BaseModel] | None = None
    json: bool = False
    partial_ok: bool = False


@dataclass(frozen=True, slots=True)
class StreamedAnswer:
    """What arrived of an answer. finish: None where the stream broke off.

    document: the JSON in it, where JSON is expected and some has arrived. is_too_long: there was more than is accepted,
    and the rest was not read.
    """

    text: str = field(default="", repr=False)
    finish: FinishReason | None = None
    document: RepairResult | None = field(default=None, repr=False)
    is_too_long: bool = False


@dataclass(frozen=True, slots=True)
class UsableAnswer:
    """An answer that can be used; the fields are those of a ChatAnswer."""

    text: str = field(repr=False)
    value: Any = field(repr=False)
    is_cut: bool = False
    repairs: tuple[Repair, ...] = ()


@dataclass(frozen=True, slots=True)
class UnusableAnswer:
    """An answer that cannot be used. problems: what is wrong, for the model; they may hold words of its answer."""

    fault: OutputFault
    problems: tuple[str, ...] = field(default=(), repr=False)

    @property
    def is_correctable(self) -> bool:
        """Return whether the model may correct it."""
        return self.fault in CORRECTABLE


def check_answer(answer: StreamedAnswer, expected: Expectation) -> UsableAnswer | UnusableAnswer | None:
    """Check an answer; None for one that broke off before it was whole. Never raises, whatever the model wrote."""
    if answer.is_too_long:
        return UnusableAnswer(OutputFault.TOO_LONG)
    if answer.finish is FinishReason.FILTERED:
        return UnusableAnswer(OutputFault.FILTERED)
    was_cut = answer.finish is FinishReason.LENGTH
    if answer.document is not None:
        return check_document(answer.document, expected, was_cut=was_cut)
    if answer.finish is None:
        return None
    if not answer.text.strip():
        return UnusableAnswer(OutputFault.CUT_OFF if was_cut else OutputFault.EMPTY)
    return UsableAnswer(answer.text, None, is_cut=was_cut)


def check_partial_answer(text: str, expected: Expectation) -> UsableAnswer | None:
    """Return what can be used of an answer that broke off, for callers that accept a part; None for nothing."""
    if not (expected.json and expected.partial_ok):
        return None
    checked = check_document(repair_json(text), expected, was_cut=True)
    return checked if isinstance(checked, UsableAnswer) else None


def build_correction(request: ChatRequest, text: str, unusable: UnusableAnswer) -> ChatRequest:
    """Return the question with the answer and what was wrong with it, to be put again."""
    answer = ChatMessage(MessageRole.ASSISTANT, text.strip()[:MAX_QUOTED_CHARS] or _NO_ANSWER)
    reason = ChatMessage(MessageRole.USER, explain_fault(request, unusable))
    return replace(request, messages=(*request.messages, answer, reason))


def check_document(document: RepairResult, expected: Expectation, *, was_cut: bool) -> UsableAnswer | UnusableAnswer:
    """Check a JSON document against the schema."""
    # The repairs of an answer that was cut include its end. A value that is cut shows it, whatever the provider says.
    is_cut = (was_cut and not document.was_valid) or bool(document.truncated)
    if document.text is None:
        return UnusableAnswer(OutputFault.CUT_OFF if is_cut else OutputFault.INVALID_JSON)
    if is_cut and not (expected.partial_ok and drop_unfinished(document.value)):
        return UnusableAnswer(OutputFault.CUT_OFF)
    text = json.dumps(document.value, ensure_ascii=False) if is_cut else document.text
    if expected.schema is None:
        return UsableAnswer(text, document.value, is_cut, document.repairs)
    try:
        value = expected.schema.model_validate_json(text)
    except ValidationError as error:
        # The first few things that are wrong, each with its place, without the values.
        details = error.errors(include_url=False, include_context=False, include_input=False)[:MAX_PROBLEMS]
        problems: list[str] = []
        for found in details:
            place = ".".join(map(str, found["loc"]))[:MAX_PLACE_CHARS] or "the document"
            problems.append(f"{place}: {found['msg']}"[:MAX_PROBLEM_CHARS])
        return UnusableAnswer(OutputFault.CUT_OFF if is_cut else OutputFault.WRONG_SHAPE, tuple(problems))
    return UsableAnswer(text, value, is_cut, document.repairs)


def drop_unfinished(value: object) -> bool:
    """Remove the last element of the outermost list that ends where `value` does; return False where it is then empty.

    Everything before that element had ended before the document was cut. Where no list ends with the document, its
    whole parts are unknown.
    """
    while isinstance(value, dict) and value:
        value = next(reversed(value.values()))
    if not isinstance(value, list):
        return False
    del value[-1:]
    return bool(value)


def explain_fault(request: ChatRequest, unusable: UnusableAnswer) -> str:
    """Return what is wrong with an answer, and what would be right, for the model."""
    match unusable.fault:
        case OutputFault.EMPTY:
            return "You have not answered. Answer the question above."
        case OutputFault.CUT_OFF:
            room = f"it has room for {request.max_tokens} tokens"
            return f"Your answer was cut off before its end ({room}). Answer again, in fewer words."
        case OutputFault.INVALID_JSON:
            return "Your answer is not JSON. Answer again, with one JSON document and nothing else."
        case _:
            problems = "\n".join(f"- {problem}" for problem in unusable.problems)
            return f"Your answer does not have the shape that was asked for:\n{problems}\nAnswer again, corrected."
