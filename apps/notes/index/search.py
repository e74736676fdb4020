"""Searching an index: the best texts by words and vectors, and where they are in the files as these are now."""

from collections.abc import Mapping
from dataclasses import dataclass

import apsw

from apps.core.domain.errors import UnavailableError
from apps.llm.domain.embedder import EmbeddingError, TextRole
from apps.llm.services import can_read, current_scale
from apps.notes.domain.search import (
    NoteHit,
    NoteSearch,
    NoteSearchMode,
    bm25_score,
    hybrid_score,
    vector_score,
)
from apps.notes.index.database import IndexDamagedError
from apps.notes.index.disk import Stamp, stamp_now
from apps.notes.index.handles import TRIES, NoteIndex
from apps.notes.index.vectors import (
    Vector,
    cosines,
    embed,
    fill_vectors,
    vectors_made,
    vectors_missing,
    vectors_problem,
)
from apps.retrieval.domain.text.asked import AskedTerms, asked_terms

# Below it a vector is no reason to show a text, on the scale of thresholds (`retrieval.domain.vectors.scale`). 11
# questions and texts that had nothing to do with each other stayed below 0.22, and 9 of 12 texts that answered a
# question in other words reached 0.25.
LEAST_VECTOR = 0.25

# So many texts by vectors, and as many by words, are put into one order; at least MIN_CANDIDATES.
CANDIDATES_PER_HIT, MIN_CANDIDATES = 4, 50
# A search makes the vectors of so many texts that have none; the watching process makes the rest.
FILLED_BY_SEARCH = 16
NO_VECTORS = "no vectors have been made yet"
UNREADABLE = "the embedder does not know the words of the question"


@dataclass(frozen=True, slots=True)
class Scores:
    """The scores of a text. vector: None where it has no vector, or vectors are not used."""

    score: float
    vector: float | None
    bm25: float


@dataclass(frozen=True, slots=True)
class Located:
    """A hit, and the stamp with which its file is in the index."""

    hit: NoteHit
    stamp: Stamp


@dataclass(frozen=True)
class Question:
    """What is searched for. vector: None where only words are compared, for a `reason`."""

    terms: AskedTerms
    vector: Vector | None
    reason: str
    limit: int

    @property
    def candidates(self) -> int:
        """Return how many texts of each kind are compared."""
        return max(CANDIDATES_PER_HIT * self.limit, MIN_CANDIDATES)


def search(index: NoteIndex, query: str, limit: int) -> NoteSearch:
    """Return the best hits of an index that is up to date. Raises UnavailableError."""
    question: Question | None = None
    for attempt in range(TRIES):
        try:
            if not index.refresh():
                return NoteSearch((), NoteSearchMode.KEYWORD)
            question = question or ask(index, query, limit)
            with index.current() as connection:
                if connection is None:
                    return NoteSearch((), NoteSearchMode.KEYWORD)
                found, answer = search_once(index, connection, question)
            stamps = {each.hit.path: each.stamp for each in found}
            stale = {path for path, stamp in stamps.items() if stamp_now(index.place.folder, path) != stamp}
            if stale and attempt < TRIES - 1:
                # They have changed since the kernel was asked, or without its notice.
                index.take_in(stale)
                continue
        except IndexDamagedError:
            continue
        hits = tuple(each.hit for each in found if each.hit.path not in stale)
        return NoteSearch(hits, answer.mode, answer.reason, answer.vectors_missing)
    raise UnavailableError("The index of the notes keeps getting damaged.", retry_after=60)


def ask(index: NoteIndex, query: str, limit: int) -> Question:
    """Return the question to an index, with its vector where vectors are used, and make some that are missing."""
    asked, reason, vector = asked_terms(query), vectors_problem(), None
    if not reason:
        try:
            if can_read(query):
                fill_vectors(index.database, FILLED_BY_SEARCH)
                vector = embed([query], TextRole.QUERY)[0]
            else:
                reason = UNREADABLE
        except EmbeddingError:
            reason = vectors_problem()
    return Question(asked, vector, reason, limit)


def search_once(index: NoteIndex, connection: apsw.Connection, question: Question) -> tuple[list[Located], NoteSearch]:
    """Return the best hits of one state of the index."""
    connection.execute("BEGIN")
    try:
        if question.vector is None:
            by_words = index.postings.scores(connection, question.terms)
            best = {text: bm25_score(bm25, by_words.best) for text, bm25 in by_words.top(question.limit).items()}
            scores = {text: Scores(score, None, score) for text, score in best.items()}
            return locate(connection, scores, question.limit), NoteSearch((), NoteSearchMode.KEYWORD, question.reason)
        missing = vectors_missing(connection)
        scores = search_both(index, connection, question, question.vector)
        has_vectors = vectors_made(connection) > 0
        mode = NoteSearchMode.HYBRID if has_vectors else NoteSearchMode.KEYWORD
        reason = "" if has_vectors else NO_VECTORS
        return locate(connection, scores, question.limit), NoteSearch((), mode, reason, missing)
    finally:
        connection.execute("COMMIT")


def search_both(index: NoteIndex, connection: apsw.Connection, question: Question, vector: Vector) -> dict[int, Scores]:
    """Return the scores of the best texts by vectors and words together (spec 001, hybrid search).

    What has nothing to do with the question is left out here, before the best are chosen.
    """
    near = index.signs.nearest(connection, vector, question.candidates) if vectors_made(connection) else {}
    found = index.postings.scores(connection, question.terms)
    words = found.top(question.candidates).keys()
    near |= cosines(connection, vector, words - near.keys()) if near else {}
    least = current_scale().questions.cosine(LEAST_VECTOR)
    scores: dict[int, Scores] = {}
    for text in near.keys() | words:
        by_vector = vector_score(near[text]) if text in near else None
        if found.of(text) or (by_vector is not None and by_vector >= least):
            by_words = bm25_score(found.of(text), found.best)
            scores[text] = Scores(hybrid_score(by_vector, by_words), by_vector, by_words)
    return scores


def locate(connection: apsw.Connection, scores: Mapping[int, Scores], limit: int) -> list[Located]:
    """Return where the best texts are: newer ones first among equals, and one that occurs often in its last files."""
    found: list[Located] = []
    for text_id, each in sorted(scores.items(), key=lambda item: (item[1].score, item[0]), reverse=True):
        if len(found) >= limit:
            break
        rows = connection.execute(
            "SELECT path, first_line, last_line, heading, text, size, mtime_ns, ctime_ns, inode FROM chunks "
            "JOIN files ON files.id = file_id JOIN texts ON texts.id = text_id WHERE text_id = ? "
            "ORDER BY path DESC, first_line LIMIT ?",
            (text_id, limit - len(found)),
        )
        for path, first, last, heading, text, *stamp in rows:
            hit = NoteHit(path, first, last, heading, text, each.score, each.vector, each.bm25)
            found.append(Located(hit, Stamp(*stamp)))
    return found
