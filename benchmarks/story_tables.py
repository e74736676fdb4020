"""Rates and mistakes of labelled stories as text."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from rich.table import Table

from benchmarks.stories import FoundConflict, StoryMistake, StoryResult, story_mistakes

RATES = (
    ("decided", "decided rightly"),
    ("wrong_side", "wrong side"),
    ("noticed", "noticed"),
    ("destroyed", "destroyed"),
    ("left_as_one", "left as one"),
    ("current_first", "current first"),
)


def story_table(title: str, group: str, rows: Sequence[Mapping[str, Any]]) -> Table:
    """Return a table of rates in percent. group: what the rows of one label are grouped by."""
    table = Table(title=title)
    table.add_column("label", no_wrap=True)
    table.add_column(group, no_wrap=True)
    for title in ("stories", *(title for _, title in RATES)):
        table.add_column(title, justify="right")
    for row in sorted(rows, key=lambda row: list(dict.fromkeys(one["label"] for one in rows)).index(row["label"])):
        rates = ("" if row[name] is None else f"{100 * row[name]:.1f}" for name, _ in RATES)
        table.add_row(row["label"], row["group"], str(row["stories"]), *rates)
    return table


def mistakes_shown(results: Iterable[StoryResult], limit: int) -> Iterator[tuple[StoryMistake, StoryResult]]:
    """Yield at most so many examples of each mistake, one mistake after the other."""
    found: dict[StoryMistake, list[StoryResult]] = {mistake: [] for mistake in StoryMistake}
    for result in results:
        for mistake in story_mistakes(result):
            found[mistake].append(result)
    for mistake, some in found.items():
        for result in some[: max(0, limit)]:
            yield mistake, result


def describe_story(mistake: StoryMistake, result: StoryResult) -> str:
    """Return a story verbatim, with what is active of it in the end and what should be."""
    story = result.story
    active = frozenset[int]().union(*(memory.holds for memory in result.active))
    lines = [f"\n{mistake} ({', '.join(filter(None, (story.id, story.lang, story.kind)))})"]
    for place, text in enumerate(story.statements):
        state = "active" if place in active else "not active"
        if (place in active) != (place in story.current):
            state += f", should be {'active' if place in story.current else 'replaced'}"
        lines.append(f"  {place}: {text}  [{state}]")
    lines += [f"  {describe_conflict(conflict)}" for conflict in result.conflicts]
    if story.query:
        order = ", ".join(places(memory.holds) for memory in result.found)
        lines.append(f"  query: {story.query}  [found: {order or 'nothing'}]")
    return "\n".join(lines)


def describe_conflict(conflict: FoundConflict) -> str:
    """Return which statements conflict, and why."""
    why = f"{conflict.signal} {conflict.reason} {conflict.score:.2f}" if conflict.reason else conflict.signal
    acted = "decisive" if conflict.is_decisive else "noticed"
    return f"conflict of {places(conflict.candidate)} with {places(conflict.existing)}: {why}, {acted}"


def places(holds: Iterable[int]) -> str:
    """Return the places of the statements that a memory holds."""
    return "+".join(map(str, sorted(holds)))
