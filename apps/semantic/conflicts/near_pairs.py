"""The near neighbours among the active memories of a scope, as saving them one after another would find them."""

from collections.abc import Iterable, Iterator, Sequence

from apps.core.domain.errors import InvalidInputError
from apps.core.domain.scope import Access, Scope
from apps.llm.selectors import EmbeddingSpace, active_space
from apps.semantic.conflicts.neighbours import stored_neighbours
from apps.semantic.conflicts.receipts import decided_partners
from apps.semantic.domain.rehearsal import ReplayCase, replay_case
from apps.semantic.models import Memory
from apps.semantic.store.rows import record_from_memory

DEFAULT_PAIRS, MAX_PAIRS = 2_000, 20_000
# Memories whose neighbours are searched while the index is locked: searches of the same user here wait as long.
_CHUNK = 64


class NearPairs:
    """Cases of one pair each: every memory of a scope with those near it that arrived before it, the newest first.

    Only memories of the same exact scope are compared, as when saving. A pair that has a receipt is left out: it was
    decided already. Ends after `max_pairs` pairs or as many memories; is_complete is False then.
    """

    def __init__(self, access: Access, scope: Scope, max_pairs: int) -> None:
        """Raise InvalidInputError when neither the scope nor the caller's bound names a user."""
        inside = access.for_read(scope)
        if (scope.user_id or access.bound.user_id) is None:
            raise InvalidInputError("Choose whose memories to compare.", attr="user_id", code="required")
        self._access, self._scope, self._max = access, inside, min(max_pairs, MAX_PAIRS)
        self.is_complete = True

    def __iter__(self) -> Iterator[ReplayCase]:
        """Yield the cases. Raises SpaceChangedError."""
        space = active_space()
        if self._scope is None or space is None:
            return
        memories = Memory.objects.visible_to(self._access, self._scope).active().unmanaged().newest_first()
        ids = list(memories.values_list("pk", flat=True)[: self._max + 1])
        self.is_complete = len(ids) <= self._max
        left = self._max
        for start in range(0, min(len(ids), self._max), _CHUNK):
            for case in self._cases_of(ids[start : start + _CHUNK], space):
                if left == 0:
                    self.is_complete = False
                    return
                left -= 1
                yield case

    def _cases_of(self, ids: Sequence[int], space: EmbeddingSpace) -> Iterator[ReplayCase]:
        """Yield the cases of some memories, the newest candidate first, and of each the newest neighbour."""
        memories = self._read(ids)
        found = stored_neighbours(list(memories.values()), space)
        near = {one.id for neighbourhood in found.values() for one in neighbourhood.near}
        memories |= self._read(near - memories.keys())
        decided = decided_partners([memories[pk] for pk in found])
        for pk in sorted(found, reverse=True):
            candidate = record_from_memory(memories[pk], None)
            for one in sorted(found[pk].near, key=lambda one: -one.id):
                other = memories.get(one.id)
                if other is not None and str(other.uuid) not in decided.get(pk, ()):
                    cosine = max(-1.0, min(1.0, one.cosine))
                    yield replay_case(candidate, [(record_from_memory(other, None), cosine)])

    def _read(self, ids: Iterable[int]) -> dict[int, Memory]:
        memories = Memory.objects.visible_to(self._access, self._scope).active().filter(pk__in=ids).defer("lexemes")
        return {memory.pk: memory for memory in memories}
