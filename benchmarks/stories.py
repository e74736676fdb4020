"""Labelled stories: short series of statements, oldest first, and which of them hold afterwards.

JSON Lines: `{"label": "update" | "coexist" | "same", "statements": ["...", "..."], "current": [1], "query": "...",
"lang": "en", "kind": "...", "id": "..."}`. `current` are the places of the statements that hold in the end; without it
the last one of an update, and all of the others. Of several that say the same any may stay. The rest is optional. Other
members are ignored.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from apps.retrieval.domain.content import content_hash
from benchmarks.labelled_pairs import LabelledFileError

ALL = "all"
EXPECTED = (
    "expected statements (texts, oldest first), label (update, coexist or same) and perhaps current (their places)"
)


class StoryLabel(StrEnum):
    """update: later statements replace earlier ones. coexist: all hold. same: all say the same."""

    UPDATE = "update"
    COEXIST = "coexist"
    SAME = "same"


@dataclass(frozen=True)
class Story:
    """Statements, oldest first. current: the places of those that hold afterwards. query: None without one."""

    id: str
    label: StoryLabel
    statements: tuple[str, ...]
    current: tuple[int, ...]
    query: str | None = None
    lang: str = ""
    kind: str = ""

    @property
    def language(self) -> str:
        """Return the language without its region: `zh` for `zh-TW`."""
        return self.lang.partition("-")[0]


@dataclass(frozen=True)
class ActiveMemory:
    """A memory that is active in the end. holds: the places of the statements that it was made from, or repeats."""

    text: str
    holds: frozenset[int]


@dataclass(frozen=True)
class FoundConflict:
    """A conflict that was detected when a statement was saved.

    candidate, existing: the places of the statements that the two memories held in the end. is_decisive: strong enough
    to act on. signal: the contradiction where there is one, else the first one that makes a conflict. reason and score:
    of the contradiction.
    """

    candidate: frozenset[int]
    existing: frozenset[int]
    is_decisive: bool
    signal: str
    reason: str = ""
    score: float = 0.0


@dataclass(frozen=True)
class StoryResult:
    """What became of a story. found: what a search for its query returns, best first; nothing without a query."""

    story: Story
    active: tuple[ActiveMemory, ...]
    conflicts: tuple[FoundConflict, ...] = ()
    found: tuple[ActiveMemory, ...] = ()

    @property
    def current_texts(self) -> frozenset[str]:
        """Return the hashes of the statements that should be active; a statement may be repeated."""
        return frozenset(content_hash(self.story.statements[place]) for place in self.story.current)

    @property
    def active_texts(self) -> frozenset[str]:
        """Return the hashes of the texts that are active. A text that was merged of two is neither of them."""
        return frozenset(content_hash(memory.text) for memory in self.active)

    @property
    def is_decided(self) -> bool:
        """Check whether exactly the statements are active that should be."""
        return self.active_texts == self.current_texts

    @property
    def is_lost(self) -> bool:
        """Check whether a statement that should be active is not."""
        return not self.current_texts <= self.active_texts

    @property
    def is_one(self) -> bool:
        """Check whether one memory is left, and holds a statement that should be active."""
        return len(self.active) == 1 and not self.active[0].holds.isdisjoint(self.story.current)

    @property
    def is_noticed(self) -> bool:
        """Check whether a conflict was found: of an update, between what holds last and what does not hold any more."""
        if self.story.label is not StoryLabel.UPDATE:
            return bool(self.conflicts)
        last, current = self.story.current[-1], self.story.current
        sides = ((one.candidate, one.existing) for one in self.conflicts)
        return any(
            last in one and other.isdisjoint(current) for pair in sides for one, other in (pair, (pair[1], pair[0]))
        )

    @property
    def is_current_first(self) -> bool | None:
        """Check whether the best hit is the statement that holds last, or for restatements any that holds.

        None without a query, and where all statements hold side by side.
        """
        if self.story.query is None or self.story.label is StoryLabel.COEXIST:
            return None
        wanted = self.current_texts
        if self.story.label is StoryLabel.UPDATE:
            wanted = frozenset({content_hash(self.story.statements[self.story.current[-1]])})
        return bool(self.found) and content_hash(self.found[0].text) in wanted


@dataclass(frozen=True)
class StoryRates:
    """Of the stories of one group and label, in [0, 1] but for the counts; None where it means nothing.

    decided: exactly what holds is active. wrong_side: what holds is not active in an update. destroyed: the same in
    stories side by side. noticed, left_as_one, current_first: see `StoryResult`; the last of `queries` stories.
    """

    group: str
    label: StoryLabel
    stories: int
    queries: int
    decided: float | None
    wrong_side: float | None
    noticed: float
    destroyed: float | None
    left_as_one: float | None
    current_first: float | None


class StoryMistake(StrEnum):
    """How a decision about a story can be wrong. not decided: noticed, and something else than what holds is active."""

    DESTROYED = "destroyed"
    WRONG_SIDE = "wrong side"
    MISSED = "missed"
    NOT_DECIDED = "not decided"
    LEFT_APART = "left apart"
    FALSE_ALARM = "false alarm"
    NOT_FIRST = "current fact not first"


def has_stories(text: str) -> bool:
    """Check by its first line that is not empty whether a text has stories."""
    first = next((line for line in text.split("\n") if line.strip()), "")
    try:
        item = json.loads(first)
    except ValueError:
        return False
    return isinstance(item, dict) and "statements" in item


def parse_stories(text: str) -> list[Story]:
    """Return the stories of a text. Raises LabelledFileError."""
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    return [parse_story(number, line) for number, line in lines]


def parse_story(number: int, line: str) -> Story:
    """Return the story of one line. Raises LabelledFileError."""
    try:
        return story_of_item(json.loads(line), f"line {number}")
    except (KeyError, TypeError, ValueError, AttributeError):
        raise LabelledFileError(f"Line {number}: {EXPECTED}.") from None


def story_of_item(item: Mapping[str, Any], name: str) -> Story:
    """Return the story that a JSON object describes. name: for one without an id."""
    label, statements = StoryLabel(item["label"]), item["statements"]
    if not isinstance(statements, list) or not statements or not all(isinstance(one, str) for one in statements):
        raise TypeError("statements")
    last = len(statements) - 1
    current = item.get("current") or ([last] if label is StoryLabel.UPDATE else range(len(statements)))
    if any(type(place) is not int or not 0 <= place <= last for place in current):
        raise TypeError("current")
    if label is StoryLabel.SAME and len(current) == 1:
        # Whichever of them is kept says what the other one says.
        current = range(len(statements))
    return Story(
        id=str(item.get("id", name)),
        label=label,
        statements=tuple(statements),
        current=tuple(sorted(current)),
        query=item.get("query") or None,
        lang=item.get("lang") or "",
        kind=item.get("kind") or "",
    )


def rates_by(results: Iterable[StoryResult], group: Callable[[Story], str]) -> list[StoryRates]:
    """Return the rates of every label and, within it, of every group; the largest groups first."""
    found: dict[tuple[StoryLabel, str], list[StoryResult]] = {}
    for result in results:
        found.setdefault((result.story.label, group(result.story)), []).append(result)
    labels = list(StoryLabel)
    ordered = sorted(found.items(), key=lambda item: (labels.index(item[0][0]), -len(item[1]), item[0][1]))
    return [story_rates(name, label, some) for (label, name), some in ordered]


def story_rates(group: str, label: StoryLabel, results: list[StoryResult]) -> StoryRates:
    """Return the rates of some stories of one label."""
    answers = [result.is_current_first for result in results if result.is_current_first is not None]
    is_update, is_same = label is StoryLabel.UPDATE, label is StoryLabel.SAME
    lost = share(result.is_lost for result in results)
    return StoryRates(
        group=group,
        label=label,
        stories=len(results),
        queries=len(answers),
        decided=share(result.is_decided for result in results) if is_update else None,
        wrong_side=lost if is_update else None,
        noticed=share(result.is_noticed for result in results),
        destroyed=lost if label is StoryLabel.COEXIST else None,
        left_as_one=share(result.is_one for result in results) if is_same else None,
        current_first=share(answers) if answers else None,
    )


def share(flags: Iterable[bool]) -> float:
    """Return the share of flags that are set, in [0, 1]."""
    values = list(flags)
    return sum(values) / len(values)


def story_mistakes(result: StoryResult) -> list[StoryMistake]:
    """Return the worst mistake of a decision, and whether the current fact is not found first."""
    worst: StoryMistake | None = None
    match result.story.label:
        case StoryLabel.COEXIST:
            noticed = StoryMistake.FALSE_ALARM if result.is_noticed else None
            worst = StoryMistake.DESTROYED if result.is_lost else noticed
        case StoryLabel.SAME:
            worst = None if result.is_one else StoryMistake.LEFT_APART
        case StoryLabel.UPDATE if result.is_lost:
            worst = StoryMistake.WRONG_SIDE
        case StoryLabel.UPDATE if not result.is_decided:
            worst = StoryMistake.NOT_DECIDED if result.is_noticed else StoryMistake.MISSED
    found = [worst] if worst else []
    return [*found, StoryMistake.NOT_FIRST] if result.is_current_first is False else found
