"""Chinese questions of our own writing: how often memories and notes that answer them are found, by mode and by script.

Each life of `tests/fixtures/chinese` is a user. What is asked in the other script stands for a person who types in it.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from django.conf import settings

from apps.core.domain.origin import WriteOrigin
from apps.core.domain.scope import Scope, system_access
from apps.notes.domain.places import folder_name
from apps.notes.selectors import notes_search
from apps.notes.services import vectors_fill
from apps.retrieval.domain.query import SearchMode, SearchQuery
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.services import memory_save, memory_search
from benchmarks.notes import notes_search_by, private_directories
from benchmarks.questions import shares

PLACE = Path(__file__).parent.parent / "tests" / "fixtures" / "chinese"
SCRIPTS = ("traditional", "simplified")
NOTE_MODES = ("hybrid", "keyword")
FOUND_WITHIN = 10
ACCESS = system_access("bench", vouches=WriteOrigin.PERSON)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question that was asked. rank: of the text that answers it, from 1; 0 where the first ten do not have it.

    is_other: asked in the other script. has_other: it was asked in both.
    """

    question: str
    script: str
    style: str
    is_other: bool
    has_other: bool
    rank: int
    first: str


@dataclass(frozen=True, slots=True)
class ChineseSet:
    """Memories in the order in which they were said, and questions."""

    memories: Sequence[dict[str, str]]
    questions: Sequence[dict[str, str]]

    def asked(self, script: str) -> Iterator[tuple[str, bool, dict[str, str]]]:
        """Yield each question to a life as it is typed, whether that is the other script, and its line."""
        for line in self.questions:
            if line["script"] == script:
                yield line["text"], False, line
                if "other" in line:
                    yield line["other"], True, line


def read_set(*, is_sealed: bool) -> ChineseSet:
    """Return the open part of the set; with `is_sealed` all memories, and the sealed questions."""
    memories = read_lines("memories") + (read_lines("sealed_memories") if is_sealed else [])
    questions = read_lines("sealed_questions" if is_sealed else "questions")
    return ChineseSet(sorted(memories, key=lambda line: line["id"]), questions)


def read_lines(name: str) -> list[dict[str, str]]:
    """Return the lines of a file of the set."""
    text = (PLACE / f"{name}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def save_memories(chosen: ChineseSet, prefix: str) -> dict[int, str]:
    """Save the memories, each life for a user of its own; return their ids in the set by their rows."""
    saved: dict[int, str] = {}
    for line in chosen.memories:
        draft = MemoryDraft(
            content=line["text"], scope=Scope(user_id=prefix + line["script"]), session_id=line.get("session", "")
        )
        saved[memory_save(access=ACCESS, draft=draft).memory.pk] = line["id"]
    return saved


def ask_memories(chosen: ChineseSet, saved: dict[int, str], prefix: str, mode: SearchMode) -> Iterator[Asked]:
    """Ask every question in one mode."""
    for script in SCRIPTS:
        for question, is_other, line in chosen.asked(script):
            query = SearchQuery(
                scope=Scope(user_id=prefix + script), query=question, mode=mode, top_k=FOUND_WITHIN, history=False
            )
            found = [each.memory for each in memory_search(ACCESS, query).found]
            ids = [saved[memory.pk] for memory in found]
            yield answer(question, is_other, line, ids, found[0].content if found else "")


def answer(question: str, is_other: bool, line: dict[str, str], ids: list[str], first: str) -> Asked:
    """Return what became of a question. ids: of what was found, the best first."""
    rank = ids.index(line["memory"]) + 1 if line["memory"] in ids else 0
    return Asked(question, line["script"], line["style"], is_other, "other" in line, rank, first)


def write_notes(chosen: ChineseSet, prefix: str) -> None:
    """Write the memories as notes: facts as lists under their topics, each session and each note as a file."""
    for script in SCRIPTS:
        folder = Path(settings.NOTES_DIR) / "users" / folder_name(prefix + script)
        folder.mkdir(parents=True)
        lines = [line for line in chosen.memories if line["script"] == script]
        facts = [line for line in lines if line["kind"] == "fact"]
        parts = [
            f"## {topic}\n\n" + "".join(f"- {line['text']}\n" for line in under)
            for topic, under in groupby(facts, key=lambda line: line["topic"])
        ]
        (folder / "MEMORY.md").write_text("\n".join(parts), encoding="utf-8")
        for line in lines:
            if line["kind"] != "fact":
                with (folder / f"{line.get('session', line['id'])}.md").open("a", encoding="utf-8") as file:
                    file.write(line["text"] + "\n\n")


def ask_notes(chosen: ChineseSet, prefix: str) -> Iterator[Asked]:
    """Ask every question of the notes, as the settings say."""
    texts = {line["id"]: line["text"] for line in chosen.memories}
    for script in SCRIPTS:
        for question, is_other, line in chosen.asked(script):
            hits = notes_search(ACCESS, prefix + script, question, limit=FOUND_WITHIN).hits
            ids = [line["memory"] if texts[line["memory"]] in hit.text else "" for hit in hits]
            yield answer(question, is_other, line, ids, hits[0].text if hits else "")


def measure(chosen: ChineseSet, prefix: str) -> dict[str, list[Asked]]:
    """Return what became of the questions by what was searched and how."""
    saved = save_memories(chosen, prefix)
    asked = {f"memories, {mode.value}": list(ask_memories(chosen, saved, prefix, mode)) for mode in SearchMode}
    with private_directories():
        write_notes(chosen, prefix)
        for script in SCRIPTS:
            notes_search(ACCESS, prefix + script, "first look")
            while vectors_fill(prefix + script, 1_000):
                pass
        for mode in NOTE_MODES:
            with notes_search_by(mode):
                asked[f"notes, {mode}"] = list(ask_notes(chosen, prefix))
    return asked


def figures(asked: Sequence[Asked]) -> dict[str, dict[str, float]]:
    """Return figures of all questions as they were written, and of parts of them.

    "both scripts": of those that were asked in both, the same script and the other one.
    """
    own = [each for each in asked if not each.is_other]
    parts = {
        "all": own,
        "traditional": [each for each in own if each.script == "traditional"],
        "simplified": [each for each in own if each.script == "simplified"],
        "words": [each for each in own if each.style == "words"],
        "paraphrase": [each for each in own if each.style == "paraphrase"],
        "both scripts, same": [each for each in own if each.has_other],
        "both scripts, other": [each for each in asked if each.is_other],
    }
    return {name: shares([each.rank for each in part]) for name, part in parts.items()}


def as_json(asked: dict[str, list[Asked]], *, with_misses: bool) -> dict[str, Any]:
    """Return the figures of each search, and the questions whose text is not among the first ten."""
    result: dict[str, Any] = {name: figures(each) for name, each in asked.items()}
    if with_misses:
        result["misses"] = {
            name: [f"{one.question} -> {one.first[:40]}" for one in each if not one.rank]
            for name, each in asked.items()
        }
    return result
