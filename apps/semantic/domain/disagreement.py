"""Which memories are held against each other: those that hold in one place and are not the same text (ADR 35)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from enum import Enum
from typing import Any, Protocol

from apps.retrieval.domain.content import normalise_content
from apps.rules.domain.engine.detection import detect, pairs_to_read
from apps.rules.domain.engine.pair_judge import judge_pairs
from apps.rules.domain.engine.record import MemoryRecord
from apps.rules.domain.engine.signals import Detection, DetectionConfig, contradict
from apps.semantic.domain.memory import TAGS_OF_PLACES

NO_CONFLICT = Detection((), False, 0.0, is_decisive=False)


class Placed(Protocol):
    """A memory, stored or as the rule engine reads it: what TAGS_OF_PLACES name, and whether it holds everywhere."""

    @property
    def is_global(self) -> bool:
        """Return whether it holds everywhere."""


class Places(Enum):
    """Where two memories hold: in one place, one of them everywhere and the other one not, or in two places."""

    ONE = "one"
    ONE_IN_ALL = "one_in_all"
    TWO = "two"


def compare_places(one: Placed, other: Placed) -> Places:
    """Return where two memories hold. One that names no project is as well of the project that the other one names."""
    pairs = [(getattr(one, tag), getattr(other, tag)) for tag in TAGS_OF_PLACES]
    if one.is_global and other.is_global:
        return Places.ONE
    if one.is_global or other.is_global:
        has_place = any(theirs if one.is_global else mine for mine, theirs in pairs)
        return Places.ONE_IN_ALL if has_place else Places.ONE
    return Places.TWO if any(mine and theirs and mine != theirs for mine, theirs in pairs) else Places.ONE


def find_disagreement(
    candidate: MemoryRecord, existing: MemoryRecord, config: DetectionConfig, *, is_read: bool = True
) -> Detection:
    """Detect whether two memories conflict, as `detect` does, and leave apart what may be said of each.

    What holds in one project says nothing of another one. Of one that holds everywhere and one of a project a
    contradiction is noticed only: deciding it would take from other projects what was said for all, or from this one
    what is its own. The same text is no conflict: of another moment or with other tags it is another memory. So is what
    restates one of another type.
    """
    places = compare_places(candidate, existing)
    if places is Places.TWO:
        return NO_CONFLICT
    detection = detect(candidate, existing, config, is_read=is_read)
    if not detection.is_conflict:
        return detection
    if detection.contradicts:
        return detection if places is Places.ONE else replace(detection, is_decisive=False, is_elsewhere=True)
    is_other_type = candidate.type and existing.type and candidate.type != existing.type
    if places is Places.ONE_IN_ALL or is_other_type:
        return NO_CONFLICT
    one, other = candidate.content, existing.content
    if one == other or normalise_content(one) == normalise_content(other):
        return NO_CONFLICT
    return detection


def read_ahead(pairs: Iterable[tuple[MemoryRecord, MemoryRecord]]) -> None:
    """Have the judge of pairs read at once what `find_disagreement` will ask it about."""
    judge_pairs(pairs_to_read((one, other) for one, other in pairs if compare_places(one, other) is not Places.TWO))


def is_contradiction(signals: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether the signals of a receipt say that only one of two memories holds, not that both say the same."""
    return contradict((signal["type"], signal["evidence"]) for signal in signals)
