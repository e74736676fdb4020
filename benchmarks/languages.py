"""Questions in many languages: how often memories that answer them are found.

Each file of `tests/fixtures/languages` has memories of one person in one language, and a question for each.
"""

import json
from dataclasses import dataclass
from pathlib import Path

from apps.core.domain.origin import WriteOrigin
from apps.core.domain.scope import Scope, system_access
from apps.retrieval.domain.query import SearchMode, SearchQuery
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.services import memory_save, memory_search

PLACE = Path(__file__).parent.parent / "tests" / "fixtures" / "languages"
FOUND_WITHIN = 10
ACCESS = system_access("bench", vouches=WriteOrigin.PERSON)


@dataclass(frozen=True, slots=True)
class Life:
    """What one author wrote in one language. name: such as "i1-ru". lines: with `memory` and `question`."""

    name: str
    lines: list[dict[str, str]]

    @property
    def language(self) -> str:
        """Return the code of the language."""
        return self.name.rpartition("-")[2]


def read_lives(*, is_sealed: bool) -> list[Life]:
    """Return the open lives, or those by authors whom nobody tunes with."""
    files = sorted((PLACE / ("sealed" if is_sealed else "open")).glob("*.jsonl"))
    return [Life(file.stem, list(map(json.loads, file.read_text(encoding="utf-8").splitlines()))) for file in files]


def save_life(life: Life) -> list[int]:
    """Save the memories of a life for a user of its own; return their rows."""
    scope = Scope(user_id=f"bench-{life.name}")
    drafts = [MemoryDraft(content=line["memory"], scope=scope) for line in life.lines]
    return [memory_save(access=ACCESS, draft=draft).memory.pk for draft in drafts]


def ranks(life: Life, rows: list[int], mode: SearchMode) -> list[int]:
    """Return, for each question, at which place of the first ten its memory is, from 1; 0 where it is not there."""
    found = []
    for line, row in zip(life.lines, rows, strict=True):
        query = SearchQuery(
            scope=Scope(user_id=f"bench-{life.name}"),
            query=line["question"],
            mode=mode,
            top_k=FOUND_WITHIN,
            history=False,
        )
        hits = [each.memory.pk for each in memory_search(ACCESS, query).found]
        found.append(hits.index(row) + 1 if row in hits else 0)
    return found
