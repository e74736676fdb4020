"""How much a key learnt of a person; forgetting all of it, in parts, and undoing that as a whole."""

import logging
from collections.abc import Collection
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction
from django_q.tasks import async_task

from apps.core.db.user_locks import hold_users
from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.errors import ConflictError, MemoryHubError, NotFoundError, UnavailableError
from apps.core.domain.origin import WriteOrigin
from apps.core.domain.scope import Access, Permission, Scope
from apps.core.models import ApiKey
from apps.core.pauses import PERSON
from apps.core.selectors import actors_of
from apps.episodic.services import events_written, events_written_remove
from apps.people.models import OPEN_FORGETTINGS, AppForgetting, ForgettingState
from apps.semantic.services import Selection, confirmed_of, memories_delete, memories_learnt, memory_restore

TASK = "apps.people.tasks.forget_learnt"
# Memories that are forgotten or brought back at a time; each part is committed with its progress.
CHUNK = 100
# What is done at once, in the request itself.
FEW = 200
logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class LearntCounts:
    """Memories that would be forgotten, and those that stay: others confirmed them since, or a source manages them.

    events: that would be removed for good; None where the timeline cannot be read now.
    """

    memories: int
    confirmed: int
    managed: int
    events: int | None


def learnt_counts(access: Access, user_id: str, actors: Collection[str]) -> LearntCounts:
    """Count what these actors wrote of a user. Reads all events of the user."""
    found = memories_learnt(access, actors)
    managed = found.exclude(managed_by="").count()
    confirmed = confirmed_of(found).count()
    events: int | None
    try:
        events = sum(1 for _ in events_written(access, user_id, actors))
    except UnavailableError:
        events = None
    return LearntCounts(found.count() - managed - confirmed, confirmed, managed, events)


def access_of(user_id: str) -> Access:
    """Return what a person may do on their own pages."""
    return Access(Scope(user_id), Permission.WRITE, f"{PERSON}{user_id}", origin=WriteOrigin.PERSON)


def learnt_forget(*, user_id: str, key: ApiKey, clock: Clock = SYSTEM_CLOCK) -> AppForgetting:
    """Begin to forget all that a key learnt of a user until now. Return the record of it, also one that goes on.

    Memories are forgotten as a person forgets one, and can be brought back; events are removed for good. Memories that
    a person or another key has confirmed since, and those of sources of knowledge, stay. Few are forgotten at once,
    many in the background.
    """
    now, actors = utcnow(clock), sorted(actors_of(key))
    counts = learnt_counts(access_of(user_id), user_id, actors)
    with transaction.atomic():
        hold_users([user_id])
        record, is_new = AppForgetting.objects.get_or_create(
            user_id=user_id,
            key=key.uuid,
            state__in=OPEN_FORGETTINGS,
            defaults={
                "state": ForgettingState.WAITING,
                "key_name": key.name,
                "actors": actors,
                "requested_at": now,
                "until": now,
                "memories_found": counts.memories,
                "kept": counts.confirmed + counts.managed,
            },
        )
    if is_new:
        if counts.memories <= FEW and counts.events == 0:
            forgetting_continue(record, clock=clock)
        else:
            async_task(TASK, task_name="people: forget what an app learnt", save=False)
        record.refresh_from_db()
    return record


def learnt_restore(*, user_id: str, uuid: UUID, clock: Clock = SYSTEM_CLOCK) -> AppForgetting:
    """Bring all memories of a forgetting back, as one undo. Return its record.

    Raises NotFoundError, and ConflictError for one that goes on or was undone already.
    """
    with transaction.atomic():
        record = AppForgetting.objects.select_for_update().filter(user_id=user_id, uuid=uuid).first()
        if record is None:
            raise NotFoundError("There is no such forgetting.")
        if record.state != ForgettingState.FORGOTTEN:
            raise ConflictError("This can no longer be undone.")
        record.state = ForgettingState.RESTORING
        record.save(update_fields=["state"])
    if len(record.forgotten) <= FEW:
        forgetting_continue(record, clock=clock)
    else:
        async_task(TASK, task_name="people: bring back what an app learnt", save=False)
    record.refresh_from_db()
    return record


def forgettings_continue(*, clock: Clock = SYSTEM_CLOCK) -> int:
    """Continue every forgetting that goes on. Return how many ended; one that fails holds up no other."""
    ended = 0
    for record in AppForgetting.objects.filter(state__in=OPEN_FORGETTINGS).order_by("pk"):
        try:
            forgetting_continue(record, clock=clock)
        except MemoryHubError as error:
            logger.warning("what an app learnt could not be forgotten yet: %s", error.code)
            AppForgetting.objects.filter(pk=record.pk).update(problem=error.code[:50])
        ended += not AppForgetting.objects.filter(pk=record.pk, state__in=OPEN_FORGETTINGS).exists()
    return ended


def forgetting_continue(record: AppForgetting, *, clock: Clock = SYSTEM_CLOCK) -> None:
    """Forget what a record says, or bring it back; safe to repeat from wherever it stopped. Raises MemoryHubError."""
    if record.state == ForgettingState.RESTORING:
        restore_memories(record, clock)
        return
    AppForgetting.objects.filter(pk=record.pk, state=ForgettingState.WAITING).update(state=ForgettingState.FORGETTING)
    while forget_memories(record, clock):  # a part is committed with its progress
        pass
    # Events are removed for good. Where maintenance runs, the next run goes on.
    user_id, actors, until = record.user_id, record.actors, record.until
    report = events_written_remove(access=access_of(user_id), user_id=user_id, actors=actors, until=until, clock=clock)
    with transaction.atomic():
        held = AppForgetting.objects.select_for_update().get(pk=record.pk)
        held.events += report.events
        held.problem = "damaged" if report.damaged or report.failures else ""
        held.save(update_fields=["events", "problem"])
    finish(record, (ForgettingState.WAITING, ForgettingState.FORGETTING), ForgettingState.FORGOTTEN, clock)


def forget_memories(record: AppForgetting, clock: Clock) -> bool:
    """Forget the next memories, with the progress of it. Return whether there were any."""
    access = access_of(record.user_id)
    with transaction.atomic():
        held = AppForgetting.objects.select_for_update().get(pk=record.pk)
        learnt = memories_learnt(access, held.actors).filter(created_at__lte=held.until, managed_by="")
        found = confirmed_of(learnt, is_confirmed=False)
        chosen = list(found.values_list("uuid", flat=True)[:CHUNK])
        if not chosen:
            return False
        memories_delete(access=access, chosen=Selection(Scope(held.user_id), ids=tuple(chosen)), clock=clock)
        held.forgotten = [*held.forgotten, *chosen]
        held.save(update_fields=["forgotten"])
    return True


def restore_memories(record: AppForgetting, clock: Clock) -> None:
    """Bring back the memories of a forgetting, in parts; what changed since is left, and counted."""
    access = access_of(record.user_id)
    waiting = AppForgetting.objects.get(pk=record.pk).forgotten
    while waiting:
        with transaction.atomic():
            held = AppForgetting.objects.select_for_update().get(pk=record.pk)
            part, waiting = held.forgotten[:CHUNK], held.forgotten[CHUNK:]
            back = sum(bring_back(access, one, clock) for one in part)
            held.forgotten, held.restored, held.left = waiting, held.restored + back, held.left + len(part) - back
            held.save(update_fields=["forgotten", "restored", "left"])
    finish(record, (ForgettingState.RESTORING,), ForgettingState.RESTORED, clock)


def bring_back(access: Access, uuid: UUID, clock: Clock) -> bool:
    """Bring a memory back. Return whether it was possible: the same may have been saved since."""
    try:
        with transaction.atomic():
            memory_restore(access=access, uuid=uuid, clock=clock)
    except (ConflictError, NotFoundError):
        return False
    return True


def finish(record: AppForgetting, before: Collection[ForgettingState], state: ForgettingState, clock: Clock) -> None:
    """Note that a forgetting or its undoing has ended, unless another process has noted it and more happened since."""
    open_record = AppForgetting.objects.filter(pk=record.pk, state__in=before)
    open_record.update(state=state, finished_at=utcnow(clock))
