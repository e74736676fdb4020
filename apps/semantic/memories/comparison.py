"""Which conflicts new memories have with those near them.

Comparing takes the longest of all that saving does besides embedding, so it is done before any lock is taken. What
others wrote in between is compared again once the lock is held; mostly that is nothing.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property

import numpy as np

from apps.core.domain.scope import Scope
from apps.llm.selectors import EmbeddingSpace
from apps.retrieval.domain.postings import Bools
from apps.retrieval.domain.ranking import visible_slots
from apps.retrieval.domain.rows import IndexRow, RowStore
from apps.retrieval.domain.sessions import SESSION_KEY
from apps.retrieval.domain.text.terms import query_terms, term_hash
from apps.retrieval.domain.vectors.cosines import cosines_of_each
from apps.rules.domain.documents.rule import RuleConfig
from apps.rules.domain.engine.arbitration import DetectedConflict
from apps.rules.domain.engine.detection import detect
from apps.rules.domain.engine.record import MemoryRecord
from apps.rules.selectors import RuleSet
from apps.semantic.conflicts.records import RECORD_COLUMNS, Vector, record_from_draft, record_from_row
from apps.semantic.domain.nearest import Near, best_of, nearest
from apps.semantic.index.cache import index_cache
from apps.semantic.index.changes import CODED, changes_since
from apps.semantic.memories.prepare import Candidate
from apps.semantic.models import Memory

# Cosines computed at once, 16 MB of them; and words looked up for one memory.
MAX_COSINES = 4_000_000
MAX_TERMS = 128


@dataclass(frozen=True, eq=False)
class Subject:
    """A memory that is held against others, with the rule that applies to it.

    scope: exact, where a memory has no household or persona it names the empty one. content_hash: see
    `domain.duplicates`. lexemes: see `domain.lexemes`.
    """

    record: MemoryRecord
    rule: RuleConfig
    scope: Scope
    content_hash: str
    lexemes: bytes

    @cached_property
    def terms(self) -> list[int]:
        """The hashes of the words by which it finds others."""
        return terms_of(self.record.content, self.record.keywords)


@dataclass(frozen=True, eq=False)
class _Stored:
    """A stored memory near a subject. vector: a copy."""

    memory: int
    vector: Vector


@dataclass(frozen=True, eq=False)
class _Earlier:
    """Earlier subjects near a subject, which all say the same."""

    places: tuple[int, ...]


# Place of a subject -> what is near it.
_Neighbours = dict[int, list[tuple[_Stored | _Earlier, Near]]]


@dataclass(frozen=True, eq=False)
class Comparison:
    """What was found about subjects. versions: user -> of the shard that they were held against.

    found: per subject, the conflicts by the key of the other memory. ids: key -> primary key, of the stored ones.
    """

    subjects: Sequence[Subject]
    versions: Mapping[str, int]
    found: Sequence[dict[str, DetectedConflict]]
    ids: dict[str, int] = field(default_factory=dict)


def subjects_of(items: Sequence[Candidate], rules: RuleSet, now: datetime) -> list[Subject]:
    """Drafts as subjects. All rules are asked, whoever saves: the caller's key does not decide which one applies."""
    records = [record_from_draft(item, now) for item in items]
    return [
        Subject(record, rules.matching(record), Scope(*item.key[:3]), item.key[3], item.words["lexemes"])
        for item, record in zip(items, records, strict=True)
    ]


def compare(subjects: Sequence[Subject], space: EmbeddingSpace) -> Comparison:
    """Hold subjects against the memories near them in their exact scope, and each against those before it.

    Subjects without a vector are left out. Raises SpaceChangedError.
    """
    users = sorted({subject.record.user_id for subject in subjects})
    neighbours: _Neighbours = defaultdict(list)
    with index_cache().refreshed(users, space) as shards:
        by_user = dict(zip(users, shards, strict=True))
        versions = {user: shard.version for user, shard in by_user.items()}
        _find_stored(neighbours, subjects, by_user)
    _find_earlier(neighbours, subjects)
    comparison = Comparison(subjects, versions, [{} for _ in subjects])
    _detect_all(comparison, neighbours)
    return comparison


def catch_up(comparison: Comparison, versions: Mapping[str, int], space: EmbeddingSpace) -> None:
    """Take over what others wrote since, once the shards are locked.

    versions: what `lock_shards` gave, so that one above those compared with means that nobody wrote in between.
    Raises SpaceChangedError.
    """
    behind = {user: seen for user, seen in comparison.versions.items() if versions[user] != seen + 1}
    if not behind:
        return
    shards = {user: RowStore(space.dimension, CODED) for user in behind}
    for user, changes in changes_since(behind, space).items():
        shards[user].apply(changes.rows)
    neighbours: _Neighbours = defaultdict(list)
    _find_stored(neighbours, comparison.subjects, shards)
    _detect_all(comparison, neighbours)


def _find_stored(neighbours: _Neighbours, subjects: Sequence[Subject], shards: Mapping[str, RowStore]) -> None:
    for scope, places in _by_scope(subjects).items():
        shard = shards.get(scope.user_id or "")
        if shard is not None and len(shard):
            visible = visible_slots(shard, scope)
            for place, near in _slots_near(subjects, places, shard, visible):
                neighbours[place] += [
                    (_Stored(int(shard.ids[one.slot]), shard.vectors[one.slot].copy()), one) for one in near
                ]


def _by_scope(subjects: Sequence[Subject]) -> dict[Scope, list[int]]:
    """The places of those that have a vector."""
    places: dict[Scope, list[int]] = defaultdict(list)
    for place, subject in enumerate(subjects):
        if subject.record.embedding is not None:
            places[subject.scope].append(place)
    return places


def _slots_near(
    subjects: Sequence[Subject], places: Sequence[int], shard: RowStore, visible: Bools
) -> Iterator[tuple[int, list[Near]]]:
    step = max(1, MAX_COSINES // shard.size)
    for start in range(0, len(places), step):
        some = places[start : start + step]
        rows = cosines_of_each(shard.vectors, np.stack([_vector(subjects[place]) for place in some]))
        for place, row in zip(some, rows, strict=True):
            yield place, nearest(shard, visible, row, subjects[place].terms)


def _vector(subject: Subject) -> Vector:
    assert subject.record.embedding is not None
    return subject.record.embedding


def terms_of(content: str, keywords: Sequence[str]) -> list[int]:
    """The hashes of the words by which a memory finds those that share them (`domain.nearest`)."""
    words = query_terms(" ".join((content, *keywords)))
    return [term_hash(word) for word in words[:MAX_TERMS]]


def _find_earlier(neighbours: _Neighbours, subjects: Sequence[Subject]) -> None:
    """The earlier subjects of the same scope that are near each.

    Of those that say the same at most one will stand, so one is looked for and all are given: however many there are,
    they do not crowd out others.
    """
    for places in _by_scope(subjects).values():
        if len(places) > 1:
            _find_earlier_of_scope(neighbours, [(place, subjects[place]) for place in places])


def _find_earlier_of_scope(neighbours: _Neighbours, subjects: Sequence[tuple[int, Subject]]) -> None:
    groups = _that_say_the_same(subjects)
    firsts = [group[0] for group in groups]
    vectors = np.stack([_vector(subject) for _, subject in firsts])
    shard = RowStore(vectors.shape[1])
    shard.apply(_shard_row(place, subject) for place, subject in firsts)
    slots, arrived = np.arange(len(groups)), np.array([place for place, _ in firsts])
    for slot, group in enumerate(groups):
        cosines, terms = vectors @ _vector(firsts[slot][1]), firsts[slot][1].terms
        for place, _ in group:
            for near in nearest(shard, (arrived < place) & (slots != slot), cosines, terms):
                earlier = tuple(other for other, _ in groups[near.slot] if other < place)
                neighbours[place].append((_Earlier(earlier), near))


def _that_say_the_same(subjects: Sequence[tuple[int, Subject]]) -> list[list[tuple[int, Subject]]]:
    groups: dict[str, list[tuple[int, Subject]]] = defaultdict(list)
    for place, subject in subjects:
        groups[subject.content_hash].append((place, subject))
    return list(groups.values())


def _detect_all(comparison: Comparison, neighbours: _Neighbours) -> None:
    """Compare each subject with the nearest of its neighbours."""
    chosen = {place: best_of(found) for place, found in neighbours.items()}
    wanted = {one.memory for near in chosen.values() for one in near if isinstance(one, _Stored)}
    rows = {row[0]: row for row in Memory.objects.active().filter(pk__in=wanted).values_list(*RECORD_COLUMNS)}
    for place, near in chosen.items():
        for one in near:
            if isinstance(one, _Earlier):
                for earlier in one.places:
                    _detect(comparison, place, comparison.subjects[earlier].record)
            elif one.memory in rows:
                existing = record_from_row(rows[one.memory], one.vector)
                comparison.ids[existing.key] = one.memory
                _detect(comparison, place, existing)


def _detect(comparison: Comparison, place: int, existing: MemoryRecord) -> None:
    subject = comparison.subjects[place]
    detection = detect(subject.record, existing, subject.rule.detection)
    if detection.is_conflict:
        comparison.found[place][existing.key] = DetectedConflict(existing, detection)


def _shard_row(place: int, subject: Subject) -> IndexRow:
    """A subject as a row of a shard of its own, of which only words and vector matter."""
    vector = _vector(subject).astype(np.float32).tobytes()
    return IndexRow(place, True, ("",) * len(SESSION_KEY), 0.0, 0.0, 1.0, 0.0, 1.0, subject.lexemes, vector)
