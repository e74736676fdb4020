"""Which hits of a search speak of one matter, so that the newer one comes first (docs/explain/retrieval.md).

The evidence is what the index holds: vectors, words, times and sessions. A text that was written to be stored says one
thing in a few words; a turn of a conversation is near many others without replacing them, so there and for long texts
more is asked for.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import regex

from apps.retrieval.domain.postings import Bools, Floats, Slots
from apps.retrieval.domain.query import Hit, Pair, Precedence, SearchQuery
from apps.retrieval.domain.rows import RowStore
from apps.retrieval.domain.substance import question_share
from apps.retrieval.domain.text.asked import MAX_TERMS
from apps.retrieval.domain.text.relations import RELATIONS
from apps.retrieval.domain.text.terms import query_terms, term_hash, tokenize
from apps.retrieval.domain.word_lists import Words

# Only so many of the best hits are compared with each other.
WINDOW = 20
# What the cosine of two texts and the share of the older one's words that the newer one repeats must reach together.
NEAR = 0.85
NEAR_IN_CONVERSATION = 1.4
# ... and for each word of the older text beyond so many.
SHORT_WORDS = 6
NEAR_PER_WORD = 0.05
MIN_REPEATED = 0.3
# A session of more memories than this is a conversation, word for word, and not notes taken of one.
MAX_NOTES = 5
# The least share of the older one's score, and, where a word of the question is missing, of its cosine with it. Cosines
# are on the scale of `vectors.scale`.
MIN_SCORE = 0.3
MIN_SIMILARITY = 0.75
MAX_QUESTION = 0.5
# Where texts are compared by their characters and pairs of them: how many make a word, and the most that a cosine
# counts, since an embedder that does not know a script finds all of its texts alike.
TERMS_PER_WORD = 3
UNSPACED_COSINE = 0.5
_LEAST = 1e-6
_LOW_HALF = 0xFFFFFFFF
_UNSPACED = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]")
_CLOSED = "?.,!;:'\"“”‘’„¿¡()[]…"


@dataclass(frozen=True)
class Asked:
    """What a query asks for, by the hashes of its terms. names: names and numbers. things: neither those nor verbs."""

    names: frozenset[int]
    things: frozenset[int]


@dataclass(frozen=True, eq=False)
class Candidates:
    """The best rows that a search found in one store, best first; each array by their places.

    similarities: with the question, on the scale. words: of all of them, one after the other, and in owners whose they
    are. sizes: of their sessions.
    """

    store: RowStore
    slots: Slots
    ids: npt.NDArray[np.int64]
    scores: Floats
    similarities: Floats | None
    words: Words
    owners: Slots
    sizes: npt.NDArray[np.int64]


class Matters(NamedTuple):
    """pairs: of rows that speak of one matter. notes: the ids of the rows that are no turns of a conversation."""

    pairs: tuple[Pair, ...]
    notes: frozenset[int]


class PlacePairs(NamedTuple):
    """Pairs of candidates, by their places."""

    older: Slots
    newer: Slots

    def where(self, holds: Bools) -> "PlacePairs":
        """Return those for which something holds. Of shape (pairs,)."""
        return PlacePairs(self.older[holds], self.newer[holds])


NO_MATTERS = Matters((), frozenset())


def find_matters(
    query: SearchQuery, stores: Sequence[RowStore], slots: Slots, scores: Floats, similarities: Floats | None
) -> Matters:
    """Return which of the best rows of a search speak of one matter; none where the query does not ask for it.

    slots: of all stores, counted one store after the other, best first.
    """
    if not query.current_first or len(slots) < 2:
        return NO_MATTERS
    starts = np.cumsum([0, *(store.size for store in stores)])
    pairs: list[Pair] = []
    notes: set[int] = set()
    for store, start in zip(stores, starts, strict=False):
        places = np.flatnonzero((slots >= start) & (slots < start + store.size))
        if len(places) > 1:
            similar = None if similarities is None else store.scale.questions.place_all(similarities[places])
            mine = slots[places] - start
            words, owners = store.word_lists.of(mine)
            sizes = store.sessions.sizes(mine)
            rows = Candidates(store, mine, store.ids[mine], scores[places], similar, words, owners, sizes)
            ids, text = rows.ids.tolist(), query.query or ""
            near = near_pairs(rows, comparable_pairs(rows), bool(_UNSPACED.search(text)))
            if len(near.older):
                found = pairs_that_answer(read_query(text), rows, near)
                pairs += [Pair(ids[newer], ids[older]) for older, newer in found]
            notes.update(rows.ids[rows.sizes <= MAX_NOTES].tolist())
    return Matters(tuple(pairs), frozenset(notes))


def comparable_pairs(rows: Candidates) -> PlacePairs:
    """Return the rows of one scope of which the newer one is no question, and scores well enough.

    Which of two managed rows holds is what their manager says, not their age; other rows do not speak for them.
    """
    store, slots, scores = rows.store, rows.slots, np.maximum(rows.scores, 0)
    later = np.lexsort((rows.ids, store.happened[slots])).argsort()
    holds = (later[:, np.newaxis] < later) & (scores >= MIN_SCORE * scores[:, np.newaxis])
    holds &= store.question_share[slots] <= MAX_QUESTION
    for name in ("household_id", "persona_id"):
        if len(store.values(name)) > 1:
            codes = store.codes(name)[slots]
            holds &= codes[:, np.newaxis] == codes
    if "is_managed" in store.columns:
        is_managed = store.codes("is_managed")[slots] == store.code("is_managed", "true")
        holds &= ~(is_managed[:, np.newaxis] | is_managed)
    return PlacePairs(*np.nonzero(holds))


def near_pairs(rows: Candidates, pairs: PlacePairs, is_unspaced: bool) -> PlacePairs:
    """Return the pairs of which the newer row repeats words of the older one and is near by meaning."""
    shared, counts = shared_words(rows)
    repeated = shared[pairs] / np.maximum(counts[pairs.older], 1)
    enough = repeated >= MIN_REPEATED
    pairs, repeated = pairs.where(enough), repeated[enough]
    if not len(pairs.older):
        return pairs
    vectors, slots = rows.store.vectors, rows.slots
    # Not as one product: that would be shared out among all processors (`vectors.cosines`).
    cosines = np.vecdot(vectors[slots[pairs.older]], vectors[slots[pairs.newer]])
    cosines = rows.store.scale.statements.place_all(cosines)
    if is_unspaced:
        counts, cosines = counts / TERMS_PER_WORD, np.minimum(cosines, UNSPACED_COSINE)
    in_conversation = rows.sizes > MAX_NOTES
    wanted = np.where(in_conversation[pairs.older] | in_conversation[pairs.newer], NEAR_IN_CONVERSATION, NEAR)
    wanted += NEAR_PER_WORD * np.maximum(counts - SHORT_WORDS, 0)[pairs.older]
    return pairs.where(cosines + repeated >= wanted - _LEAST)


def shared_words(rows: Candidates) -> tuple[Floats, Floats]:
    """Return how many words each two of the rows have in common, and how many each has."""
    order = np.argsort(rows.words)
    found = rows.words[order]
    columns = np.concatenate(([0], np.cumsum(found[1:] != found[:-1])))
    # Whole numbers of 64 bits, one bit for each word.
    has = np.zeros((len(rows.ids), (int(columns[-1]) // 64 + 1) * 64), dtype=np.bool_)
    has[rows.owners[order], columns] = True
    packed = np.packbits(has, axis=1).view(np.uint64)
    shared = np.bitwise_count(packed[:, np.newaxis] & packed).sum(axis=2, dtype=np.float64)
    return shared, shared.diagonal()


def pairs_that_answer(asked: Asked, rows: Candidates, pairs: PlacePairs) -> list[tuple[int, int]]:
    """Return the pairs of which the newer row answers the query as well, though perhaps in other words.

    It has every name and number of the query that the older one has. It has the other words as well, but for verbs, or
    it is about as near to the query. An older one without any word of the query has none that could be repeated, so
    there only nearness counts.
    """
    wanted = asked.names | asked.things
    has: list[set[int]] = [set() for _ in rows.ids]
    for word, owner in zip(rows.words.tolist(), rows.owners.tolist(), strict=True):
        if word in wanted:
            has[owner].add(word)
    near = [0.0] * len(has) if rows.similarities is None else rows.similarities.clip(0).tolist()
    return [
        (older, newer)
        for older, newer in zip(pairs.older.tolist(), pairs.newer.tolist(), strict=True)
        if (not (lost := has[older] - has[newer]) and (has[older] or not wanted))
        or (rows.similarities is not None and near[newer] >= MIN_SIMILARITY * near[older] and not lost & asked.names)
    ]


def read_query(text: str) -> Asked:
    """Return what a query asks for; of an empty one nothing."""
    terms, names = query_terms(text)[:MAX_TERMS], names_in(text)
    hashes = {term: term_hash(term) & _LOW_HALF for term in terms if term in names or term not in RELATIONS}
    return Asked(
        names=frozenset(word for term, word in hashes.items() if term in names),
        things=frozenset(word for term, word in hashes.items() if term not in names),
    )


def names_in(text: str) -> frozenset[str]:
    """Return the terms of numbers, and of words with a capital letter inside a sentence."""
    written = [word.strip(_CLOSED) for word in text.split()]
    says_case = any(word[:1].islower() for word in written)
    named = [
        word
        for place, word in enumerate(written)
        if any(map(str.isdigit, word))
        or (says_case and place and word[:1].isupper() and word[:2] not in ("I", "I'", "I’"))
    ]
    return frozenset(word.term for token in tokenize(" ".join(named)) for word in token.words) if named else frozenset()


def is_statement(text: str) -> bool:
    """Return whether a text is no question, for the most part, so that it can be newer than another one."""
    return question_share(text) <= MAX_QUESTION


def put_newer_first(hits: Sequence[Hit], pairs: Sequence[Pair]) -> tuple[Hit, ...]:
    """Return the hits, in which each newer one of a pair comes before the older one.

    It moves up to just before the best placed one that it is newer than, and what is newer than itself moves with it.
    The others stay in their order. Where the query names a time, a newer one that is farther from it than the older
    one stays as well: who asks for last year is not asking for today.
    """
    places = {hit.id: place for place, hit in enumerate(hits)}
    near = {hit.id: hit.time.closeness if hit.time else 0.0 for hit in hits}
    known = [pair for pair in pairs if pair.newer in places and near.get(pair.older, 2.0) <= near[pair.newer]]
    if not known:
        return tuple(hits)
    anchors = list(range(len(hits)))
    has_moved = True
    while has_moved:
        has_moved = False
        for newer, older, _ in known:
            if anchors[places[older]] < anchors[places[newer]]:
                anchors[places[newer]], has_moved = anchors[places[older]], True
    reasons = {pair.newer: pair for pair in sorted(known, key=lambda one: -anchors[places[one.older]])}
    order = sorted(range(len(hits)), key=lambda place: (anchors[place], -hits[place].happened, -hits[place].id))
    moved = []
    for place in order:
        hit = hits[place]
        if anchors[place] != place:
            pair = reasons[hit.id]
            hit = hit._replace(precedence=Precedence(pair.older, pair.by, place + 1))  # its own place, from 1
        moved.append(hit)
    return tuple(moved)
