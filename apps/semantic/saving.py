"""The write path (DESIGN D5): hash, exact duplicate, embed, and one transaction per call."""

from collections.abc import Sequence

from django.db import transaction

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.errors import MemoryHubError, UnavailableError
from apps.core.domain.scope import Access
from apps.llm.models import EmbeddingSpace
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.drafts import Prepared, PreparedSaves, prepare_draft, with_vectors
from apps.semantic.embedding import current_space, with_current_space
from apps.semantic.writing import SaveResult, VectorMissingError, Writer

_TRIES = 5

SaveOutcome = SaveResult | MemoryHubError


def memory_save(*, access: Access, draft: MemoryDraft, clock: Clock = SYSTEM_CLOCK) -> SaveResult:
    """Save one memory. Raises MemoryHubError when it cannot be saved; then nothing was written."""
    [outcome] = memory_save_many(access=access, drafts=[draft], clock=clock)
    if isinstance(outcome, MemoryHubError):
        raise outcome
    return outcome


def memory_save_many(
    *, access: Access, drafts: Sequence[MemoryDraft], clock: Clock = SYSTEM_CLOCK
) -> list[SaveOutcome]:
    """Save memories in one transaction; gives one outcome per draft, in order.

    A draft that cannot be saved gives its error and keeps no other from being saved. Raises UnavailableError
    when the embedding model does not answer; then nothing was written.
    """
    return with_current_space(lambda _: save_write(prepared=save_prepare(access=access, drafts=drafts), clock=clock))


def save_prepare(*, access: Access, drafts: Sequence[MemoryDraft]) -> PreparedSaves:
    """The slow half of a save, which holds no lock and no transaction. Raises UnavailableError."""
    space = current_space()
    items = [prepare_draft(access, draft, space) for draft in drafts]
    ready = iter(with_vectors([item for item in items if isinstance(item, Prepared)]))
    return PreparedSaves([next(ready) if isinstance(item, Prepared) else item for item in items], space, access.actor)


def save_write(*, prepared: PreparedSaves, clock: Clock = SYSTEM_CLOCK) -> list[SaveOutcome]:
    """The quick half of a save: one transaction. One outcome per draft, in order."""
    ready = [item for item in prepared.items if isinstance(item, Prepared)]
    results = iter(_write(ready, prepared.space, prepared.actor, clock))
    return [next(results) if isinstance(item, Prepared) else item for item in prepared.items]


def _write(ready: Sequence[Prepared], space: EmbeddingSpace, actor: str, clock: Clock) -> list[SaveResult]:
    if not ready:
        return []
    for _ in range(_TRIES):
        try:
            with transaction.atomic():
                return Writer(space, actor, utcnow(clock)).write(ready)
        except VectorMissingError:
            ready = with_vectors(ready)
    raise UnavailableError("Too many others write the same memories. Try again shortly.", retry_after=1)
