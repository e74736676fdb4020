"""The near neighbours among the active memories of a scope, as saving them one after another would find them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from apps.core.domain.errors import InvalidInputError
from apps.core.domain.scope import Access, Scope
from apps.llm.selectors import EmbeddingSpace, active_space
from apps.retrieval.domain.postings import Bools
from apps.retrieval.domain.ranking import visible_slots
from apps.retrieval.domain.rows import RowStore
from apps.rules.domain.engine.record import MemoryRecord
from apps.semantic.conflicts.records import RECORD_COLUMNS, record_from_row
from apps.semantic.consolidation.candidates import decided_partners
from apps.semantic.domain.nearest import nearest
from apps.semantic.domain.rehearsal import ReplayCase, replay_case
from apps.semantic.index.cache import index_cache
from apps.semantic.memories.comparison import terms_of
from apps.semantic.models import Memory

DEFAULT_PAIRS, MAX_PAIRS = 2_000, 20_000
# Memories looked at while the shard is locked: searches of the same user in this process wait as long.
_CHUNK = 64


class _Near(NamedTuple):
    """The primary keys of two memories, and their cosine."""

    candidate: int
    existing: int
    cosine: float


class NearPairs:
    """Cases of one pair each: every memory of a scope with those near it that arrived before it, the newest first.

    Only memories of the same exact scope are held against each other, as when saving. A pair that has a receipt is left
    out: it was decided already. Ends after `max_pairs` pairs or as many memories; is_complete then says False.
    """

    def __init__(self, access: Access, scope: Scope, max_pairs: int) -> None:
        """Raises InvalidInputError when neither the scope nor the caller's bound names a user."""
        inside = access.for_read(scope)
        if (scope.user_id or access.bound.user_id) is None:
            raise InvalidInputError("Say whose memories to compare.", attr="user_id", code="required")
        self._access, self._scope, self._max = access, inside, min(max_pairs, MAX_PAIRS)
        self.is_complete = True

    def __iter__(self) -> Iterator[ReplayCase]:
        space = active_space()
        if self._scope is None or space is None:
            return
        memories = Memory.objects.visible_to(self._access, self._scope).active().newest_first()
        ids = list(memories.values_list("pk", flat=True)[: self._max + 1])
        self.is_complete = len(ids) <= self._max
        left = self._max
        for start in range(0, min(len(ids), self._max), _CHUNK):
            for case in self._of_chunk(ids[start : start + _CHUNK], self._scope, space):
                if left == 0:
                    self.is_complete = False
                    return
                left -= 1
                yield case

    def _of_chunk(self, ids: Sequence[int], scope: Scope, space: EmbeddingSpace) -> Iterator[ReplayCase]:
        records = self._records(ids)
        near = _near(records, scope, space)
        others = self._records({one.existing for one in near} - records.keys())
        settled = decided_partners(list(Memory.objects.filter(pk__in=records).only("pk")))
        for one in near:
            candidate, existing = records[one.candidate], (records | others).get(one.existing)
            if existing is not None and existing.key not in settled.get(one.candidate, ()):
                yield replay_case(candidate, [(existing, one.cosine)])

    def _records(self, ids: Iterable[int]) -> dict[int, MemoryRecord]:
        memories = Memory.objects.visible_to(self._access, self._scope).active().filter(pk__in=ids)
        return {row[0]: record_from_row(row, None) for row in memories.values_list(*RECORD_COLUMNS)}


def _near(records: Mapping[int, MemoryRecord], scope: Scope, space: EmbeddingSpace) -> list[_Near]:
    """In the order of arrival, the newest candidate first. Raises SpaceChangedError."""
    terms = {pk: terms_of(record.content, record.keywords) for pk, record in records.items()}
    with index_cache().refreshed([scope.user_id or ""], space) as [shard]:
        visible = visible_slots(shard, scope)
        slots = np.flatnonzero(visible & np.isin(shard.ids, list(records)))
        cosines = shard.vectors[slots] @ shard.vectors.T
        found = [
            near
            for slot, row in zip(slots, cosines, strict=True)
            if shard.vectors[slot].any()
            for near in _of_slot(shard, visible, int(slot), row, terms[int(shard.ids[slot])])
        ]
    return sorted(found, key=lambda near: (-near.candidate, -near.existing))


def _of_slot(
    shard: RowStore, visible: Bools, slot: int, cosines: npt.NDArray[np.float32], terms: Sequence[int]
) -> Iterator[_Near]:
    earlier = visible & (shard.ids < shard.ids[slot])
    for name in ("household_id", "persona_id"):
        earlier &= shard.codes(name) == shard.codes(name)[slot]
    for other in nearest(shard, earlier, cosines, terms):
        yield _Near(int(shard.ids[slot]), int(shard.ids[other.slot]), max(-1.0, min(1.0, other.cosine)))
