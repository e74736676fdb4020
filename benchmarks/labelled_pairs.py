"""Labelled pairs of texts, and how well decisions about them fit: the measurement of issue 3.

Formats, distinguished by the first line that is not empty:

- Our own JSON Lines: `{"older": "...", "newer": "...", "label": "same" | "apart" | "conflict", "group": "..."}`; the
  group is optional.
- SICK: tab-separated with a header that names `sentence_A`, `sentence_B` and `entailment_judgment`. ENTAILMENT is
  same, NEUTRAL is apart, CONTRADICTION is conflict.
- MRPC: tab-separated with a header that begins with `Quality`. 1 is same, 0 is apart.
- Conversation pairs, JSON Lines: `older` and `newer` as lists of turns. All are conflicts, grouped by `kind`.
- Knowledge updates, JSON Lines: `old` and `new` as lists of turns with `text`. All are conflicts.

The turns of one side are joined by newlines. For the last two, `unrelated` pairs the older side of one item with the
newer side of another, which must stay apart.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import Any

UNRELATED, NEIGHBOURS = "unrelated", "neighbours"
# How many pairs that follow each other go into one half of a file, of one with many pairs and of a small one.
BLOCK, SMALL_BLOCK, MANY = 50, 2, 1000


class Label(StrEnum):
    """same: may be merged. apart: must stay apart. conflict: must be noticed, and never be merged silently."""

    SAME = "same"
    APART = "apart"
    CONFLICT = "conflict"


@dataclass(frozen=True)
class LabelledPair:
    """Two texts in the order in which they were said. group: what the rates are reported by."""

    older: str
    newer: str
    label: Label
    group: str


@dataclass(frozen=True)
class Decision:
    """What was decided about a pair.

    noticed: there is a conflict. acted: one memory was superseded, or both were merged. merged: they were merged.
    newer_won: the newer memory is to stand. signal: what made the conflict, "" for none; the contradiction where it
    is among several. reason and score: of the contradiction, "" and 0 for none.
    """

    pair: LabelledPair
    noticed: bool
    acted: bool
    merged: bool
    newer_won: bool
    signal: str = ""
    reason: str = ""
    score: float = 0.0


@dataclass(frozen=True)
class Rates:
    """Of the pairs of one group and label, in [0, 1] but for the counts.

    false_merges: apart, and merged or superseded. false_alarms: apart, and noticed. missed: conflicts that were not
    noticed. silent_merges: conflicts that were merged. newer_won, newer_won_of_noticed: conflicts that were won by
    the newer side, of all and of those noticed. A rate that means nothing for the label is None. signals and reasons:
    how many of the noticed pairs each signal decided, and each reason of a contradiction.
    """

    group: str
    label: Label
    pairs: int
    noticed: float
    acted: float
    false_merges: float | None
    false_alarms: float | None
    missed: float | None
    silent_merges: float | None
    newer_won: float | None
    newer_won_of_noticed: float | None
    signals: Mapping[str, int]
    reasons: Mapping[str, int]


class Mistake(StrEnum):
    """How a decision can be wrong. not acted on: a conflict was noticed, and is left to a person."""

    FALSE_MERGE = "false merge"
    FALSE_ALARM = "false alarm"
    MISSED = "missed"
    SILENT_MERGE = "silent merge"
    OLDER_WON = "older won"
    NOT_ACTED_ON = "not acted on"


class LabelledFileError(ValueError):
    """A file of labelled pairs that cannot be read; the message names the line."""


_SICK = {"ENTAILMENT": Label.SAME, "NEUTRAL": Label.APART, "CONTRADICTION": Label.CONFLICT}
_MRPC = {"1": Label.SAME, "0": Label.APART}


def read_pairs(path: Path) -> list[LabelledPair]:
    """Return the pairs of a file in any of the formats above. Raises LabelledFileError, and OSError."""
    return parse_pairs(read_labelled(path))


def read_labelled(path: Path) -> str:
    """Return the text of a labelled file. Raises LabelledFileError, and OSError."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise LabelledFileError(f"Expected UTF-8: {error.reason} at byte {error.start}.") from None


def parse_pairs(text: str) -> list[LabelledPair]:
    """Return the pairs of a text in any of the formats above. Raises LabelledFileError."""
    lines = [(number, line.rstrip("\r")) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    if not lines:
        return []
    if lines[0][1].lstrip().startswith("{"):
        return [pair_of_json(number, line) for number, line in lines]
    return list(pairs_of_table(lines))


def unrelated(pairs: Sequence[LabelledPair], limit: int = 20_000) -> list[LabelledPair]:
    """Pair the older side of each conflict with the newer side of every other, at most `limit`: no conflicts.

    All distances are taken in turn, beginning with the nearest, so a limit leaves no item out. Those of the nearest
    are `neighbours`: they often come from one conversation.
    """
    return list(islice(crossed(pairs), limit))


def neighbours(pairs: Sequence[LabelledPair]) -> list[LabelledPair]:
    """Pair the older side of each conflict with the newer side of the next; the nearest of the `unrelated` pairs."""
    items = sum(pair.label is Label.CONFLICT for pair in pairs)
    return [replace(pair, group=NEIGHBOURS) for pair in islice(crossed(pairs), items)]


def crossed(pairs: Sequence[LabelledPair]) -> Iterator[LabelledPair]:
    items = [pair for pair in pairs if pair.label is Label.CONFLICT]
    for step in range(1, len(items)):
        for place, item in enumerate(items):
            yield LabelledPair(item.older, items[(place + step) % len(items)].newer, Label.APART, UNRELATED)


def halves(pairs: Sequence[LabelledPair]) -> tuple[list[LabelledPair], list[LabelledPair]]:
    """Split the pairs in two halves, by blocks of neighbours, which often share words: to see how rates vary."""
    block = BLOCK if len(pairs) >= MANY else SMALL_BLOCK
    sides: tuple[list[LabelledPair], list[LabelledPair]] = ([], [])
    for place, pair in enumerate(pairs):
        sides[place // block % 2].append(pair)
    return sides


def rates(decisions: Iterable[Decision]) -> list[Rates]:
    """Return the rates of every group and label, in the order in which they first come."""
    return [_rates(group, label, found) for (group, label), found in by_kind(decisions).items()]


def by_kind(decisions: Iterable[Decision]) -> dict[tuple[str, Label], list[Decision]]:
    """Return the decisions of every group and label, in the order in which they first come."""
    kinds: dict[tuple[str, Label], list[Decision]] = {}
    for decision in decisions:
        kinds.setdefault((decision.pair.group, decision.pair.label), []).append(decision)
    return kinds


def mistake_of(decision: Decision) -> Mistake | None:
    """Return the worst mistake of a decision; None for a right one. Pairs that may be merged have none."""
    label = decision.pair.label
    if label is Label.APART and decision.noticed:
        return Mistake.FALSE_MERGE if decision.acted else Mistake.FALSE_ALARM
    if label is not Label.CONFLICT or decision.newer_won:
        return None
    if not decision.noticed:
        return Mistake.MISSED
    if decision.merged:
        return Mistake.SILENT_MERGE
    return Mistake.OLDER_WON if decision.acted else Mistake.NOT_ACTED_ON


def _rates(group: str, label: Label, found: list[Decision]) -> Rates:
    apart, conflict = label is Label.APART, label is Label.CONFLICT
    noticed = [decision for decision in found if decision.noticed]
    seen, acted = len(noticed) / len(found), _share(decision.acted for decision in found)
    return Rates(
        group=group,
        label=label,
        pairs=len(found),
        noticed=seen,
        acted=acted,
        false_merges=acted if apart else None,
        false_alarms=seen if apart else None,
        missed=1 - seen if conflict else None,
        silent_merges=_share(decision.merged for decision in found) if conflict else None,
        newer_won=_share(decision.newer_won for decision in found) if conflict else None,
        newer_won_of_noticed=_share(decision.newer_won for decision in noticed) if conflict and noticed else None,
        signals=dict(Counter(decision.signal for decision in noticed)),
        reasons=dict(Counter(decision.reason for decision in noticed if decision.reason)),
    )


def _share(flags: Iterable[bool]) -> float:
    values = list(flags)
    return sum(values) / len(values)


def pairs_of_table(lines: list[tuple[int, str]]) -> Iterator[LabelledPair]:
    header = lines[0][1].split("\t")
    if {"sentence_A", "sentence_B", "entailment_judgment"} <= set(header):
        columns = header.index("sentence_A"), header.index("sentence_B"), header.index("entailment_judgment")
        group, labels = "SICK", _SICK
    elif header[0] == "Quality" and len(header) >= 5:
        columns, group, labels = (3, 4, 0), "MRPC", _MRPC
    else:
        raise LabelledFileError("Line 1: expected the header of SICK or MRPC, or JSON Lines.")
    for number, line in lines[1:]:
        yield pair_of_row(number, line.split("\t"), columns, group, labels)


def pair_of_row(
    number: int, row: list[str], columns: tuple[int, int, int], group: str, labels: Mapping[str, Label]
) -> LabelledPair:
    if len(row) <= max(columns):
        raise LabelledFileError(f"Line {number}: expected {max(columns) + 1} columns, got {len(row)}.")
    older, newer, judged = (row[column] for column in columns)
    if judged not in labels:
        raise LabelledFileError(f"Line {number}: expected one of {', '.join(labels)}, got {judged[:40]!r}.")
    return LabelledPair(older, newer, labels[judged], f"{group} {judged}")


def pair_of_json(number: int, line: str) -> LabelledPair:
    try:
        item = json.loads(line)
    except ValueError:
        raise LabelledFileError(f"Line {number}: expected a JSON object.") from None
    if not isinstance(item, dict):
        raise LabelledFileError(f"Line {number}: expected a JSON object.")
    try:
        return pair_of_item(item)
    except (KeyError, TypeError, ValueError):
        raise LabelledFileError(
            f"Line {number}: expected older, newer and label (same, apart or conflict), older and newer as lists of "
            "turns, or old and new as lists of turns with text."
        ) from None


def pair_of_item(item: Mapping[str, Any]) -> LabelledPair:
    if "old" in item:
        return LabelledPair(_turns(item["old"]), _turns(item["new"]), Label.CONFLICT, "knowledge updates")
    if isinstance(item["older"], list):
        group = str(item.get("kind", "conversation"))
        return LabelledPair(_turns(item["older"]), _turns(item["newer"]), Label.CONFLICT, group)
    label = Label(item["label"])
    return LabelledPair(_text(item["older"]), _text(item["newer"]), label, str(item.get("group", label.value)))


def _turns(turns: Any) -> str:
    if not isinstance(turns, list) or not turns:
        raise TypeError("no turns")
    return "\n".join(_text(turn["text"] if isinstance(turn, dict) else turn) for turn in turns)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("no text")
    return value
