"""Searching an index: the best texts by words and vectors, and where they are in the files as these are now."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import apsw

from apps.core.domain.errors import UnavailableError
from apps.notes.domain.search import (
    NoteHit,
    NoteSearch,
    NoteSearchMode,
    best_bm25,
    bm25_score,
)
from apps.notes.files.folder import Folder
from apps.notes.index.database import IndexDamagedError, get_fact
from apps.notes.index.disk import Stamp, stamp_now
from apps.notes.index.handles import NoteIndex
from apps.retrieval.domain.text.terms import query_terms

# Of a longer question only the first words are searched for.
MAX_TERMS = 64
# A file that changes during a search is taken in again; after so many times its hits are left out.
_TRIES = 4


@dataclass(frozen=True, slots=True)
class Scores:
    """The scores of a text. bm25: None where no words are compared."""

    score: float
    vector: float | None
    bm25: float | None


@dataclass(frozen=True, slots=True)
class Located:
    """A hit, and the stamp with which its file is in the index."""

    hit: NoteHit
    stamp: Stamp


def search(index: NoteIndex, query: str, limit: int) -> NoteSearch:
    """Return the best hits of an index that is up to date. Raises UnavailableError."""
    for attempt in range(_TRIES):
        try:
            with index.current() as connection:
                if connection is None:
                    return NoteSearch((), NoteSearchMode.KEYWORD)
                found, answer = search_once(connection, query, limit)
        except IndexDamagedError:
            continue
        stale = stale_paths(index.place.folder, found)
        if stale and attempt < _TRIES - 1:
            try_take_in(index, stale)
            continue
        hits = tuple(each.hit for each in found if each.hit.path not in stale)
        return NoteSearch(hits, answer.mode, answer.reason, answer.vectors_missing)
    raise UnavailableError("The index of the notes is damaged again and again.", retry_after=60)


def try_take_in(index: NoteIndex, paths: set[str]) -> None:
    """Take in files that have changed since the kernel was asked, or without its notice."""
    try:
        index.take_in(paths)
    except IndexDamagedError:
        return


def search_once(connection: apsw.Connection, query: str, limit: int) -> tuple[list[Located], NoteSearch]:
    """Return the best hits of one state of the index."""
    connection.execute("BEGIN")
    try:
        words = search_words(connection, query, limit)
        scores = {text: Scores(score, None, score) for text, score in words.items()}
        return locate(connection, scores, limit), NoteSearch((), NoteSearchMode.KEYWORD)
    finally:
        connection.execute("COMMIT")


def search_words(connection: apsw.Connection, query: str, limit: int) -> dict[int, float]:
    """Return the BM25 scores of the best texts, by their ids."""
    words = query_terms(query)[:MAX_TERMS]
    if not words:
        return {}
    best = best_bm25(get_fact(connection, "texts") or 0, frequencies(connection, words))
    found = connection.execute(
        "SELECT rowid, rank FROM words WHERE words MATCH ? ORDER BY rank LIMIT ?", (any_of(words), limit)
    )
    return {text: bm25_score(-rank, best) for text, rank in found}


def any_of(words: Iterable[str]) -> str:
    """Return the FTS5 query for texts with any of these words; each is quoted, so none of them is an operator."""
    quoted = (word.replace('"', '""') for word in words)
    return " OR ".join(f'"{word}"' for word in quoted)


def frequencies(connection: apsw.Connection, words: Iterable[str]) -> list[int]:
    """Return how many texts have each word."""
    wanted = ((word,) for word in words)
    sql = "SELECT ifnull((SELECT doc FROM frequencies WHERE term = ?), 0)"
    return [count for (count,) in connection.executemany(sql, wanted)]


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


def stale_paths(folder: Folder, found: Iterable[Located]) -> set[str]:
    """Return the files among the hits that are not as the index has them."""
    stamps = {each.hit.path: each.stamp for each in found}
    return {path for path, stamp in stamps.items() if stamp_now(folder, path) != stamp}
