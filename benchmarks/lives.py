"""Saving all that is known of a life, one statement after the other: all of it holds, so all of it should stay."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.conflicts import Progress, RuleFor, embed_all
from benchmarks.labelled_pairs import LabelledFileError
from benchmarks.stories import Story, StoryLabel
from benchmarks.story_decisions import save_all
from training.lives import Life, read_lives
from training.pairs import HOLDS, REPLACES, SAME


@dataclass(frozen=True)
class LifeResult:
    """What became of the statements of a life that hold at once, each a number of them.

    lost: replaced by another one. joined: in one memory with another one. noticed: put beside another one, for a person
    to decide.
    """

    lang: str
    statements: int
    lost: int
    joined: int
    noticed: int


def has_lives(text: str) -> bool:
    """Check whether a text has lives: it begins with the header of one."""
    return text.lstrip().startswith("# ")


def load_lives(path: Path) -> list[Life]:
    """Return the lives of a file. Raises LabelledFileError."""
    try:
        lives = read_lives([path])
    except ValueError:
        lives = []
    if not lives or not all(life.holding for life in lives):
        raise LabelledFileError(
            "Expected lives: `# id language`, then what holds, a line that begins with `=` for each."
        )
    if not all(0 <= place < len(life.holding) for life in lives for _, place, _ in life.later):
        raise LabelledFileError("A line that begins with `>`, `~` or `+` names a line with `=` that is not there.")
    return lives


def decide_lives(lives: Sequence[Life], rule_for: RuleFor, advance: Progress) -> list[LifeResult]:
    """Decide what happens when the statements of each life are saved one day apart. Raises EmbeddingError."""
    vectors = embed_all(list(dict.fromkeys(text for life in lives for text in life.holding)))
    results = []
    for life in lives:
        memories = save_all(life.holding, vectors, rule_for)
        kept = [memory.holds for memory in memories.active.values()]
        results.append(
            LifeResult(
                lang=life.lang,
                statements=len(life.holding),
                lost=len(life.holding) - len(set().union(*kept)),
                joined=sum(len(holds) for holds in kept if len(holds) > 1),
                noticed=len({one.id for one, _, detection in memories.conflicts if not detection.is_decisive}),
            )
        )
        advance(1)
    return results


def later_stories(lives: Iterable[Life]) -> list[Story]:
    """Return what each later statement of a life does to the one that it is about, as a story of these two."""
    labels = {REPLACES: StoryLabel.UPDATE, SAME: StoryLabel.SAME, HOLDS: StoryLabel.COEXIST}
    return [
        Story(
            id=f"{life.author} {of}.{number}",
            label=labels[answer],
            statements=(life.holding[place], text),
            current=(1,) if answer == REPLACES else (0, 1),
            query=None,
            lang=life.lang,
            kind="later",
        )
        for of, life in enumerate(lives, 1)
        for number, (answer, place, text) in enumerate(life.later, 1)
    ]


def life_rates(results: Iterable[LifeResult]) -> list[dict[str, Any]]:
    """Return, of all languages and of each, how many statements there are, and the shares of them in percent."""
    groups: dict[str, list[LifeResult]] = defaultdict(list)
    for result in results:
        groups["all"].append(result)
        groups[result.lang].append(result)
    rows = []
    for lang, some in groups.items():
        count = sum(result.statements for result in some)
        shares = {
            name: round(100 * sum(getattr(result, name) for result in some) / count, 1)
            for name in ("lost", "joined", "noticed")
        }
        rows.append({"lang": lang, "lives": len(some), "statements": count, **shares})
    return rows
