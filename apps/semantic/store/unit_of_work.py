"""All changes that one transaction makes to memories, collected and written at its end.

Callers say how memories change; rows, vectors, history, receipts and events follow from that here, so that none of
them can be forgotten.
"""

import weakref
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from functools import partial
from itertools import chain
from operator import attrgetter
from typing import Any
from uuid import UUID

import psycopg
from django.contrib.postgres.fields import ArrayField
from django.db import IntegrityError, InterfaceError, OperationalError, connection, models, transaction
from pgvector import Vector as PgVector
from pgvector.psycopg import register_vector
from psycopg import Connection, Copy, sql
from psycopg.types.json import Jsonb

from apps.core.db.offsets import OffsetField
from apps.core.db.user_locks import hold_users
from apps.core.domain.clock import Clock, utcnow
from apps.core.domain.errors import UnavailableError
from apps.core.personal.columns import next_ids
from apps.events.domain.payload import EventPayload
from apps.events.services import emit_many
from apps.llm.selectors import EmbeddingSpace
from apps.semantic.domain.duplicates import DatedKey
from apps.semantic.domain.state import MemoryState, Transition
from apps.semantic.events import MemoryDeleted, MemoryReinforced, MemorySaved, MemoryStatusChanged, SaveAction
from apps.semantic.models import (
    Conflict,
    Memory,
    MemoryEmbedding,
    MemoryRevision,
    MemoryShard,
    MemoryStatus,
    RevisionAction,
)
from apps.semantic.store.rows import Vector, dated_key

STATE_FIELDS = ("status", "superseded_by", "status_changed_at")
# The last defence against two active memories that say the same, see `Memory`.
ACTIVE_ONCE = "semantic_memory_active_once"
SAVED_AGAIN = partial(MemorySaved, action=SaveAction.UPDATED)


# A user who was forgotten and comes back begins above every version that a process may still know of them, and what it
# knows has to be loaded again.
_LOCK_SHARDS = """
INSERT INTO semantic_memoryshard (user_id, version, reset_version)
SELECT u, ended + 1, CASE WHEN ended > 0 THEN ended + 1 ELSE 0 END
FROM unnest(%s::text[]) AS u, (SELECT coalesce(max(version), 0) AS ended FROM semantic_endedshards) AS last
ON CONFLICT (user_id) DO UPDATE SET version = semantic_memoryshard.version + 1
RETURNING user_id, version
"""
# Connections that read and write vectors in binary.
_with_vectors: "weakref.WeakSet[Connection[Any]]" = weakref.WeakSet()


def lock_shards(users: Iterable[str]) -> Mapping[str, int]:
    """Queue this transaction behind the other writers of each user. Return the versions that its changes carry.

    Raises UserLockedError for a user who is being forgotten.
    """
    # Sorted, so that two transactions never wait for each other.
    names = sorted(set(users))
    hold_users(names)
    return take_shards(names)


def take_shards(names: Sequence[str]) -> dict[str, int]:
    """Lock shards, raise their versions and return them."""
    with connection.cursor() as cursor:
        cursor.execute(_LOCK_SHARDS, [list(names)])
        return dict(cursor.fetchall())


@transaction.atomic
def shard_end(user: str) -> None:
    """Remove the row of a user who has no memories any more. Nothing but its version is kept."""
    shard = MemoryShard.objects.select_for_update().filter(user_id=user).first()
    if shard is None:
        return
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO semantic_endedshards (id, version) VALUES (1, %s) "
            "ON CONFLICT (id) DO UPDATE SET version = greatest(semantic_endedshards.version, excluded.version)",
            [shard.version],
        )
    shard.delete()


def state_of(memory: Memory) -> MemoryState:
    """Return the current state of a memory."""
    by = memory.superseded_by
    return MemoryState(str(memory.status), by.uuid if by else None, memory.status_changed_at)


@dataclass
class UnitOfWork:
    """The changes of one transaction.

    versions: of the locked shards, by user (see `lock_shards`). enriched: the ids of memories whose details changed.
    """

    actor: str
    now: datetime
    versions: Mapping[str, int]
    events: list[EventPayload] = field(default_factory=list)
    receipts: list[Conflict] = field(default_factory=list)
    rows: dict[int, Memory] = field(default_factory=dict)
    inserted: list[Memory] = field(default_factory=list)
    embeddings: list[MemoryEmbedding] = field(default_factory=list)
    changed: dict[int, tuple[Memory, set[str]]] = field(default_factory=dict)
    revisions: list[MemoryRevision] = field(default_factory=list)
    enriched: set[str] = field(default_factory=set)

    def attach(self, memory: Memory) -> Memory:
        """Return the one object that represents a stored memory here: only that one has the changes made so far."""
        return self.rows.setdefault(memory.pk, memory)

    def insert(
        self,
        memory: Memory,
        space: EmbeddingSpace,
        vector: Vector,
        *,
        is_given: bool,
        reason: str,
        receipt: UUID | None = None,
    ) -> None:
        """Add a memory as it is, with its vector of a space. receipt: of the decision that it arrives with."""
        memory.version = self.versions[memory.user_id]
        self.inserted.append(memory)
        self.embeddings.append(MemoryEmbedding(memory=memory, space=space, vector=vector, is_given=is_given))
        self.record(memory, RevisionAction.CREATED, {}, reason=reason, conflict=receipt)
        if memory.status == MemoryStatus.ACTIVE:
            self.emit(memory, MemorySaved, action=SaveAction.INSERTED)

    def update(
        self,
        memory: Memory,
        after: Mapping[str, Any],
        *,
        action: RevisionAction = RevisionAction.UPDATED,
        changes: Mapping[str, Any] | None = None,
        reason: str = "",
        event: Callable[..., EventPayload] = SAVED_AGAIN,
    ) -> None:
        """Set fields of a memory. changes: for its history, where that is not just the values before and after."""
        before = {name: [getattr(memory, name), value] for name, value in after.items()}
        for name, value in after.items():
            setattr(memory, name, value)
        self.touch(memory, after)
        self.record(memory, action, before if changes is None else changes, reason=reason)
        self.emit(memory, event)

    def reinforce(self, memory: Memory, *, reason: str = "") -> None:
        """Restart the decay of a memory. reason: for its history, in one word."""
        moments = [moment.isoformat() if moment else None for moment in (memory.last_reinforced_at, self.now)]
        self.update(
            memory,
            {"last_reinforced_at": self.now},
            action=RevisionAction.REINFORCED,
            changes={"last_reinforced_at": moments},
            reason=reason,
            event=MemoryReinforced,
        )

    def delete(self, memory: Memory, *, reason: str) -> None:
        """Soft-delete a memory. reason: for its history, in one word."""
        self.update(
            memory,
            {"status": MemoryStatus.DELETED, "status_changed_at": self.now},
            action=RevisionAction.DELETED,
            changes={"status": [memory.status, MemoryStatus.DELETED.value]},
            reason=reason,
            event=MemoryDeleted,
        )

    def note_details(
        self,
        memory: Memory,
        changes: Mapping[str, list[Any]],
        fields: Iterable[str],
        *,
        reason: str,
        receipt: UUID | None = None,
    ) -> None:
        """Note changed details of a memory (see `store.details`). fields: all that were set."""
        self.touch(memory, fields)
        self.enriched.add(str(memory.uuid))
        self.record(memory, RevisionAction.UPDATED, changes, reason=reason, conflict=receipt)
        if memory.status == MemoryStatus.ACTIVE:
            self.emit(memory, SAVED_AGAIN)

    def change_status(
        self,
        memory: Memory,
        status: MemoryStatus,
        by: Memory | None,
        *,
        action: RevisionAction,
        receipt: UUID,
        since: datetime | None = None,
        reason: str = "",
    ) -> Transition:
        """Change the state of a memory by a decision, or put back an earlier state, which began at `since`."""
        before = state_of(memory)
        memory.status, memory.superseded_by, memory.status_changed_at = status, by, since
        after = state_of(memory)
        self.touch(memory, STATE_FIELDS)
        old, new = before.as_json(), after.as_json()
        differences = {name: [old[name], new[name]] for name in ("status", "superseded_by") if old[name] != new[name]}
        self.record(memory, action, differences, reason=reason, conflict=receipt)
        if status == MemoryStatus.DELETED:
            self.emit(memory, MemoryDeleted)
        else:
            self.emit(
                memory,
                MemoryStatusChanged,
                status=after.status,
                superseded_by=after.superseded_by,
                conflict_id=receipt,
            )
        return Transition(memory.uuid, before, after)

    def touch(self, memory: Memory, fields: Iterable[str]) -> None:
        """Note changed fields of a memory, to be written at the end."""
        memory.updated_at, memory.version = self.now, self.versions[memory.user_id]
        if memory.pk is not None:  # else it was inserted by this very transaction, and is written with the rest
            _, known = self.changed.setdefault(memory.pk, (memory, set()))
            known.update(fields, ("updated_at", "version"))
            if "occurred_at" in known:
                known.add("occurred_offset")

    def find_pending_duplicate(self, key: DatedKey, exclude: Collection[Memory]) -> Memory | None:
        """Return the active memory with a key among those inserted or changed, which are not written yet."""
        pending = chain(self.inserted, (memory for memory, _ in self.changed.values()))
        others = (one for one in pending if one.status == MemoryStatus.ACTIVE and one not in exclude)
        return next((one for one in others if dated_key(one) == key), None)

    def record(
        self,
        memory: Memory,
        action: RevisionAction,
        changes: Mapping[str, Any],
        *,
        reason: str = "",
        conflict: UUID | None = None,
    ) -> None:
        """Add a step to the history of a memory."""
        self.revisions.append(
            MemoryRevision(
                memory=memory,
                action=action,
                reason=reason,
                actor=self.actor,
                at=self.now,
                changes=dict(changes),
                conflict=conflict,
            )
        )

    def emit(self, memory: Memory, event: Callable[..., EventPayload], **fields: Any) -> None:
        """Notify subscribers of a change of a memory once the transaction is committed. event: its payload class."""
        self.events.append(
            event(
                memory_id=memory.uuid,
                user_id=memory.user_id,
                household_id=memory.household_id or None,
                persona_id=memory.persona_id or None,
                actor=self.actor,
                at=self.now,
                **fields,
            )
        )

    def write(self) -> None:
        """Write everything. Raises UnavailableError when two active memories would say the same: nothing is kept.

        Changed rows go first: an inserted one may have the content that one of them had.
        """
        if self.inserted:  # rising in their order, so that others can refer to them before they are inserted
            for memory, pk in zip(self.inserted, next_ids(Memory, len(self.inserted)), strict=True):
                memory.pk, memory._state.adding = pk, False
        try:
            for memory, fields in self.changed.values():
                memory.superseded_by = memory.superseded_by  # takes over an id that it has only now
                memory.save(update_fields=fields)
            for memory in self.inserted:
                memory.superseded_by = memory.superseded_by  # by another one of them
            copy_rows(Memory, self.inserted, with_id=True)
        except IntegrityError as error:
            cause = error.__cause__
            if not isinstance(cause, psycopg.Error) or cause.diag.constraint_name != ACTIVE_ONCE:
                raise
            raise UnavailableError("Another request has just saved the same memory.", retry_after=1) from error
        for revision in self.revisions:
            revision.memory_id = revision.memory.pk
        copy_vectors(self.embeddings)
        copy_rows(MemoryRevision, self.revisions, with_id=False)
        for receipt in self.receipts:  # may point at memories and receipts that had no id when it was made
            receipt.candidate, receipt.existing = receipt.candidate, receipt.existing
            receipt.result, receipt.about = receipt.result, receipt.about
        Conflict.objects.bulk_create(self.receipts)
        emit_many(self.events)


@contextmanager
def unit_of_work(user: str, *, actor: str, clock: Clock) -> Iterator[UnitOfWork]:
    """Lock the shard of a user in a transaction of its own, and write the collected changes at its end.

    Read inside the block what the changes depend on: only there no other writer of the user is active.
    """
    with transaction.atomic():
        versions = lock_shards([user])
        unit = UnitOfWork(actor, utcnow(clock), versions)
        yield unit
        unit.write()


# Rows are inserted through COPY: a save of 500 memories spends its time on embedding, not on SQL text.


def copy_rows(model: type[models.Model], rows: Sequence[models.Model], *, with_id: bool) -> None:
    """Insert rows. with_id: they have their ids already."""
    if not rows:
        return
    fields = [column for column in model._meta.concrete_fields if with_id or not column.primary_key]
    for column in fields:
        if isinstance(column, OffsetField):
            for row in rows:
                column.pre_save(row, add=True)
    copy_values(model, fields, map(attrgetter(*(column.attname for column in fields)), rows))


def copy_values(
    model: type[models.Model], fields: "Sequence[models.Field[Any, Any]]", rows: Iterable[Sequence[Any]]
) -> None:
    """Insert rows of values of these columns, without instances of the model."""
    columns = sql.SQL(", ").join(sql.Identifier(str(column.column)) for column in fields)
    statement = sql.SQL("COPY {} ({}) FROM STDIN").format(sql.Identifier(model._meta.db_table), columns)
    # What psycopg would write as another type.
    adapters: list[tuple[int, Callable[[Any], Any]]] = []
    for place, column in enumerate(fields):
        if isinstance(column, models.JSONField | ArrayField):
            adapters.append((place, Jsonb if isinstance(column, models.JSONField) else list))
    with copy_into(statement) as copy:
        for row in rows:
            values = [value.value if isinstance(value, Enum) else value for value in row]
            for place, adapt in adapters:
                values[place] = adapt(values[place])
            copy.write_row(values)


@contextmanager
def copy_into(statement: sql.Composable) -> Iterator[Copy]:
    """Yield a COPY into a table. Raises what Django's cursors do; OperationalError where the connection was lost.

    Of a connection that ends within a COPY, psycopg may say as well that there are two answers (ValueError), or that
    the statement is not allowed just now (ProgrammingError).
    """
    raw = connection.connection
    try:
        with connection.wrap_database_errors, raw.cursor().copy(statement) as copy:
            yield copy
    except (OperationalError, InterfaceError):
        raise
    except Exception as error:
        if raw.closed:
            raise OperationalError("The connection was lost within a COPY.") from error
        raise


def copy_vectors(embeddings: Sequence[MemoryEmbedding]) -> None:
    """Insert vectors of memories that are inserted already."""
    if not embeddings:
        return
    know_vectors()
    table = sql.Identifier(MemoryEmbedding._meta.db_table)
    statement = sql.SQL("COPY {} (memory_id, space_id, is_given, vector) FROM STDIN (FORMAT BINARY)").format(table)
    with copy_into(statement) as copy:
        copy.set_types(["int8", "int8", "bool", "vector"])
        for row in embeddings:
            copy.write_row((row.memory.pk, row.space.pk, row.is_given, PgVector(row.vector)))


def know_vectors() -> None:
    """Have the connection of this thread read and write vectors in binary.

    Once for each connection: registering asks the database, and makes classes that psycopg keeps for good.
    """
    connection.ensure_connection()
    raw = connection.connection
    if raw not in _with_vectors:
        with connection.wrap_database_errors:
            register_vector(raw)
        _with_vectors.add(raw)
