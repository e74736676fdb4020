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
from django.conf import settings

from apps.core.domain.scope import system_access
from apps.llm.services import embed_texts
from apps.notes.domain.names import folder_name
from apps.notes.selectors import index_status, notes_search
from apps.notes.services import index_rebuild, vectors_fill
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
    say: Say

    def run(self) -> dict[str, Any]:
        """Return all figures."""
        with private_directories():
            texts = self.write_notes()
            queries = self.make_queries(texts)
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
        texts = note_lines(self.notes * self.lines)
        for number in range(self.notes):
            lines = texts[number * self.lines : (number + 1) * self.lines]
            marks = ("- ", "- ", "- ", "", "## ")
            marked = [f"{chance.choice(marks) if place else '# '}{line}" for place, line in enumerate(lines)]
            (folder / f"{number}.md").write_text("\n".join(marked) + "\n")
        return texts

    def make_queries(self, texts: list[str]) -> list[str]:
        """Return questions of a few words that occur together."""
        chance = random.Random(32)  # noqa: S311
        chosen = (chance.choice(texts).split() for _ in range(self.calls + WARM_UP))
        return [" ".join(chance.sample(words, chance.randint(2, 5))) for words in chosen]

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
        while count := vectors_fill(USER, 1_000):
            made += count
        return {"made": made, "per_second": round(made / max(time.perf_counter() - began, 1e-9), 1)}

    def search(self, queries: list[str]) -> dict[str, Any]:
        """Search, and return the times."""
        access = system_access("bench")
        found = notes_search(access, USER, queries[0])
        self.say(f"Searching: {found.mode} {found.reason}")
        times = milliseconds(lambda query: notes_search(access, USER, query), queries)
        return {"mode": found.mode.value, **times}


def note_lines(count: int) -> list[str]:
    """Return lines of a sentence and four more words, of which some are in every tenth line and most in few (Zipf)."""
    chance = random.Random(30)  # noqa: S311
    syllables = [first + second for first in "bdfgklmnprstvz" for second in "aeiou"]
    words = list(dict.fromkeys("".join(chance.choices(syllables, k=3)) for _ in range(30_000)))
    weights = list(accumulate(1 / (place + 10) for place in range(len(words))))
    return [f"{sentence(chance)} {' '.join(chance.choices(words, cum_weights=weights, k=4))}" for _ in range(count)]


def bare_queries(texts: list[str], queries: list[str]) -> dict[str, float]:
    """Return the times of bare FTS5 over the same lines, as the floor of a search by words."""
    connection = apsw.Connection(":memory:")
    connection.execute("CREATE VIRTUAL TABLE bare USING fts5 (text, tokenize = 'porter')")
    with connection:
        connection.executemany("INSERT INTO bare VALUES (?)", ((text,) for text in texts))

    def ask(query: str) -> object:
        words = " OR ".join('"' + word.replace('"', "") + '"' for word in query.split())
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
        yield
    finally:
        for name, path in before.items():
            setattr(settings, name, path)
        shutil.rmtree(place, ignore_errors=True)
