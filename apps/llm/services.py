"""Writes of `llm`: which embedding space is the active one."""

from django.db import IntegrityError, transaction

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.llm.domain.embedder import Embedder, EmbeddingError, EmbeddingSpaceId
from apps.llm.models import EmbeddingSpace
from apps.llm.selectors import active_space


class EmbeddingSpaceMismatchError(EmbeddingError):
    """The configured model is not the one that made the stored vectors."""

    def __init__(self, stored: EmbeddingSpace, configured: EmbeddingSpaceId) -> None:
        super().__init__(
            f"The stored vectors were made by {stored.model} ({stored.dimension} dimensions), but the configured "
            f"model is {configured.model} ({configured.dimension} dimensions). Configure the former again, or make "
            "new vectors with: manage.py reembed"
        )


def ensure_space(embedder: Embedder, *, clock: Clock = SYSTEM_CLOCK) -> EmbeddingSpace:
    """The active space, which must be the embedder's; the first embedder ever makes its own the active one.

    Raises EmbeddingSpaceMismatchError.
    """
    space = active_space() or _first_space(embedder.space, clock)
    if (space.model, space.dimension) != (embedder.space.model, embedder.space.dimension):
        raise EmbeddingSpaceMismatchError(space, embedder.space)
    return space


def _first_space(wanted: EmbeddingSpaceId, clock: Clock) -> EmbeddingSpace:
    try:
        with transaction.atomic():
            space = space_get_or_create(wanted, clock=clock)
            space_activate(space=space, clock=clock)
            return space
    except IntegrityError:
        # Another process was first.
        return EmbeddingSpace.objects.get(is_active=True)


def space_get_or_create(wanted: EmbeddingSpaceId, *, clock: Clock = SYSTEM_CLOCK) -> EmbeddingSpace:
    """The row of a space, made if it is new; it does not become active by that."""
    space, _ = EmbeddingSpace.objects.get_or_create(
        model=wanted.model, dimension=wanted.dimension, defaults={"created_at": utcnow(clock)}
    )
    return space


@transaction.atomic
def space_activate(*, space: EmbeddingSpace, clock: Clock = SYSTEM_CLOCK) -> None:
    """Make a space the active one. Waits for the writers that are using the one before."""
    list(EmbeddingSpace.objects.select_for_update().order_by("id"))
    EmbeddingSpace.objects.filter(is_active=True).exclude(pk=space.pk).update(is_active=False)
    EmbeddingSpace.objects.filter(pk=space.pk).update(is_active=True, activated_at=utcnow(clock))
    space.refresh_from_db()
