"""BM25 of every text with any of the words of a question, by the postings that this process keeps in memory.

FTS5 holds the words. It ranks by going through every text that has one of them, each time; here the texts of a word are
read once, as arrays, and later questions add them up. The formula and its constants are those of `bm25` of FTS5, but
that of the rarity of a word (`rarity_of`).

The words of a text never change, and its number is never used again. So what was read stays true: later texts
are added, and those that were removed, which the index lists, are left out.
"""

import threading
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain

import apsw
import numpy as np
import numpy.typing as npt

from apps.notes.domain.search import K1, rarity_of
from apps.notes.index.database import HEADING_WEIGHT, get_fact
from apps.retrieval.domain.text.asked import AskedTerms
from apps.retrieval.domain.text.terms import terms

# The constant of BM25 by which longer texts count less, as FTS5 has it.
_B = 0.75
# So many places of words are kept for an index, at 8 bytes each.
MOST_KEPT = 1_000_000
# Texts that were added since the arrays were read; with more of them everything is read again.
MOST_RECENT = 2_000
Floats = npt.NDArray[np.float64]
Ids = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Posting:
    """The texts with a word, and how often each has it. One in a heading counts HEADING_WEIGHT."""

    texts: npt.NDArray[np.int32]
    counts: npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class WordScores:
    """The BM25 of texts. scores: by the number of the text; 0 for those without any of the words. best: the most."""

    scores: Floats
    best: float

    def top(self, limit: int) -> dict[int, float]:
        """Return the best texts, the newer ones first among equals, with their BM25."""
        found = np.flatnonzero(self.scores)
        if len(found) > limit:
            values = self.scores[found]
            bar = np.partition(values, len(values) - limit)[len(values) - limit]
            above, equal = found[values > bar], found[values == bar]
            found = np.concatenate((above, equal[len(equal) - (limit - len(above)) :]))
        return {int(text): float(self.scores[text]) for text in found}

    def of(self, text: int) -> float:
        """Return the BM25 of a text."""
        return float(self.scores[text]) if text < len(self.scores) else 0.0


class Postings:
    """What this process has read of the words of one index. Safe for threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._empty()

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._empty()

    def scores(self, connection: apsw.Connection, asked: AskedTerms) -> WordScores:
        """Return the BM25 of the texts of the index for terms with their weights.

        It reads within the transaction that the caller has begun.
        """
        with self._lock:
            newest = self._follow(connection)
            number = int(get_fact(connection, "texts") or 0)
            for_length = K1 * _B * number / max(self._total, 1)
            scores = np.zeros(len(self._lengths))
            rarities: list[float] = []
            for word, weight in chain(asked.words.items(), asked.parts.items()):
                posting = self._posting(connection, word, newest)
                lengths = self._lengths[posting.texts]
                is_there = lengths > 0
                # A word that no text has is as rare as one that a single text has.
                rarity = weight * rarity_of(number, max(int(is_there.sum()), 1))
                rarities.append(rarity)
                if word in asked.parts:
                    is_there &= scores[posting.texts] > 0
                texts, counts, lengths = posting.texts[is_there], posting.counts[is_there], lengths[is_there]
                shares = counts / (counts + lengths * for_length + K1 * (1 - _B))
                scores[texts] += rarity * (K1 + 1) * shares
            # BM25 cannot exceed this for words of such rarities: each in a text, and nothing else, again and again.
            return WordScores(scores, sum((1 + K1) * each for each in rarities))

    def _empty(self) -> None:
        self._made = ""
        # Texts up to `_base` are in `_kept` and what is read for it; later ones, up to `_newest`, in `_recent`.
        self._base = self._newest = self._removed = self._total = self._places = 0
        # By the number of the text, how many words it has; 0 for one that is not there.
        self._lengths: npt.NDArray[np.int32] = np.zeros(1, np.int32)
        self._kept: OrderedDict[str, Posting] = OrderedDict()
        self._recent: dict[str, list[tuple[int, float]]] = {}

    def _follow(self, connection: apsw.Connection) -> int:
        """Take in what has changed since the last question. Return the number of the newest text ever."""
        made = str(get_fact(connection, "made"))
        newest = last_number(connection, "texts")
        if made != self._made or newest - self._base > MOST_RECENT:
            self._empty()
            self._made, self._base, self._newest = made, newest, newest
            self._removed = last_number(connection, "removed")
            rows = numbers(connection.execute("SELECT text_id, terms FROM lengths")).reshape(-1, 2)
            self._lengths = np.zeros(newest + 1, np.int32)
            self._lengths[rows[:, 0]] = rows[:, 1]
            self._total = int(self._lengths.sum())
        elif newest > self._newest:
            self._add_recent(connection, newest)
        last = last_number(connection, "removed")
        if last > self._removed:
            gone = numbers(connection.execute("SELECT text_id FROM removed WHERE id > ?", (self._removed,)))
            gone = gone[gone < len(self._lengths)]
            self._lengths[gone] = 0
            self._total, self._removed = int(self._lengths.sum()), last
        return newest

    def _add_recent(self, connection: apsw.Connection, newest: int) -> None:
        lengths = np.zeros(newest + 1, np.int32)
        lengths[: len(self._lengths)] = self._lengths
        rows = connection.execute("SELECT id, text, heading FROM texts WHERE id > ?", (self._newest,))
        for text_id, text, heading in rows:
            inside, above = terms(text), terms(heading)
            lengths[text_id] = len(inside) + len(above)
            weighted = dict.fromkeys((*inside, *above), 0.0)
            for word in inside:
                weighted[word] += 1.0
            for word in above:
                weighted[word] += HEADING_WEIGHT
            for word, count in weighted.items():
                self._recent.setdefault(word, []).append((text_id, count))
        self._lengths, self._newest, self._total = lengths, newest, int(lengths.sum())

    def _posting(self, connection: apsw.Connection, word: str, newest: int) -> Posting:
        posting = self._kept.get(word)
        if posting is None:
            posting = read_posting(connection, word, self._base)
            # Another thread may have followed a later state of the index than this transaction sees.
            if newest >= self._base:
                self._kept[word] = posting
                # A word that no text has takes room as well.
                self._places += len(posting.texts) + 16
                while self._places > MOST_KEPT:
                    self._places -= len(self._kept.popitem(last=False)[1].texts) + 16
        else:
            self._kept.move_to_end(word)
        recent = self._recent.get(word)
        if recent is None:
            return posting
        texts = np.array([text for text, _ in recent], np.int32)
        counts = np.array([count for _, count in recent], np.float32)
        return Posting(np.concatenate((posting.texts, texts)), np.concatenate((posting.counts, counts)))


def read_posting(connection: apsw.Connection, word: str, base: int) -> Posting:
    """Return the texts with a word among those up to a number, as FTS5 has them."""
    rows = connection.execute("SELECT doc * 2 + (col = 'heading') FROM places WHERE term = ?", (word,))
    places = numbers(rows)
    places = places[places < (base + 1) * 2]
    texts, where = np.unique(places >> 1, return_inverse=True)
    counts = np.bincount(where, np.where(places & 1, HEADING_WEIGHT, 1.0), len(texts))
    return Posting(texts.astype(np.int32), counts.astype(np.float32))


def numbers(rows: Iterable[Iterable[int]]) -> Ids:
    """Return the numbers of rows, one after the other, as an array."""
    return np.fromiter(chain.from_iterable(rows), np.int64)


def last_number(connection: apsw.Connection, table: str) -> int:
    """Return the highest number that a row of a table has ever had."""
    return int(connection.execute("SELECT seq FROM sqlite_sequence WHERE name = ?", (table,)).get or 0)
