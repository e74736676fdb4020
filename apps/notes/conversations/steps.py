"""The steps of a run of extraction: extract, reconcile, gate and apply (spec 001, automatic extraction).

Each returns what it decided, for the record of the run, and leaves writing that to its caller; `apply_fact` alone
writes, and is safe to repeat wherever its process died.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction

from apps.core.domain.clock import Clock
from apps.core.domain.errors import InvalidInputError
from apps.core.domain.origin import LOWER_ORIGIN, WriteOrigin
from apps.core.domain.scope import Access, AccessStoppedError, Permission, Scope
from apps.core.pauses import PausedError
from apps.core.selectors import require_let_in
from apps.core.steps import Step
from apps.notes.conversations.model_steps import extract_by_model, gate_by_model
from apps.notes.domain.extraction.extract import extract_facts
from apps.notes.domain.extraction.fact import Category, Fact, Turn
from apps.notes.domain.places import MAIN
from apps.notes.domain.settings import MemoryConfig
from apps.notes.files.changes import note_append, note_read
from apps.notes.gateway.ask import Asking
from apps.notes.models import ConversationMessage, ExtractedFact, ExtractionRun, FactState
from apps.retrieval.domain.content import content_hash, normalise_content
from apps.retrieval.domain.text.terms import words
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.selectors import memory_list
from apps.semantic.services import SaveResult, memory_save

SOURCE = "conversation"
# In the metadata of a memory: where it was said.
EVIDENCE_KEY = "conversation"
MODEL, PATTERNS = "model", "patterns"
# Of one conversation; the latest.
MAX_RECALLED = 500
MAX_FACT_CHARS = 5_000
# What saving leads to where the fact holds now; else the rules kept what was known, or it was known word for word.
HOLDS = frozenset({"inserted", "superseded_existing", "merged"})
# The columns of a memory that holds no longer: something newer replaced it, or what it was merged into.
REPLACED = ({"status": "superseded"}, {"status": "merged", "superseded_by__status": "superseded"})


@dataclass(frozen=True)
class Extraction:
    """What the messages of a run say. messages: of the turns, in their order."""

    messages: Sequence[ConversationMessage]
    facts: Sequence[Fact]
    record: dict[str, Any]
    model: str = ""


@dataclass(frozen=True)
class Verdicts:
    """What a step decided about facts. dropped: why, by the key of the fact."""

    record: dict[str, Any]
    dropped: dict[int, str] = field(default_factory=dict)


def extract(run: ExtractionRun, config: MemoryConfig, asking: Asking) -> Extraction:
    """Find the facts in the messages of a run: by a model where that is wanted, else or on failure by patterns.

    Where a model read the latest messages only, the facts of the earlier ones are found by patterns.
    """
    messages = list(ConversationMessage.objects.filter(run=run, cleared_at=None).order_by("number"))
    turns = [Turn(message.role, message.content, message.at, message.speaker) for message in messages]
    recalled = recalled_texts(run)
    by_model = extract_by_model(turns, config, asking, recalled=recalled) if config.llm_extraction_enabled else None
    if by_model is None or by_model.facts is None:
        facts = extract_facts(turns, recalled=recalled)
    else:
        first = min(by_model.heard, default=len(turns))
        facts = [*(extract_facts(turns[:first], recalled=recalled) if first else []), *by_model.facts]
    has_model = by_model is not None and by_model.facts is not None
    record = {
        "step": "extract",
        "how": MODEL if has_model else PATTERNS,
        "turns": len(turns),
        "recalled": len(recalled),
        "facts": len(facts),
        **({"by_model": by_model.as_json()} if by_model is not None else {}),
    }
    return Extraction(messages, facts, record, by_model.use.model if has_model and by_model else "")


def recalled_texts(run: ExtractionRun) -> list[str]:
    """Return the latest texts that were recalled in the conversation of a run."""
    rows = ConversationMessage.objects.filter(conversation=run.conversation_id, recalled=True, cleared_at=None)
    return list(rows.order_by("-number").values_list("content", flat=True)[:MAX_RECALLED])


def reconcile(run: ExtractionRun, facts: Sequence[ExtractedFact], access: Access) -> Verdicts:
    """Drop what is known: recalled, said twice, in MEMORY.md in the same words, or a memory already.

    What is a newer value of something known passes: the rules of semantic memory decide about it. So does what was
    replaced and is said again, although its former line is still there.
    """
    recalled = {key for text in recalled_texts(run) for key in keys_of(text)}
    noted = keys_of((note_read(run.user_id, MAIN).text or b"").decode(errors="replace"))
    dropped: dict[int, str] = {}
    seen: set[str] = set()
    for fact in facts:
        key = key_of(fact.content)
        if key in recalled:
            dropped[fact.pk] = "recalled"
        elif key in seen:
            dropped[fact.pk] = "repeated"
        elif key in noted and not was_replaced(access, run.user_id, fact.content):
            dropped[fact.pk] = "in_notes"
        elif memory_list(access, Scope(run.user_id), columns_of(fact.content)).exists():
            dropped[fact.pk] = "in_memory"
        seen.add(key)
    counts = dict(sorted(Counter(dropped.values()).items()))
    return Verdicts({"step": "reconcile", "facts": len(facts), "dropped": counts}, dropped)


def keys_of(text: str) -> set[str]:
    """Return the keys of the lines of a text."""
    return {key_of(line) for line in text.splitlines() if line.strip()}


def key_of(text: str) -> str:
    """Return the words by which a text is known again: without case, punctuation and marks of a list."""
    return " ".join(words(text)) or normalise_content(text)


def was_replaced(access: Access, user_id: str, content: str) -> bool:
    """Return whether a content is a memory of the person as a whole that something newer has replaced."""
    columns = columns_of(content)
    return any(memory_list(access, Scope(user_id), {**columns, **which}).exists() for which in REPLACED)


def columns_of(content: str) -> dict[str, str]:
    """Return the columns by which the memories of a person as a whole with a content are found. None is managed."""
    return {"content_hash": content_hash(content), "household_id": "", "persona_id": "", "managed_by": ""}


def gate(facts: Sequence[ExtractedFact], config: MemoryConfig, asking: Asking) -> Verdicts:
    """Have a model drop what is not worth keeping, where that is wanted. Without an answer everything passes."""
    if not config.llm_gating_enabled or not facts:
        return Verdicts({"step": "gate", "enabled": config.llm_gating_enabled, "facts": len(facts), "dropped": {}})
    candidates = [
        Fact(fact.content, Category(fact.category), fact.number, "", fact.confidence, fact.pattern) for fact in facts
    ]
    answer = gate_by_model(candidates, config, asking)
    decisions = answer.decisions or ()
    reasons = {
        fact.pk: f"gate: {decision.reason}" if decision.reason else "gate"
        for fact, decision in zip(facts, decisions, strict=False)
        if not decision.keep
    }
    record = {
        "step": "gate",
        "enabled": True,
        "facts": len(facts),
        "dropped": {"gate": len(reasons)} if reasons else {},
        "by_model": {"model": answer.use.as_json()},
    }
    return Verdicts(record, reasons)


def access_of(run: ExtractionRun) -> Access:
    """Return what a run may do: write for its user, in the name of who sent the messages, what it derived of them."""
    return Access(Scope(run.user_id), Permission.WRITE, run.actor, origin=WriteOrigin.DERIVED)


def apply_fact(run: ExtractionRun, fact: ExtractedFact, clock: Clock, step: Step) -> None:
    """Save a fact to semantic memory, and where it holds there add it to MEMORY.md. Safe to repeat.

    The memory is committed together with the mark of it in the fact, and the line has an operation id of the fact: so
    neither is made twice, wherever the process dies. Raises MemoryHubError, above all UnavailableError.
    """
    access = access_of(run)
    if fact.memory is None:
        step("remember")
        try:
            require_let_in(run.actor, run.user_id)
            # The rules decide about what it contradicts. What contradicts a more trusted writer waits there for a
            # person.
            draft = make_draft(run, fact)
            # One transaction for the memory and its mark. Until the text is embedded it holds no lock.
            with transaction.atomic():
                result: SaveResult = memory_save(access=access, draft=draft, clock=clock)
                action = LOWER_ORIGIN if result.reason == LOWER_ORIGIN else result.action
                fact.memory, fact.memory_action, fact.receipt = result.memory.uuid, action, result.conflict
                fact.save(update_fields=["memory", "memory_action", "receipt"])
        except (InvalidInputError, PausedError, AccessStoppedError) as error:
            settle(fact, FactState.DROPPED, error.code)
            return
        step("remembered")
    if fact.memory_action not in HOLDS:
        settle(fact, FactState.DROPPED, fact.memory_action)
        return
    version, _ = note_append(
        run.user_id, MAIN, fact.content, author=run.actor, category=fact.category, operation=f"fact:{fact.uuid}",
        clock=clock,
    )  # fmt: skip
    step("noted")
    fact.note_version = version.uuid
    settle(fact, FactState.APPLIED, "")


def make_draft(run: ExtractionRun, fact: ExtractedFact) -> MemoryDraft:
    """Return the memory of a fact, with what it was taken from as evidence."""
    message = fact.message
    evidence = {"session_id": run.session_id, "run": str(run.uuid), "fact": str(fact.uuid)}
    if message is not None:
        evidence["message"] = str(message.uuid)
        if message.caller_id:
            evidence["message_id"] = message.caller_id
    return MemoryDraft(
        content=fact.content,
        scope=Scope(run.user_id),
        confidence=fact.confidence,
        source=SOURCE,
        occurred_at=message.at if message is not None else None,
        session_id=run.session_id,
        metadata={EVIDENCE_KEY: evidence, "category": fact.category},
    )


def settle(fact: ExtractedFact, state: FactState, reason: str) -> None:
    """Note what became of a fact."""
    fact.state, fact.reason = state, reason
    fact.save(update_fields=["state", "reason", "note_version"])
