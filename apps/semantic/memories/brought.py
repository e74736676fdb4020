"""What was known before it was brought from elsewhere, and undoing what bringing it decided."""

from collections.abc import Collection, Sequence
from contextlib import suppress

from django.conf import settings
from django.db import transaction

from apps.core.db.memberships import WriteScopes
from apps.core.domain.clock import SYSTEM_CLOCK, Clock
from apps.core.domain.errors import ConflictError, MemoryHubError, NotFoundError
from apps.core.domain.scope import Access
from apps.retrieval.domain.content import content_hash
from apps.semantic.conflicts.review import conflict_revert
from apps.semantic.domain.duplicates import DatedKey
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.memories.known import confirmed_of, memories_learnt
from apps.semantic.models import BY_RULES, Conflict, Memory, MemoryRevision, ReviewState, RevisionAction
from apps.semantic.store.rows import draft_key, find_duplicates


def memories_stored(
    *, access: Access, drafts: Sequence[MemoryDraft], actors: Collection[str]
) -> list[str | MemoryHubError | None]:
    """Return for each draft who saved the memory that says it already; None where there is none. Changes nothing.

    That is an active duplicate, or one of that moment that lost to another. What one of `actors` saved once counts
    whatever became of it since, also where it was deleted: to bring it again is not to say it again. A draft that must
    not be saved has its error.
    """
    scopes = WriteScopes(access, settings.MEMORYHUB.default_user)
    keys: list[DatedKey | MemoryHubError] = []
    for draft in drafts:
        try:
            scope = scopes.settle(draft.scope)
        except MemoryHubError as error:
            keys.append(error)
        else:
            keys.append((draft_key(draft, scope, content_hash(draft.content)), draft.occurred_at))
    wanted = {key for key in keys if not isinstance(key, MemoryHubError)}
    active, decided = find_duplicates(wanted)
    users, hashes = {key.user_id for key, _ in wanted}, {key.content_hash for key, _ in wanted}
    made = MemoryRevision.objects.filter(action=RevisionAction.CREATED, actor__in=actors)
    brought = made.filter(memory__user_id__in=users, memory__content_hash__in=hashes)
    before = {
        (hash_, moment): actor
        for hash_, moment, actor in brought.values_list("memory__content_hash", "memory__occurred_at", "actor")
    }
    rows = {key: decided.get(key) or active.get(key) for key in wanted}
    writers = writers_of([row for row in rows.values() if row is not None])
    answers: list[str | MemoryHubError | None] = []
    for key in keys:
        if isinstance(key, MemoryHubError):
            answers.append(key)
        elif (row := rows[key]) is not None:
            answers.append(writers.get(row.pk, ""))
        else:
            answers.append(before.get((key[0].content_hash, key[1])))
    return answers


def writers_of(memories: Collection[Memory]) -> dict[int, str]:
    """Return who saved each memory, by its key."""
    made = MemoryRevision.objects.filter(memory__in=memories, action=RevisionAction.CREATED)
    return dict(made.order_by("-id").values_list("memory", "actor"))


def decisions_take_back(*, access: Access, actors: Collection[str], clock: Clock = SYSTEM_CLOCK) -> int:
    """Revert what rules decided when these actors saved something, the newest first. Return how many decisions.

    What a person has reviewed since stays, what has changed since, and what is about a memory of theirs that someone
    else has confirmed.
    """
    confirmed = confirmed_of(memories_learnt(access, actors)).values("pk")
    mine = (
        Conflict.objects.visible_to(access)
        .in_force()
        .filter(actor__in=actors, origin__in=BY_RULES, state=ReviewState.OPEN)
    )
    made = mine.exclude(candidate__in=confirmed).exclude(result__in=confirmed).order_by("-id")
    reverted = 0
    for uuid in list(made.values_list("uuid", flat=True)):
        with suppress(ConflictError, NotFoundError), transaction.atomic():
            conflict_revert(access=access, uuid=uuid, clock=clock)
            reverted += 1
    return reverted
