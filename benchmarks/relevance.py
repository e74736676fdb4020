"""Fit and measure relevance (`retrieval.domain.relevance`) without labels of people.

The questions of one conversation find their evidence there, and no answer in another one. A scope is a whole
conversation, forty turns of it, or all of them together, so that a relevance means the same in each. Nothing is stored.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from apps.core.domain.scope import Scope
from apps.llm.domain.embedder import TextRole
from apps.llm.services import can_read, current_scale
from apps.retrieval.domain.bm25 import keyword_scores
from apps.retrieval.domain.postings import Floats
from apps.retrieval.domain.query import SearchMode, SearchQuery
from apps.retrieval.domain.ranking import best_slots, evidence_of, take, visible_slots
from apps.retrieval.domain.relevance import BEST_OF, Background, Evidence, Model, Weights, relevance_of
from apps.retrieval.domain.rows import IndexRow, RowStore
from apps.retrieval.domain.scores import score_rows
from apps.retrieval.domain.text.asked import asked_terms
from apps.semantic.domain.locomo import locomo_questions, locomo_turns, sample_name, turn_fields
from apps.semantic.index.changes import CODED
from apps.semantic.store.embedding_space import embed
from apps.semantic.store.rows import word_columns
from benchmarks.stories import Story

Matrix = npt.NDArray[np.float64]
NOW = datetime(2026, 1, 1, tzinfo=UTC)
PART = 40
SHOWN = 10
_RIDGE = 1e-4
NOTHING: frozenset[int] = frozenset()
# What each model may look at, by mode.
FEATURES: Mapping[SearchMode, tuple[tuple[str, ...], tuple[str, ...]]] = {
    SearchMode.HYBRID: (
        ("best_nearness", "best_coverage", "rows"),
        ("nearness", "coverage", "best_nearness", "best_coverage", "substance"),
    ),
    SearchMode.VECTOR: (("best_nearness", "rows"), ("nearness", "best_nearness")),
    SearchMode.KEYWORD: (("best_coverage", "rows"), ("coverage", "best_coverage")),
}


@dataclass(frozen=True, eq=False)
class Conversation:
    """Turns as rows with their places, and its questions with vectors. evidence: by the places of turns."""

    name: str
    rows: Sequence[IndexRow]
    questions: Sequence[str]
    vectors: npt.NDArray[np.float32]
    evidence: Sequence[frozenset[int]]


@dataclass(frozen=True, eq=False)
class AskedMemories:
    """A question put to a scope: what is known of its best hits, which of them are evidence, and how much there is.

    scope: conversation, part or all; note or notes.
    """

    evidence: Evidence
    is_evidence: npt.NDArray[np.bool_]
    expected: int
    scope: str


def read_conversation(sample: Mapping[str, Any]) -> Conversation:
    """Return a LoCoMo sample with vectors. Raises LocomoError, UnavailableError."""
    name = sample_name(sample)
    fields = [turn_fields(turn, name) for turn in locomo_turns(sample)]
    places = {one["metadata"]["dia_id"]: place for place, one in enumerate(fields)}
    asked = [question for _, question in locomo_questions(sample, name)]
    turns = embed([one["content"] for one in fields])
    rows = [make_row(place, one, vector) for place, (one, vector) in enumerate(zip(fields, turns, strict=True))]
    evidence = [frozenset(places[key] for key in one["evidence"] if key in places) for one in asked]
    questions = [one["question"] for one in asked]
    return Conversation(name, rows, questions, embed(questions, TextRole.QUERY), evidence)


def make_row(place: int, fields: Mapping[str, Any], vector: npt.NDArray[np.float32]) -> IndexRow:
    """Return a turn as the index holds it."""
    at = datetime.fromisoformat(fields["occurred_at"])
    words = word_columns(fields["content"], (), "", at)
    coded = {"session_id": fields["session_id"], "is_global": "false", "decay_policy": "stable", "is_managed": "false"}
    return IndexRow(
        place, True, tuple(coded.get(name, "") for name in CODED), at.timestamp(), at.timestamp(), 1.0,
        words["question_share"], words["fullness"], words["lexemes"], vector.astype(np.float32).tobytes(),
    )  # fmt: skip


def make_store(rows: Sequence[IndexRow]) -> RowStore:
    """Return rows as searches read them."""
    store = RowStore(len(rows[0].vector) // 4, CODED, current_scale())
    store.apply(rows)
    return store


def ask(
    store: RowStore, text: str, vector: npt.NDArray[np.float32], mode: SearchMode, background: Background,
    evidence: frozenset[int], scope: str,
) -> AskedMemories:  # fmt: skip
    """Put a question to a store. evidence: the ids of the rows that answer it."""
    query = SearchQuery(query=text, mode=mode, top_k=SHOWN)
    visible = [visible_slots(store, Scope(), NOW)]
    by_words, by_vector = mode is not SearchMode.VECTOR, mode is not SearchMode.KEYWORD
    words = keyword_scores(asked_terms(text), [store], visible) if by_words else None
    scored = score_rows(query, vector if by_vector else None, [store], words, NOW, {"stable": None})
    matched = np.flatnonzero(scored.score > 0) if mode is SearchMode.KEYWORD else np.flatnonzero(visible[0])
    best = best_slots(scored, matched, max(SHOWN, BEST_OF))
    known = take(evidence_of(scored, best[:BEST_OF], words, background, len(store)), best[:SHOWN])
    return AskedMemories(known, np.isin(scored.ids[best[:SHOWN]], list(evidence)), len(evidence), scope)


def ask_all(conversations: Sequence[Conversation], mode: SearchMode, background: Background) -> list[AskedMemories]:
    """Put every question to its own conversation and to each other one, and every second one to a part and to all."""
    asked: list[AskedMemories] = []
    starts = np.cumsum([0, *(len(one.rows) for one in conversations)]).tolist()
    stores = [make_store(one.rows) for one in conversations]
    together = make_store(merge_rows(conversations, starts))
    for number, own in enumerate(conversations):
        others = [row for row in merge_rows(conversations, starts) if not 0 <= row.id - starts[number] < len(own.rows)]
        without = make_store(others)
        for place, question in enumerate(zip(own.questions, own.vectors, own.evidence, strict=True)):
            text, vector, evidence = question
            if not evidence:
                continue
            expected = [evidence if one is own else NOTHING for one in conversations]
            scopes = [("conversation", *pair) for pair in zip(stores, expected, strict=True)]
            if not place % 2:
                shifted = frozenset(one + starts[number] for one in evidence)
                scopes += [("all", together, shifted), ("all", without, NOTHING)]
                for one, part in enumerate(parts_at(conversations, min(evidence))):
                    if one != number or evidence <= {row.id for row in part}:
                        scopes.append(("part", make_store(part), expected[one]))
            asked += [ask(store, text, vector, mode, background, ids, scope) for scope, store, ids in scopes]
    return asked


def ask_stories(stories: Sequence[Story], mode: SearchMode, background: Background) -> list[AskedMemories]:
    """Put the question of each story to its own statements, to those of another one, and to those of all.

    All statements of a story are evidence, since they speak of what is asked. Stories are notes: short, without a
    session. Only those count that the model can read.
    """
    told = [one for one in stories if one.query and can_read(one.query)]
    if not told:
        return []
    texts = [text for one in told for text in one.statements]
    starts = np.cumsum([0, *(len(one.statements) for one in told)]).tolist()
    fields = {"session_id": "", "occurred_at": NOW.isoformat()}
    rows = [
        make_row(place, {**fields, "content": text}, vector)
        for place, (text, vector) in enumerate(zip(texts, embed(texts), strict=True))
    ]
    parts = [rows[first:last] for first, last in pairwise(starts)]
    together = make_store(rows)
    asked: list[AskedMemories] = []
    for place, vector in enumerate(embed([one.query or "" for one in told], TextRole.QUERY)):
        question, own = told[place].query or "", parts[place]
        evidence = frozenset(row.id for row in own)
        other = parts[(place + len(parts) // 2) % len(parts)]
        for store, ids, scope in (
            (make_store(own), evidence, "note"),
            (make_store(other), NOTHING, "note"),
            (together, evidence, "notes"),
        ):
            asked.append(ask(store, question, vector, mode, background, ids, scope))
    return asked


def merge_rows(conversations: Sequence[Conversation], starts: Sequence[int]) -> list[IndexRow]:
    """Return the rows of all of them, with ids and sessions of their own."""
    session = CODED.index("session_id")
    rows = []
    for start, one in zip(starts, conversations, strict=False):
        for row in one.rows:
            coded = list(row.coded)
            coded[session] = f"{one.name} {coded[session]}"
            rows.append(row._replace(id=row.id + start, coded=tuple(coded)))
    return rows


def parts_at(conversations: Sequence[Conversation], place: int) -> Iterator[Sequence[IndexRow]]:
    """Yield about forty turns around a place of each conversation."""
    for one in conversations:
        first = max(0, min(place, len(one.rows) - 1) - PART // 2)
        yield one.rows[first : first + PART]


def fit(asked: Sequence[AskedMemories], notes: Sequence[AskedMemories], mode: SearchMode) -> Model:
    """Return the model that tells own questions from foreign ones, and evidence from other hits of own ones.

    notes: of which every statement counts as evidence, so that they say nothing of the latter.
    """
    shared, each = FEATURES[mode]
    found = [one for one in (*asked, *notes) if len(one.is_evidence)]
    answered = np.array([bool(one.expected) for one in found], dtype=np.float64)
    whole = np.array([[column(one.evidence, name)[0] for name in shared] for one in found])
    own = [one for one in asked if one.expected and len(one.is_evidence)]
    rows = np.concatenate([np.stack([column(one.evidence, name) for name in each], axis=1) for one in own])
    fits = np.concatenate([one.is_evidence for one in own]).astype(np.float64)
    return Model(make_weights(shared, fit_logistic(whole, answered)), make_weights(each, fit_logistic(rows, fits)))


def column(evidence: Evidence, name: str) -> Floats:
    """Return what is known by a name, of each hit."""
    of_rows = evidence.coverage if evidence.nearness is None else evidence.nearness
    assert of_rows is not None
    value = np.log1p(evidence.rows) if name == "rows" else getattr(evidence, name)
    return np.broadcast_to(np.asarray(value, dtype=np.float64), of_rows.shape)


def make_weights(names: Sequence[str], fitted: Floats) -> Weights:
    """Return fitted numbers by their names, the constant first."""
    return Weights(**dict(zip(("constant", *names), fitted.round(3).tolist(), strict=True)))


def fit_logistic(columns: Matrix, wanted: Floats) -> Floats:
    """Return the constant and the weights of a logistic model, both classes counting alike (Newton's method)."""
    mean, deviation = columns.mean(axis=0), columns.std(axis=0) + 1e-9
    inputs = np.column_stack([np.ones(len(columns)), (columns - mean) / deviation])
    counts = np.where(wanted > 0, 0.5 / wanted.sum(), 0.5 / (1 - wanted).sum())
    weights, ridge = np.zeros(inputs.shape[1]), _RIDGE * np.eye(inputs.shape[1])
    ridge[0, 0] = 0
    for _ in range(50):
        guess = 1 / (1 + np.exp(-inputs @ weights))
        slope = inputs.T @ (counts * (wanted - guess)) - ridge @ weights
        curve = (inputs * (counts * guess * (1 - guess))[:, np.newaxis]).T @ inputs + ridge
        step = np.linalg.solve(curve, slope)
        weights = weights + step
        if np.abs(step).max() < 1e-9:
            break
    plain = weights[1:] / deviation
    return np.concatenate([[weights[0] - plain @ mean], plain])


@dataclass(frozen=True)
class CutQuality:
    """What a cut does. empty: share of foreign questions with no hit. kept: share of the evidence found without it.

    mean: hits of a question with one evidence.
    """

    cut: float
    empty: float
    kept: float
    mean: float


def measure(asked: Sequence[AskedMemories], cut: float, model: Model | None = None) -> CutQuality:
    """Return what a cut does to questions. model: instead of the one that searches use."""
    passing = []
    for one in asked:
        likely = relevance_of(one.evidence, model)
        passing.append(np.ones(len(one.is_evidence), dtype=np.bool_) if likely is None else likely >= cut)
    found = sum(int(one.is_evidence.sum()) for one in asked)
    kept = sum(int((one.is_evidence & passes).sum()) for one, passes in zip(asked, passing, strict=True))
    foreign = [not passes.any() for one, passes in zip(asked, passing, strict=True) if not one.expected]
    single = [int(passes.sum()) for one, passes in zip(asked, passing, strict=True) if one.expected == 1]
    mean = float(np.mean(single)) if single else 0.0
    return CutQuality(cut, float(np.mean(foreign)) if foreign else 0.0, kept / max(found, 1), mean)
