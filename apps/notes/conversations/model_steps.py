"""The steps of an extraction that a chat model can do: finding facts, and the quality gate (spec 001).

Both are asked outside of transactions. Whatever keeps a model from answering is a code in the result: without facts of
a model they are found by patterns, and without a gate all of them pass.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from apps.llm.domain.chat import MessageRole
from apps.notes.domain.extraction.fact import Category, Fact, Turn
from apps.notes.domain.gate import MAX_FACTS, GateAnswer, GateDecision, decide, gate_request
from apps.notes.domain.settings import MemoryConfig
from apps.notes.gateway.ask import DISABLED, NO_SUCH_MODEL, NOT_AVAILABLE, NOTHING_TO_READ, Asking, ModelUse, ask_model
from apps.retrieval.domain.text.languages import STOPWORDS
from apps.retrieval.domain.text.terms import terms, words
from apps.semantic.domain.extraction import ConversationMessage, ExtractedMemory, MemoryType, readable
from apps.semantic.services import memories_find

GATE_PURPOSE = "gate"
# The pattern of a fact that a model found.
BY_MODEL = "model"
MAX_QUOTE_CHARS = 300
CATEGORIES = {
    MemoryType.PREFERENCE: Category.PREFERENCE,
    MemoryType.RELATIONSHIP: Category.PEOPLE,
    MemoryType.PLAN: Category.PLAN,
}
# The share of the words of a fact that its source has.
MIN_SAID = 0.5
_YES = re.compile(r"\s*(?:yes|yeah|yep|yup|sure|right|correct|exactly|是|對|对|好|沒錯|没错|嗯)", re.IGNORECASE)
_QUESTION = re.compile(r"[^.!?。！？\n]+[?？]")
# How a model names the person.
_USER = re.compile(r"\b(?:the )?user(?:['’]s)?\b|使用者|用[戶户]", re.IGNORECASE)
_HEARD = {"user": MessageRole.USER, "assistant": MessageRole.ASSISTANT}
_SENTENCE_ENDS = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")


@dataclass(frozen=True)
class ModelExtraction:
    """What a model found. facts: None where there is no answer, so that patterns are to find them.

    heard: which turns the model read, by their place. left_out: how many of its facts are not among these, by reason:
    `tool_request`, `recalled` (it only repeats what the assistant was given), `no_source` (the person
    has not said it).
    """

    facts: tuple[Fact, ...] | None
    use: ModelUse
    heard: tuple[int, ...] = ()
    left_out: dict[str, int] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Return how it went, for a record; not what was found."""
        return {"model": self.use.as_json(), "heard": list(self.heard), "left_out": self.left_out}


@dataclass(frozen=True)
class ModelGate:
    """What a model decided. decisions: one for each fact, in their order; None where there is no answer at all."""

    decisions: tuple[GateDecision, ...] | None
    use: ModelUse


def extract_by_model(
    turns: Sequence[Turn], config: MemoryConfig, asking: Asking, *, recalled: Sequence[str] = ()
) -> ModelExtraction:
    """Have the chosen model read the latest turns of a conversation, and return the facts that it finds.

    Of the turns of the person and the assistant at most `llm_extraction_max_messages` are read, the latest. recalled:
    texts that the assistant was given from memory: a fact that only repeats a line of them is left out.

    Raises OpenTransactionError inside a transaction.
    """
    use = ModelUse(config.llm_extraction_model)
    if not config.llm_extraction_enabled:
        return ModelExtraction(None, use.refused(DISABLED, "Extraction by a model is off."))
    # What tools and systems said is not read: it is not the person's, and the likeliest place of instructions.
    spoken = [place for place, turn in enumerate(turns) if turn.role in _HEARD and turn.text.strip()]
    heard = tuple(spoken[-config.llm_extraction_max_messages :]) if config.llm_extraction_max_messages > 0 else ()
    if not heard:
        return ModelExtraction((), use.refused(NOTHING_TO_READ, "There is no turn to read."))
    chosen = asking.choose(config.llm_extraction_model)
    if chosen is None:
        return ModelExtraction(None, use.refused(NOT_AVAILABLE, NO_SUCH_MODEL))
    listed = []
    for place in heard:
        turn = turns[place]
        at = turn.at if isinstance(turn.at, datetime) and turn.at.tzinfo is not None else None
        listed.append(ConversationMessage(str(place), turn.text, _HEARD[turn.role], turn.speaker, at))
    messages, _ = readable(listed, ())
    found = memories_find(
        actor=asking.actor,
        user_id=asking.user_id,
        messages=messages,
        model=chosen,
        partial_ok=False,
        policy=asking.policy(),
        clock=asking.clock,
        rng=asking.rng,
        sleep=asking.sleep,
    )
    use = use.with_effort(found.effort)
    if found.failure is not None:
        return ModelExtraction(None, use.failed(found.failure), heard)
    facts, left_out = facts_of(found.memories, turns, heard, recalled)
    if found.refused:
        left_out["tool_request"] = found.refused
    return ModelExtraction(facts, use.answered(found.provider, found.model), heard, left_out)


def facts_of(
    memories: Sequence[ExtractedMemory], turns: Sequence[Turn], heard: Sequence[int], recalled: Sequence[str]
) -> tuple[tuple[Fact, ...], dict[str, int]]:
    """Return what a model found as facts, in the order of their turns, and how many are left out by reason."""
    known = [frozenset(words(line)) for text in recalled for line in text.splitlines() if line.strip()]
    facts, left_out = [], dict[str, int]()
    for memory in memories:
        content = " ".join(memory.content.split())
        place = source_of(memory, content, turns, heard)
        own = frozenset(words(content))
        reason = "no_source" if place is None else "recalled" if any(own <= line for line in known) else ""
        if place is None or reason:
            left_out[reason] = left_out.get(reason, 0) + 1
            continue
        quote = quote_of(content, turns[place].text)
        category = CATEGORIES.get(memory.type, Category.ABOUT)
        facts.append(Fact(content, category, place, quote, memory.confidence, BY_MODEL))
    return tuple(sorted(facts, key=lambda fact: fact.turn)), left_out


def source_of(memory: ExtractedMemory, content: str, turns: Sequence[Turn], heard: Sequence[int]) -> int | None:
    """Return the place of the turn of the person that says a memory; None where none has enough of its words.

    Those that the model names are the only ones considered; without any, all that it read. What the assistant said is
    no source: it may repeat what others wrote. An answer is read with the question before it.
    """
    named = [heard[number - 1] for number in memory.messages if 1 <= number <= len(heard)]
    spoken = [place for place in named or heard if turns[place].role == "user"]
    own = meanings(content, turns)
    shares = {place: share_said(own, place, turns, heard) for place in spoken}
    best = max(spoken, key=lambda place: shares[place], default=None)
    return best if best is not None and shares[best] >= MIN_SAID else None


def share_said(own: frozenset[str], place: int, turns: Sequence[Turn], heard: Sequence[int]) -> float:
    """Return the share of the words of a fact that a turn has, with those of the question that it answers."""
    said = meanings(turns[place].text, turns)
    before = max((each for each in heard if each < place), default=None)
    is_answer = bool(own & said or _YES.match(turns[place].text))
    if before is not None and turns[before].role == "assistant" and is_answer:
        said |= meanings(" ".join(_QUESTION.findall(turns[before].text)[-1:]), turns)
    return len(own & said) / len(own) if own else 0.0


def meanings(text: str, turns: Sequence[Turn]) -> frozenset[str]:
    """Return the words of a text that mean something, by their stems, without the names of those who speak."""
    names = frozenset(term for turn in turns for term in terms(turn.speaker))
    return frozenset(term for term in terms(_USER.sub(" ", text)) if term not in STOPWORDS) - names


def quote_of(content: str, text: str) -> str:
    """Return the sentence of a turn that has most words in common with a fact, at most MAX_QUOTE_CHARS of it."""
    own = frozenset(words(content))
    sentences = [each.strip() for each in _SENTENCE_ENDS.split(text) if each.strip()]
    best = max(sentences, key=lambda each: len(own & frozenset(words(each))), default=text.strip())
    return best[:MAX_QUOTE_CHARS]


def gate_by_model(facts: Sequence[Fact], config: MemoryConfig, asking: Asking) -> ModelGate:
    """Have the chosen model say of each fact whether it is worth keeping.

    Where a part of the facts has no answer, these pass, with the code of the reason. Raises OpenTransactionError.
    """
    use = ModelUse(config.llm_gating_model)
    if not config.llm_gating_enabled:
        return ModelGate(None, use.refused(DISABLED, "The quality gate is off."))
    if not facts:
        return ModelGate((), use.refused(NOTHING_TO_READ, "There is no fact to decide about."))
    decisions: list[GateDecision] = []
    has_answer = False
    for start in range(0, len(facts), MAX_FACTS):
        part, answer = facts[start : start + MAX_FACTS], None
        if not use.code:
            answer, use = ask_model(asking, use, GATE_PURPOSE, gate_request(part, asking.rng), GateAnswer)
        if answer is None:
            decisions += [GateDecision(fact, keep=True, code=use.code) for fact in part]
        else:
            has_answer = True
            decisions += decide(part, answer)
    return ModelGate(tuple(decisions) if has_answer else None, use)
