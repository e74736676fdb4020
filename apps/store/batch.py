"""Several operations in order, in one transaction; and what becomes of items in the background."""

from collections.abc import Sequence
from itertools import groupby

from django.conf import settings
from django.db import transaction

from apps.core.db.memberships import WriteScopes, ties_make
from apps.core.db.user_locks import hold_users
from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.errors import ForbiddenError, InvalidInputError, NotFoundError, UnavailableError
from apps.core.domain.scope import Access, Permission, Scope
from apps.core.pauses import require_saving
from apps.llm.domain.embedder import EmbeddingError, TextRole
from apps.llm.services import EmbeddingSpaceMismatchError, configured_space, embed_texts
from apps.store.domain.operations import MAX_TEXTS, Get, ListNamespaces, Namespace, Operation, Put, Search
from apps.store.items import Embedded, OwnItems
from apps.store.models import StoreItem

Found = list[tuple[StoreItem, float | None]]
Result = StoreItem | Found | list[Namespace] | None
AT_ONCE = 256


def store_run(
    *, access: Access, scope: Scope, operations: Sequence[Operation], clock: Clock = SYSTEM_CLOCK
) -> list[Result]:
    """Do operations in order, all or none, and return the result of each, None for a `Put`.

    They are about the items of one owner: the one that the scope, the key or the configuration names, with no other
    household or persona than named. Raises ForbiddenError, InvalidInputError, NotFoundError where another's are read,
    PausedError, UserLockedError, and UnavailableError when no vectors can be made.
    """
    puts = [one for one in operations if isinstance(one, Put)]
    if len(puts) < len(operations) and access.for_read(scope) is None:
        raise NotFoundError("There is no such store.")
    if puts and not access.allows(Permission.WRITE):
        raise ForbiddenError("This key may only read.")
    default_user = settings.MEMORYHUB.default_user
    scopes = WriteScopes(access, default_user)
    is_keeping = any(one.value is not None for one in puts)
    owner = scopes.settle(scope) if is_keeping else access.for_removal(scope, default_user)
    assert owner.user_id is not None
    if is_keeping:
        require_saving(access, owner.user_id, clock=clock)
    embedded, now = embed(operations), utcnow(clock)
    items = OwnItems(owner, now, embedded, access.allows(Permission.WRITE))
    results: list[Result] = []
    with transaction.atomic():
        if puts:
            hold_users([owner.user_id])
            ties_make(scopes.claims, made_by=access.actor, made_at=now)
        for kind, group in groupby(operations, type):
            results += run_group(items, kind, list(group))
    return results


def run_group(items: OwnItems, kind: type[Operation], group: Sequence[Operation]) -> Sequence[Result]:
    """Do operations of one kind that follow each other."""
    if kind is Put:
        items.put(one for one in group if isinstance(one, Put))
        return [None] * len(group)
    if kind is Get:
        return items.get([one for one in group if isinstance(one, Get)])
    if kind is Search:
        return [items.search(one) for one in group if isinstance(one, Search)]
    return [items.namespaces(one) for one in group if isinstance(one, ListNamespaces)]


def embed(operations: Sequence[Operation]) -> Embedded:
    """Return the vectors that operations need; each text is embedded once. Raises UnavailableError."""
    texts = list(dict.fromkeys(text for one in operations if isinstance(one, Put) for text in one.texts))
    queries = list(dict.fromkeys(one.query for one in operations if isinstance(one, Search) and one.query))
    if len(texts) + len(queries) > MAX_TEXTS:
        raise InvalidInputError(f"Too many texts: at most {MAX_TEXTS} in all.", attr="operations", code="max_length")
    if not texts and not queries:
        return Embedded()
    try:
        return Embedded(
            configured_space(),
            dict(zip(texts, embed_texts(texts), strict=True)),
            dict(zip(queries, embed_texts(queries, TextRole.QUERY), strict=True)),
        )
    except EmbeddingSpaceMismatchError as error:
        raise UnavailableError(str(error), retry_after=60, code="embedding_space_mismatch") from error
    except EmbeddingError as error:
        raise UnavailableError("The embedding model does not answer.", code="embedding_unavailable") from error


def store_clear(*, clock: Clock = SYSTEM_CLOCK) -> int:
    """Remove what has expired, and return how many items that were. One that is being read or written is left."""
    removed = 0
    while True:
        with transaction.atomic():
            expired = StoreItem.objects.filter(expires_at__lte=utcnow(clock)).order_by("pk")
            keys = list(expired.select_for_update(skip_locked=True).values_list("pk", flat=True)[:AT_ONCE])
            StoreItem.objects.filter(pk__in=keys).delete()
        if not keys:
            return removed
        removed += len(keys)


def store_reembed() -> int:
    """Make the vectors of items whose texts have none in the active space, and return of how many items.

    Does nothing while the configured model makes vectors of another space, until `manage.py reembed` has changed it.
    """
    if not StoreItem.objects.exclude(texts=[]).exists():
        return 0
    try:
        space = configured_space()
    except EmbeddingSpaceMismatchError:
        return 0
    made, last = 0, 0
    outdated = StoreItem.objects.exclude(texts=[]).exclude(space=space).order_by("pk")
    while rows := list(outdated.filter(pk__gt=last).defer("vectors", "value")[:AT_ONCE]):
        last = rows[-1].pk
        for row in rows:
            vectors = list(embed_texts(row.texts))
            # Unless it was written since.
            same = StoreItem.objects.filter(pk=row.pk, updated_at=row.updated_at)
            made += same.update(space=space, vectors=vectors)
    return made
