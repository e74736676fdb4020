"""What the benchmark measures of notes: making their index, and searching it by words and with vectors."""

import random
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path
from typing import Any

import apsw
import numpy as np
from django.conf import settings

from apps.core import file_roots
from apps.core.domain.scope import system_access
from apps.llm.services import embed_texts, get_embedder
from apps.notes.domain.places import folder_name
from apps.notes.index.disk import place_of
from apps.notes.index.handles import index_of
from apps.notes.index.vectors import add_vectors, begin_space
from apps.notes.selectors import index_status, notes_search
from apps.notes.services import index_rebuild, vectors_fill
from apps.retrieval.domain.text.languages import STOPWORDS
from benchmarks.api import Say
from benchmarks.texts import sentence

USER = "bench"
WARM_UP = 20


@dataclass
class NotesMeasurement:
    """One run over `notes` notes of `lines` lines, in a directory of its own."""

    notes: int
    lines: int
    calls: int
    has_vectors: bool
    has_few_words: bool
    has_random_vectors: bool
    say: Say

    def run(self) -> dict[str, Any]:
        """Return all figures."""
        with private_directories():
            texts = self.write_notes()
            queries = make_queries(texts, self.calls + WARM_UP)
            figures: dict[str, Any] = {"notes": self.notes, "lines": self.lines, "rebuild": self.rebuild()}
            with notes_search_by("keyword"):
                figures["words"] = self.search(queries)
            figures["bare_fts5"] = bare_queries(texts, queries)
            if self.has_vectors:
                figures["vectors"] = self.fill()
                figures["hybrid"] = self.search(queries)
                figures["embedder"] = milliseconds(lambda query: embed_texts([query]), queries)
            return figures

    def write_notes(self) -> list[str]:
        """Write the files; return their lines."""
        self.say(f"Writing {self.notes} notes of {self.lines} lines")
        folder = Path(settings.NOTES_DIR) / "users" / folder_name(USER)
        folder.mkdir(parents=True)
        chance = random.Random(31)  # noqa: S311
        texts = (few_words_lines if self.has_few_words else note_lines)(self.notes * self.lines)
        for number in range(self.notes):
            lines = texts[number * self.lines : (number + 1) * self.lines]
            marks = ("- ", "- ", "- ", "", "## ")
            marked = [f"{chance.choice(marks) if place else '# '}{line}" for place, line in enumerate(lines)]
            (folder / f"{number}.md").write_text("\n".join(marked) + "\n")
        return texts

    def rebuild(self) -> dict[str, float]:
        """Make the index again, without vectors."""
        self.say("Making the index")
        began, worked = time.perf_counter(), time.process_time()
        index_rebuild(USER)
        seconds, busy = time.perf_counter() - began, time.process_time() - worked
        chunks = index_status(system_access("bench"), USER).chunks
        return {
            "seconds": round(seconds, 2),
            "notes_per_second": round(self.notes / seconds, 1),
            "notes_per_processor_second": round(self.notes / busy, 1),
            "chunks": chunks,
            "bytes_per_note": round(
                sum(each.stat().st_size for each in Path(settings.NOTES_INDEX_DIR).iterdir()) / self.notes
            ),
        }

    def fill(self) -> dict[str, float]:
        """Make the vectors of all texts."""
        self.say("Making vectors")
        began, made = time.perf_counter(), 0
        fill = fill_random if self.has_random_vectors else vectors_fill
        while count := fill(USER, 1_000):
            made += count
        return {"made": made, "per_second": round(made / max(time.perf_counter() - began, 1e-9), 1)}

    def search(self, queries: list[str]) -> dict[str, Any]:
        """Search, and return the times."""
        access = system_access("bench")
        began = time.perf_counter()
        found = notes_search(access, USER, queries[0])
        first = round((time.perf_counter() - began) * 1_000, 1)
        self.say(f"Searching: {found.mode} {found.reason}")
        times = milliseconds(lambda query: notes_search(access, USER, query), queries)
        return {"mode": found.mode.value, "first_ms": first, **times}


def note_lines(count: int) -> list[str]:
    """Return lines of 6 to 18 words, as frequent as those of natural language (Zipf-Mandelbrot).

    The most frequent ones are the stop words of English; of the others the first is in one line of eighty.
    """
    chance = random.Random(30)  # noqa: S311
    syllables = [first + second for first in "bdfgklmnprstvz" for second in "aeiou"]
    words = list(dict.fromkeys("".join(chance.choices(syllables, k=chance.choice((2, 3, 4)))) for _ in range(60_000)))
    words = [*sorted(STOPWORDS), *words]
    weights = list(accumulate(1 / (place + 3.7) for place in range(len(words))))
    return [" ".join(chance.choices(words, cum_weights=weights, k=chance.randint(6, 18))) for _ in range(count)]


def few_words_lines(count: int) -> list[str]:
    """Return sentences of 230 words, of which each is in every twentieth line or so: the hardest case."""
    chance = random.Random(30)  # noqa: S311
    return [f"{sentence(chance)} {number}" for number in range(count)]


def make_queries(texts: list[str], count: int) -> list[str]:
    """Return questions of 2 to 6 words that occur together, at least one of which is no stop word."""
    chance = random.Random(32)  # noqa: S311
    queries: list[str] = []
    while len(queries) < count:
        words = chance.choice(texts).split()
        chosen = chance.sample(words, chance.randint(2, min(6, len(words))))
        if content_words(" ".join(chosen)):
            queries.append(" ".join(chosen))
    return queries


def content_words(query: str) -> list[str]:
    """Return the words of a question that are no stop words."""
    return [word for word in query.lower().replace(".", "").split() if word not in STOPWORDS]


def fill_random(user_id: str, most: int) -> int:
    """Add random vectors for texts that have none; return how many. Comparing them takes as long as any others."""
    database = index_of(place_of(user_id)).database
    space = get_embedder().space
    with database.connection() as connection:
        begin_space(connection, str(space))
        rows = connection.execute(
            "SELECT id FROM texts WHERE NOT EXISTS (SELECT 1 FROM vectors WHERE text_id = id) LIMIT ?", (most,)
        )
        texts = [text for (text,) in rows]
        made = np.random.default_rng(len(texts)).standard_normal((len(texts), space.dimension), np.float32)
        add_vectors(connection, str(space), texts, made)
    return len(texts)


def bare_queries(texts: list[str], queries: list[str]) -> dict[str, float]:
    """Return the times of bare FTS5 over the same lines, without stop words: the floor of a search by words."""
    connection = apsw.Connection(":memory:")
    connection.execute("CREATE VIRTUAL TABLE bare USING fts5 (text, tokenize = 'porter')")
    with connection:
        connection.executemany("INSERT INTO bare VALUES (?)", ((text,) for text in texts))

    def ask(query: str) -> object:
        words = " OR ".join(f'"{word}"' for word in content_words(query))
        return list(connection.execute("SELECT rowid FROM bare WHERE bare MATCH ? ORDER BY rank LIMIT 10", (words,)))

    return milliseconds(ask, queries)


def milliseconds(work: Callable[[str], object], queries: list[str]) -> dict[str, float]:
    """Return the times of calls in milliseconds, by the clock and of this thread, after some that do not count."""
    times, busy = [], []
    for query in queries:
        began, worked = time.perf_counter(), time.thread_time()
        work(query)
        times.append((time.perf_counter() - began) * 1_000)
        busy.append((time.thread_time() - worked) * 1_000)
    times = sorted(times[WARM_UP:])
    return {
        "p50_ms": round(statistics.median(times), 2),
        "p95_ms": round(times[int(len(times) * 0.95)], 2),
        "processor_p50_ms": round(statistics.median(busy[WARM_UP:]), 2),
    }


@contextmanager
def notes_search_by(kind: str) -> Iterator[None]:
    """Search notes by words only, or with vectors, while the block runs."""
    before = settings.MEMORYHUB
    settings.MEMORYHUB = replace(before, notes_search=kind)
    try:
        yield
    finally:
        settings.MEMORYHUB = before


@contextmanager
def private_directories() -> Iterator[None]:
    """Use directories of the benchmark's own while the block runs."""
    names = ("NOTES_DIR", "NOTES_INDEX_DIR", "NOTES_LOCKS_DIR")
    before = {name: getattr(settings, name) for name in names}
    place = Path(tempfile.mkdtemp(prefix="memoryhub-notes-"))
    try:
        for name in names:
            setattr(settings, name, place / name.lower())
        own = Path(settings.NOTES_DIR) / "users"
        own.mkdir(parents=True)
        file_roots.write_id(own, file_roots.store_id())
        yield
    finally:
        for name, path in before.items():
            setattr(settings, name, path)
        shutil.rmtree(place, ignore_errors=True)
