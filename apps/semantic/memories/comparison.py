"""Compare new memories with those near them.

Comparing takes longest of all that saving does besides embedding, so it is done before any lock is taken. What others
wrote in between is compared as well once the lock is held; mostly that is nothing.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import numpy as np

from apps.core.domain.origin import WriteOrigin
from apps.core.domain.scope import Scope
from apps.llm.selectors import EmbeddingSpace
from apps.llm.services import known_share, scale_of
from apps.retrieval.domain.content import text_code
from apps.retrieval.domain.rows import IndexRow, RowStore
from apps.retrieval.domain.sessions import SESSION_KEY
from apps.rules.domain.engine.arbitration import DetectedConflict
from apps.rules.domain.engine.record import MemoryRecord
from apps.semantic.conflicts.candidate import Candidate, SaveContext
from apps.semantic.conflicts.neighbours import Neighbour, Probe, best_of, nearest_of, neighbours, terms_of
from apps.semantic.domain.disagreement import find_disagreement, read_ahead
from apps.semantic.domain.duplicates import DatedKey
from apps.semantic.domain.memory import DEFAULT_IMPORTANCE, DEFAULT_SOURCE, TAGS, TAGS_OF_PLACES
from apps.semantic.index.cache import index_cache
from apps.semantic.index.changes import CODED, changes_since
from apps.semantic.models import Memory
from apps.semantic.store.rows import RECORD_COLUMNS, record_from_row

# Of the rows of a batch: no session lends words to them.
_PLACED = (*SESSION_KEY, *TAGS_OF_PLACES, "is_global")
# Place of a candidate -> what is near it.
Found = Mapping[int, Sequence[Neighbour]]


@dataclass(eq=False)
class Comparison:
    """What was found about candidates.

    probes: by place, of those that have a vector. now: what has expired by then is compared with nothing. versions: of
    the indexes that they were compared with, by user. conflicts: of each candidate, by the key of the other memory.
    ids: key -> primary key, of stored memories.
    """

    candidates: Sequence[Candidate]
    probes: Mapping[int, Probe]
    now: datetime
    versions: Mapping[str, int] = field(default_factory=dict)
    conflicts: Sequence[dict[str, DetectedConflict]] = ()
    ids: dict[str, int] = field(default_factory=dict)

    def near(self, stores: Mapping[str, RowStore]) -> dict[int, list[Neighbour]]:
        """Find the memories near the candidates in the stores of their users."""
        places: dict[str, list[int]] = defaultdict(list)
        for place, candidate in enumerate(self.candidates):
            if place in self.probes and candidate.key.user_id in stores:
                places[candidate.key.user_id].append(place)
        found: dict[int, list[Neighbour]] = {}
        for user, mine in places.items():
            found |= zip(mine, neighbours(stores[user], [self.probes[place] for place in mine], self.now), strict=True)
        return found

    def detect(self, stored: Found) -> None:
        """Detect the conflicts of candidates with stored memories that are still active."""
        wanted = {one.id for near in stored.values() for one in near}
        rows = {row[0]: row for row in Memory.objects.active().filter(pk__in=wanted).values_list(*RECORD_COLUMNS)}
        pairs = []
        for place, near in stored.items():
            left = [one for one in near if one.id in rows]
            nearest = nearest_of(left)
            for one in left:
                existing = record_from_row(rows[one.id], one.vector)
                self.ids[existing.key] = one.id
                pairs.append((place, existing, one in nearest))
        self.detect_pairs(pairs)

    def detect_pairs(self, pairs: Sequence[tuple[int, MemoryRecord, bool]]) -> None:
        """Detect which pairs conflict: of a candidate's place, another memory, and whether the judge of pairs reads it.

        What it reads it reads as a batch.
        """
        read_ahead((self.candidates[place].record, existing) for place, existing, is_read in pairs if is_read)
        for place, existing, is_read in pairs:
            candidate = self.candidates[place]
            detection = find_disagreement(candidate.record, existing, candidate.rule.detection, is_read=is_read)
            if detection.is_conflict:
                self.conflicts[place][existing.key] = DetectedConflict(existing, detection)


def compare(candidates: Sequence[Candidate], context: SaveContext, now: datetime) -> Comparison:
    """Compare candidates with the memories near them in their exact scope, and each with the candidates before it.

    All rules are considered: the caller's key does not decide which one applies. Candidates without a
    vector are left out. Takes no lock of the database. Raises SpaceChangedError.
    """
    probes, scale = {}, scale_of(context.space.space_id)
    for place, candidate in enumerate(candidates):
        draft = candidate.draft
        candidate.record = MemoryRecord(
            key=str(candidate.uuid),
            content=draft.content,
            timestamp=(draft.occurred_at or now).astimezone(UTC),
            importance=DEFAULT_IMPORTANCE if draft.importance is None else draft.importance,
            source=draft.source or DEFAULT_SOURCE,
            keywords=draft.keywords,
            user_id=candidate.key.user_id,
            household_id=candidate.key.household_id or None,
            persona_id=candidate.key.persona_id or None,
            **{tag: getattr(draft, tag) for tag in TAGS},
            is_global=draft.is_global,
            origin=draft.origin or WriteOrigin.APP,
            known_share=known_share(draft.content),
            embedding=candidate.vector,
            curve=scale.statements,
        )
        candidate.rule = context.rules.matching(candidate.record)
        if candidate.vector is not None:
            terms = terms_of(draft.content, draft.keywords)
            scope = Scope(*candidate.key.scope)
            probes[place] = Probe(
                candidate.vector,
                terms,
                scope,
                exclude=candidate.stored,
                place=None if draft.is_global else tuple(getattr(draft, tag) for tag in TAGS_OF_PLACES),
                text=text_code(candidate.key.content_hash),
            )
    comparison = Comparison(candidates, probes, now, conflicts=[{} for _ in candidates])
    users = sorted({candidate.key.user_id for candidate in candidates})
    with index_cache().refreshed(users, context.space) as stores:
        comparison.versions = {user: store.version for user, store in zip(users, stores, strict=True)}
        stored = comparison.near(dict(zip(users, stores, strict=True)))
    if len(probes) > 1:
        stored = compare_with_earlier(comparison, stored, context.space)
    comparison.detect(stored)
    return comparison


def compare_again(comparison: Comparison, versions: Mapping[str, int], space: EmbeddingSpace) -> None:
    """Compare with what others wrote since, once the shards are locked.

    versions: what `lock_shards` returned; one above those compared with means that nothing was written in between.
    Raises SpaceChangedError.
    """
    behind = {user: seen for user, seen in comparison.versions.items() if versions[user] != seen + 1}
    if behind:
        stores = {user: RowStore(space.dimension, CODED, scale_of(space.space_id)) for user in behind}
        for user, changes in changes_since(behind, space).items():
            stores[user].apply(changes.rows)
        comparison.detect(comparison.near(stores))


def compare_with_earlier(comparison: Comparison, stored: Found, space: EmbeddingSpace) -> dict[int, list[Neighbour]]:
    """Compare each candidate with the earlier ones near it. Return the stored memories that are still near enough.

    At most one of those that say the same will be active, so one of them is searched and all are compared: however
    many there are, they do not crowd out others.
    """
    groups: dict[tuple[DatedKey, bool], list[int]] = defaultdict(list)
    for place in comparison.probes:
        one = comparison.candidates[place]
        groups[one.dated_key, one.draft.is_global].append(place)
    members = {places[0]: places for places in groups.values()}
    rows: dict[str, list[IndexRow]] = defaultdict(list)
    for first in members:
        one, probe = comparison.candidates[first], comparison.probes[first]
        _, household, persona, *tags, _, _ = one.key
        coded = (household, persona, "", *tags, "true" if one.draft.is_global else "false")
        lexemes, vector = one.words["lexemes"], probe.vector.astype(np.float32).tobytes()
        row = IndexRow(first, True, coded, 0.0, 0.0, 1.0, 0.0, 1.0, lexemes, vector, text=probe.text)
        rows[one.key.user_id].append(row)
    stores = {user: RowStore(space.dimension, _PLACED, scale_of(space.space_id)) for user in rows}
    for user, store in stores.items():
        store.apply(rows[user])
    probes = {
        place: replace(probe, before=place, exclude=places[0])
        for places in members.values()
        for place in places
        for probe in (comparison.probes[place],)
    }
    searched = Comparison(comparison.candidates, probes, comparison.now)
    best: dict[int, list[Neighbour]] = {}
    pairs = []
    for place, earlier in searched.near(stores).items():
        near = stored.get(place, ())
        chosen = best_of([*near, *earlier])
        nearest = nearest_of(chosen)
        best[place] = [one for one in near if one in chosen]
        for match in (match for match in earlier if match in chosen):
            earlier_ones = [comparison.candidates[other].record for other in members[match.id] if other < place]
            pairs += [(place, record, match in nearest) for record in earlier_ones]
    comparison.detect_pairs(pairs)
    return best
