"""Labelled pairs of texts, and how well decisions about them fit: the measurement of issue 3.

Formats, told apart by the first line that is not empty:

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
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import Any

UNRELATED = "unrelated"


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
    newer_won: the newer memory is to stand. signal: what made the conflict, "" for none.
    """

    pair: LabelledPair
    noticed: bool
    acted: bool
    merged: bool
    newer_won: bool
    signal: str = ""


@dataclass(frozen=True)
class Rates:
    """Of the pairs of one group and label, in [0, 1] but for the counts.

    false_merges: apart, and merged or superseded. false_alarms: apart, and noticed. missed: conflicts that were not
    noticed. silent_merges: conflicts that were merged. newer_won: conflicts that were noticed and
    won by the newer side, of those noticed. A rate that means nothing for the label is None.
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
    signals: Mapping[str, int]


class LabelledFileError(ValueError):
    """A file of labelled pairs that cannot be read; the message names the line."""


_SICK = {"ENTAILMENT": Label.SAME, "NEUTRAL": Label.APART, "CONTRADICTION": Label.CONFLICT}
_MRPC = {"1": Label.SAME, "0": Label.APART}


def read_pairs(path: Path) -> list[LabelledPair]:
    """The pairs of a file in any of the formats above. Raises LabelledFileError, and OSError."""
    try:
        return parse_pairs(path.read_text(encoding="utf-8-sig"))
    except UnicodeDecodeError as error:
        raise LabelledFileError(f"Expected UTF-8: {error.reason} at byte {error.start}.") from None


def parse_pairs(text: str) -> list[LabelledPair]:
    """The pairs of a text in any of the formats above. Raises LabelledFileError."""
    lines = [(number, line.rstrip("\r")) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    if not lines:
        return []
    if lines[0][1].lstrip().startswith("{"):
        return [_pair_of_json(number, line) for number, line in lines]
    return list(_pairs_of_table(lines))


def unrelated(pairs: Sequence[LabelledPair], limit: int = 20_000) -> list[LabelledPair]:
    """The older side of each conflict with the newer side of every other, at most `limit`: they must stay apart.

    All distances are taken in turn, beginning with the nearest, so a limit leaves no item out.
    """
    items = [pair for pair in pairs if pair.label is Label.CONFLICT]
    crossed = (
        LabelledPair(item.older, items[(place + step) % len(items)].newer, Label.APART, UNRELATED)
        for step in range(1, len(items))
        for place, item in enumerate(items)
    )
    return list(islice(crossed, limit))


def rates(decisions: Iterable[Decision]) -> list[Rates]:
    """The rates of every group and label, in the order in which they first come."""
    kinds: dict[tuple[str, Label], list[Decision]] = {}
    for decision in decisions:
        kinds.setdefault((decision.pair.group, decision.pair.label), []).append(decision)
    return [_rates(group, label, found) for (group, label), found in kinds.items()]


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
        newer_won=_share(decision.newer_won for decision in noticed) if conflict and noticed else None,
        signals=Counter(decision.signal for decision in noticed),
    )


def _share(flags: Iterable[bool]) -> float:
    values = list(flags)
    return sum(values) / len(values)


def _pairs_of_table(lines: list[tuple[int, str]]) -> Iterator[LabelledPair]:
    header = lines[0][1].split("\t")
    if {"sentence_A", "sentence_B", "entailment_judgment"} <= set(header):
        columns = header.index("sentence_A"), header.index("sentence_B"), header.index("entailment_judgment")
        group, labels = "SICK", _SICK
    elif header[0] == "Quality" and len(header) >= 5:
        columns, group, labels = (3, 4, 0), "MRPC", _MRPC
    else:
        raise LabelledFileError("Line 1: expected the header of SICK or MRPC, or JSON Lines.")
    for number, line in lines[1:]:
        yield _pair_of_row(number, line.split("\t"), columns, group, labels)


def _pair_of_row(
    number: int, row: list[str], columns: tuple[int, int, int], group: str, labels: Mapping[str, Label]
) -> LabelledPair:
    if len(row) <= max(columns):
        raise LabelledFileError(f"Line {number}: expected {max(columns) + 1} columns, got {len(row)}.")
    older, newer, judged = (row[column] for column in columns)
    if judged not in labels:
        raise LabelledFileError(f"Line {number}: expected one of {', '.join(labels)}, got {judged[:40]!r}.")
    return LabelledPair(older, newer, labels[judged], f"{group} {judged}")


def _pair_of_json(number: int, line: str) -> LabelledPair:
    try:
        item = json.loads(line)
    except ValueError:
        raise LabelledFileError(f"Line {number}: expected a JSON object.") from None
    if not isinstance(item, dict):
        raise LabelledFileError(f"Line {number}: expected a JSON object.")
    try:
        return _pair_of_item(item)
    except (KeyError, TypeError, ValueError):
        raise LabelledFileError(
            f"Line {number}: expected older, newer and label (same, apart or conflict), older and newer as lists of "
            "turns, or old and new as lists of turns with text."
        ) from None


def _pair_of_item(item: Mapping[str, Any]) -> LabelledPair:
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
