"""Create embedding spaces, and switch between them."""

from django.db import connection, transaction

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.llm.domain.embedder import Embedder, EmbeddingError, EmbeddingSpaceId
from apps.llm.embedding.e5.embedder import MODEL as E5
from apps.llm.embedding.embedder import follow_recorded, get_embedder
from apps.llm.models import EmbeddingSpace
from apps.llm.selectors import active_space

# Any number that no other lock of the database has.
FIRST_SPACE_LOCK = 0x53504143


class EmbeddingSpaceMismatchError(EmbeddingError):
    """The configured embedder makes other vectors than the stored ones.

    stored, configured: the two spaces.
    """

    def __init__(self, stored: EmbeddingSpaceId, configured: EmbeddingSpaceId) -> None:
        super().__init__(
            f"The stored vectors were made by {stored}, but the configured embedder is {configured}. "
            "Vectors of different models cannot be compared: run `manage.py reembed` to embed every memory "
            "again, or configure the model that the vectors were made by."
        )
        self.stored = stored
        self.configured = configured

    @property
    def is_new_version(self) -> bool:
        """Return whether the stored vectors are of another version of the delivered model, which `prepare` replaces."""
        return {space.model.partition("/")[0] for space in (self.stored, self.configured)} == {E5}


def ensure_space(embedder: Embedder, *, clock: Clock = SYSTEM_CLOCK) -> EmbeddingSpace:
    """Return the active space, which must be the embedder's. The first embedder ever creates and activates it.

    Processes that start at once agree on one space. Raises EmbeddingSpaceMismatchError.
    """
    space = active_space() or create_first_space(embedder.space, clock)
    if space.space_id != embedder.space:
        raise EmbeddingSpaceMismatchError(space.space_id, embedder.space)
    return space


def configured_space() -> EmbeddingSpace:
    """Return the active space, which must be that of the configured embedder (`ensure_space`).

    Where the hub itself says which embedder that is, one that was changed meanwhile is taken. Raises EmbeddingError.
    """
    try:
        return ensure_space(get_embedder())
    except EmbeddingSpaceMismatchError:
        if not follow_recorded():
            raise
        return ensure_space(get_embedder())


def space_get_or_create(wanted: EmbeddingSpaceId, *, clock: Clock = SYSTEM_CLOCK) -> EmbeddingSpace:
    """Return the row of a space, created when it is missing; a new one is not active."""
    space, _ = EmbeddingSpace.objects.get_or_create(
        model=wanted.model, dimension=wanted.dimension, defaults={"created_at": utcnow(clock)}
    )
    return space


@transaction.atomic
def space_activate(*, space: EmbeddingSpace, clock: Clock = SYSTEM_CLOCK) -> EmbeddingSpace:
    """Make `space` the one that searches use, instead of the one before; `space` is brought up to date.

    Waits for the writers that use the one before (they hold its row), and for other activations. Raises
    EmbeddingSpace.DoesNotExist when the row is gone; then nothing changes.
    """
    list(EmbeddingSpace.objects.select_for_update().order_by("id"))
    EmbeddingSpace.objects.filter(is_active=True).exclude(pk=space.pk).update(is_active=False)
    EmbeddingSpace.objects.filter(pk=space.pk, is_active=False).update(is_active=True, activated_at=utcnow(clock))
    space.refresh_from_db()
    return space


@transaction.atomic
def create_first_space(wanted: EmbeddingSpaceId, clock: Clock) -> EmbeddingSpace:
    """Create and activate the first space of a database, or return the one that another process has created."""
    with connection.cursor() as cursor:
        # There may be no row yet that could be locked.
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [FIRST_SPACE_LOCK])
    # Another process may have been first while this one waited.
    return active_space() or space_activate(space=space_get_or_create(wanted, clock=clock), clock=clock)
