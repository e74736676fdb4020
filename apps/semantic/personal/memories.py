"""Memories in exports and imports, with their vectors and their history."""

import binascii
from base64 import b64decode, b64encode
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any
from uuid import UUID

import numpy as np
from django.db import connection, transaction
from django.db.models import Q, QuerySet
from psycopg import Cursor

from apps.core.db.memberships import ties_of_import
from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.filters.expression import EVERYTHING
from apps.core.personal.columns import Columns, next_ids
from apps.core.personal.erase import ROWS_AT_ONCE
from apps.core.personal.store import ExportRequest, Line, LineError, PersonalStore
from apps.core.steps import Step, no_step
from apps.llm.selectors import EmbeddingSpace, active_space
from apps.retrieval.domain.content import content_hash
from apps.semantic.domain.filters import MEMORY_FIELDS
from apps.semantic.index.cache import index_cache
from apps.semantic.index.snapshots import snapshots_remove, snapshots_with
from apps.semantic.models import (
    Conflict,
    Ingestion,
    JudgedPair,
    Memory,
    MemoryEmbedding,
    MemoryRevision,
    MemoryShard,
    MemoryStatus,
    RecallCheck,
)
from apps.semantic.models.filters import memory_condition
from apps.semantic.store.embedding_space import Vector, embed, hold_space, with_current_space
from apps.semantic.store.rows import word_columns
from apps.semantic.store.unit_of_work import (
    copy_rows,
    copy_values,
    copy_vectors,
    know_vectors,
    lock_shards,
    shard_end,
    take_shards,
)

MEMORY, LINK = "memory", "memory_link"
AT_ONCE = 500
# What is made of the words, and how often a row of this hub was changed.
DERIVED = ("content_hash", "lexemes", "question_share", "fullness", "lexemes_version", "version")
FLOAT32 = np.dtype("<f4")


def asked_memories(asked: ExportRequest) -> QuerySet[Memory]:
    """Return the memories of an export."""
    found = Memory.objects.in_scope(asked.scope)
    where = asked.where("memories")
    return found if where == EVERYTHING else found.filter(memory_condition(where, utcnow(SYSTEM_CLOCK)))


def among(asked: ExportRequest, *names: str) -> Q:
    """Return the condition that each of these references is nothing, or a memory of the export."""
    if asked.where("memories") == EVERYTHING:
        return Q()
    memories, both = asked_memories(asked).values("pk"), Q()
    for name in names:
        both &= Q(**{name: None}) | Q(**{f"{name}__in": memories})
    return both


@dataclass
class LoadedMemory:
    """A memory that is to be loaded, its history, and its vector where the line has one of the active space.

    history: the values of each step, in the order of the columns of `MemoryReader`.
    """

    row: Memory
    history: list[tuple[Any, ...]]
    vector: Vector | None
    is_given: bool


@dataclass
class MemoryReader:
    """Makes rows of lines."""

    space: EmbeddingSpace
    memories: Columns = field(default_factory=lambda: Columns(Memory, DERIVED))
    revisions: Columns = field(default_factory=lambda: Columns(MemoryRevision))

    def read(self, line: Line) -> LoadedMemory:
        """Return what a line says. Raises ValueError."""
        values = self.memories.read(line, further=("history", "embedding"))
        row = Memory(**values, content_hash=content_hash(values["content"]))
        for name, value in word_columns(row.content, row.keywords, row.context, row.occurred_at).items():
            setattr(row, name, value)
        steps = line.get("history", [])
        if not isinstance(steps, list):
            raise ValueError("history is invalid")
        history = [tuple(self.revisions.read(step).values()) for step in steps]
        vector, is_given = self.vector_of(line.get("embedding"))
        return LoadedMemory(row, history, vector, is_given)

    def vector_of(self, embedding: Any) -> tuple[Vector | None, bool]:
        """Return the vector of a line if it is of the active space, and whether its writer had sent it."""
        if embedding is None:
            return None, False
        try:
            if (embedding["model"], embedding["dimension"]) != (self.space.model, self.space.dimension):
                return None, False
            vector = np.frombuffer(b64decode(embedding["vector"], validate=True), dtype=FLOAT32)
            is_given = bool(embedding["is_given"])
        except (KeyError, TypeError, binascii.Error, ValueError) as error:
            raise ValueError("embedding is invalid") from error
        if len(vector) != self.space.dimension or not np.isfinite(vector).all():
            raise ValueError(f"embedding must have {self.space.dimension} numbers")
        return vector.astype(np.float32), is_given


class MemoryStore(PersonalStore):
    """Memories with their vectors and their history, and what is kept of their indexes."""

    name = "memories"
    order = 20
    models = (Memory, MemoryEmbedding, MemoryRevision, MemoryShard, RecallCheck)
    kinds = (MEMORY, LINK)
    filter_fields = MEMORY_FIELDS

    def export(self, asked: ExportRequest) -> Iterator[Line]:
        """Yield memories in the order in which they were saved, then what supersedes which."""
        memories, steps, space = Columns(Memory, DERIVED), Columns(MemoryRevision), active_space()
        rows = asked_memories(asked).order_by("pk").defer(*DERIVED)
        found = rows.iterator(chunk_size=AT_ONCE)
        while part := {row.pk: row for row in islice(found, AT_ONCE)}:
            history = defaultdict[int, list[Line]](list)
            revisions = MemoryRevision.objects.filter(memory__in=list(part)).order_by("id")
            for key, *values in revisions.values_list("memory_id", *steps.names):
                history[key].append(steps.json_values(values))
            vectors = {} if space is None else read_vectors(part, space, only_given=not asked.with_vectors)
            for key, row in part.items():
                line: Line = {"kind": MEMORY, **memories.values(row), "history": history.get(key, [])}
                if key in vectors:
                    line["embedding"] = vectors[key]
                yield line
        links = rows.filter(among(asked, "superseded_by"), superseded_by__isnull=False)
        for uuid, by, status in links.values_list("uuid", "superseded_by__uuid", "status").iterator(AT_ONCE):
            yield {"kind": LINK, "memory": str(uuid), "superseded_by": str(by), "status": status}

    def load(self, lines: Sequence[Line]) -> int:
        """Write memories that the hub does not have, or what supersedes them."""
        if lines[0]["kind"] == LINK:
            return load_links(lines)
        return with_current_space(lambda space: load_memories(lines, space))

    def count(self, user_id: str) -> int:
        return Memory.objects.filter(user_id=user_id).count()

    def forget(self, user_id: str, step: Step = no_step) -> Iterator[int]:
        while count := forget_memories(user_id):
            step("memories: part")
            yield count
        delete_raw(RecallCheck.objects.filter(user_id=user_id))
        snapshots_remove(user_id)
        step("memories: snapshots")
        shard_end(user_id)
        yield 0

    def find(self, user_id: str) -> Iterator[str]:
        if Memory.objects.filter(user_id=user_id).exists():
            yield "semantic_memory"
        if MemoryShard.objects.filter(user_id=user_id).exists():
            yield "semantic_memoryshard"
        if RecallCheck.objects.filter(user_id=user_id).exists():
            yield "semantic_recallcheck"
        yield from (f"semantic-index/{path.name}" for path in snapshots_with(user_id))

    def drop_caches(self) -> None:
        index_cache().drop_forgotten()


def read_vectors(keys: Collection[int], space: EmbeddingSpace, *, only_given: bool) -> dict[int, Line]:
    """Return the vectors of memories as a line has them, by primary keys: 32-bit floats, lowest byte first, in Base64.

    They are read in binary: as text, a vector takes longer than all the rest of its line.
    """
    statement = f"""
        SELECT memory_id, is_given, vector FROM semantic_memoryembedding
        WHERE memory_id = ANY(%s) AND space_id = %s {"AND is_given" if only_given else ""}
    """  # noqa: S608
    know_vectors()
    with connection.wrap_database_errors, Cursor(connection.connection) as cursor:
        cursor.execute(statement, [list(keys), space.pk], binary=True)
        return {
            key: {
                "model": space.model,
                "dimension": space.dimension,
                "is_given": is_given,
                "vector": b64encode(vector.to_numpy().astype(FLOAT32, copy=False).tobytes()).decode(),
            }
            for key, is_given, vector in cursor
        }


def stored_uuids(uuids: Collection[UUID]) -> set[UUID]:
    """Return which of these memories are in the hub."""
    return set(Memory.objects.filter(uuid__in=uuids).values_list("uuid", flat=True))


def load_memories(lines: Sequence[Line], space: EmbeddingSpace) -> int:
    """Write the memories that the hub does not have, with vectors of a space. Return how many."""
    reader, uuids = MemoryReader(space), [uuid_at(place, line, "uuid") for place, line in enumerate(lines)]
    known, loaded = stored_uuids(uuids), dict[UUID, LoadedMemory]()
    for place, (uuid, line) in enumerate(zip(uuids, lines, strict=True)):
        try:
            if uuid not in known:
                loaded.setdefault(uuid, reader.read(line))
        except ValueError as error:
            raise LineError(place, str(error)) from error
    if not loaded:
        return 0
    missing = [one for one in loaded.values() if one.vector is None]
    if missing:
        for one, vector in zip(missing, embed([one.row.content for one in missing]), strict=True):
            one.vector = vector
    versions = lock_shards(one.row.user_id for one in loaded.values())
    hold_space(space)
    arrived = stored_uuids(loaded)  # by another import, while vectors were made
    new = [one for uuid, one in loaded.items() if uuid not in arrived]
    for one, pk in zip(new, next_ids(Memory, len(new)), strict=True):
        one.row.pk, one.row.version = pk, versions[one.row.user_id]
    copy_rows(Memory, [one.row for one in new], with_id=True)
    copy_vectors(
        [MemoryEmbedding(memory=one.row, space=space, vector=one.vector, is_given=one.is_given) for one in new]
    )
    fields = [MemoryRevision._meta.get_field("memory"), *Columns(MemoryRevision).fields]
    copy_values(MemoryRevision, fields, ((one.row.pk, *step) for one in new for step in one.history))
    ties_of_import(one.row.scope for one in new)
    return len(new)


def load_links(lines: Sequence[Line]) -> int:
    """Write what supersedes memories, where that is not said and their status is still the one of the line."""
    pairs = [(uuid_at(at, line, "memory"), uuid_at(at, line, "superseded_by")) for at, line in enumerate(lines)]
    rows = Memory.objects.filter(uuid__in={uuid for pair in pairs for uuid in pair})
    found = {row.uuid: row for row in rows.only("uuid", "user_id")}
    for place, pair in enumerate(pairs):
        if not found.keys() >= set(pair):
            raise LineError(place, "it names a memory that is neither in the hub nor in the lines before")
    status = {memory: line.get("status") for (memory, _), line in zip(pairs, lines, strict=True)}
    unsaid = Memory.objects.filter(uuid__in=status, superseded_by=None).exclude(status=MemoryStatus.ACTIVE)
    users = set(unsaid.values_list("user_id", flat=True))
    versions = lock_shards(users) if users else {}
    by = dict(pairs)
    changed = [row for row in unsaid.filter(user_id__in=users) if row.status == status[row.uuid]]
    for row in changed:
        row.superseded_by_id, row.version = found[by[row.uuid]].pk, versions[row.user_id]
    Memory.objects.bulk_update(changed, ["superseded_by", "version"])
    return len(changed)


def uuid_at(place: int, line: Line, name: str) -> UUID:
    """Return an id that a line names. Raises LineError."""
    value = line.get(name)
    try:
        if isinstance(value, str):
            return UUID(value)
    except ValueError:
        pass
    raise LineError(place, f"{name} is not an id")


@transaction.atomic
def forget_memories(user_id: str) -> int:
    """Delete some memories with everything that refers to them, and return how many."""
    keys = list(Memory.objects.filter(user_id=user_id).order_by("pk").values_list("pk", flat=True)[:ROWS_AT_ONCE])
    if not keys:
        return 0
    version = take_shards([user_id])[user_id]
    part = Memory.objects.filter(pk__in=keys)
    Memory.objects.filter(superseded_by__in=keys).update(superseded_by=None)
    touched = Q(candidate__in=keys) | Q(existing__in=keys)
    delete_raw(JudgedPair.objects.filter(touched))
    delete_raw(Ingestion.objects.filter(memory__in=keys))
    receipts = Conflict.objects.filter(touched | Q(result__in=keys))
    Conflict.objects.filter(about__in=receipts).update(about=None)
    delete_raw(JudgedPair.objects.filter(notice__in=receipts))
    delete_raw(receipts)
    delete_raw(MemoryRevision.objects.filter(memory__in=keys))
    delete_raw(MemoryEmbedding.objects.filter(memory__in=keys))
    delete_raw(part)
    MemoryShard.objects.filter(user_id=user_id).update(reset_version=version)
    return len(keys)


def delete_raw(rows: QuerySet[Any]) -> None:
    """Delete rows without loading them."""
    rows._raw_delete(rows.db)
