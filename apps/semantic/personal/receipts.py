"""Receipts of conflicts in exports and imports, and what a chat model said of their pairs."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from uuid import UUID

from django.db import transaction
from django.db.models import Model, Q

from apps.core.db.scoped import scope_filter
from apps.core.domain.filters.expression import EVERYTHING
from apps.core.personal.columns import Columns, next_ids
from apps.core.personal.erase import ROWS_AT_ONCE
from apps.core.personal.store import ExportRequest, Line, LineError, PersonalStore
from apps.core.steps import Step, no_step
from apps.semantic.models import Conflict, JudgedPair, Memory
from apps.semantic.personal.memories import AT_ONCE, among, asked_memories, delete_raw, uuid_at
from apps.semantic.store.unit_of_work import lock_shards

RECEIPT, PAIR = "receipt", "judged_pair"
MEMORIES_OF_RECEIPT = ("candidate", "existing", "result")
MEMORIES_OF_PAIR = ("candidate", "existing")
# What the rules of the hub say is not for keys with a bound, nor how often they were changed.
RULES = {"rule": {}, "rule_version": 0, "registry_version": 0}
# Nor is how the chat model was asked, and which one answered.
ASKING = {"code": "", "tries": 0, "digest": "", "answered_by": ""}


class ReceiptStore(PersonalStore):
    """Receipts of conflicts, and what a chat model said of their pairs."""

    name = "receipts"
    order = 30
    models = (Conflict, JudgedPair)
    kinds = (RECEIPT, PAIR)

    def export(self, asked: ExportRequest) -> Iterator[Line]:
        """Yield receipts in the order in which they were written, then what a model said of pairs."""
        receipts, pairs = Columns(Conflict), Columns(JudgedPair)
        hidden, asking = ({}, {}) if asked.is_operator else (RULES, ASKING)
        found = Conflict.objects.in_scope(asked.scope).filter(among(asked, *MEMORIES_OF_RECEIPT)).order_by("pk")
        for row in found.select_related("about", *MEMORIES_OF_RECEIPT).iterator(AT_ONCE):
            names = ("about", *MEMORIES_OF_RECEIPT)
            yield {"kind": RECEIPT, **receipts.values(row), **hidden, **references(row, names)}
        scope = scope_filter(asked.scope, "notice__")
        if asked.where("memories") != EVERYTHING:
            memories = asked_memories(asked).values("pk")
            scope &= Q(notice__candidate__in=memories) & Q(notice__existing__in=memories)
        judged = JudgedPair.objects.filter(scope, among(asked, *MEMORIES_OF_PAIR)).order_by("pk")
        for pair in judged.select_related("notice", *MEMORIES_OF_PAIR).iterator(AT_ONCE):
            yield {"kind": PAIR, **pairs.values(pair), **asking, **references(pair, ("notice", *MEMORIES_OF_PAIR))}

    def load(self, lines: Sequence[Line]) -> int:
        """Write receipts that the hub does not have, or answers about pairs that were not asked about here."""
        return load_pairs(lines) if lines[0]["kind"] == PAIR else load_receipts(lines)

    def count(self, user_id: str) -> int:
        return Conflict.objects.filter(user_id=user_id).count()

    def forget(self, user_id: str, step: Step = no_step) -> Iterator[int]:
        while count := forget_receipts(user_id):
            yield count

    def find(self, user_id: str) -> Iterator[str]:
        if Conflict.objects.filter(user_id=user_id).exists():
            yield "semantic_conflict"


def references(row: Model, names: Iterable[str]) -> dict[str, str | None]:
    """Return the ids of what a row refers to."""
    others = {name: getattr(row, name) for name in names}
    return {name: None if other is None else str(other.uuid) for name, other in others.items()}


def load_receipts(lines: Sequence[Line]) -> int:
    """Write the receipts that the hub does not have. Return how many."""
    columns, uuids = Columns(Conflict), [uuid_at(place, line, "uuid") for place, line in enumerate(lines)]
    known = dict(Conflict.objects.filter(uuid__in=uuids).values_list("uuid", "pk"))
    places = {uuid: place for place, uuid in enumerate(uuids) if uuid not in known}
    memories, numbers = numbers_of(Memory, lines, MEMORIES_OF_RECEIPT), numbers_of(Conflict, lines, ("about",))
    numbers |= dict(zip(places, next_ids(Conflict, len(places)), strict=True))
    rows = []
    for uuid, place in places.items():
        line = lines[place]
        row = Conflict(**columns.read_at(place, line, ("about", *MEMORIES_OF_RECEIPT)), pk=numbers[uuid])
        for name in MEMORIES_OF_RECEIPT:
            is_needed = name != "result" or line.get(name) is not None
            setattr(row, f"{name}_id", number_at(place, line, name, memories) if is_needed else None)
        if line.get("about") is not None:
            row.about_id = number_at(place, line, "about", numbers)
        rows.append(row)
    if rows:
        lock_shards(row.user_id for row in rows)
        Conflict.objects.bulk_create(rows)
    return len(rows)


def load_pairs(lines: Sequence[Line]) -> int:
    """Write the answers about pairs that the hub does not have. Return how many."""
    columns, before = Columns(JudgedPair), JudgedPair.objects.count()
    memories, receipts = numbers_of(Memory, lines, MEMORIES_OF_PAIR), numbers_of(Conflict, lines, ("notice",))
    rows = []
    for place, line in enumerate(lines):
        row = JudgedPair(**columns.read_at(place, line, ("notice", *MEMORIES_OF_PAIR)))
        row.notice_id = number_at(place, line, "notice", receipts)
        row.candidate_id, row.existing_id = (number_at(place, line, name, memories) for name in MEMORIES_OF_PAIR)
        rows.append(row)
    JudgedPair.objects.bulk_create(rows, ignore_conflicts=True)
    return JudgedPair.objects.count() - before


def numbers_of(model: type[Model], lines: Sequence[Line], names: Sequence[str]) -> dict[UUID, int]:
    """Return the keys of rows that lines refer to, as far as there are any."""
    named = {
        uuid_at(place, line, name) for place, line in enumerate(lines) for name in names if line.get(name) is not None
    }
    return dict(model._default_manager.filter(uuid__in=named).values_list("uuid", "pk"))


def number_at(place: int, line: Line, name: str, numbers: Mapping[UUID, int]) -> int:
    """Return the key of what a line refers to. Raises LineError."""
    number = numbers.get(uuid_at(place, line, name))
    if number is None:
        raise LineError(place, f"its {name} is neither in the hub nor in the lines before")
    return number


@transaction.atomic
def forget_receipts(user_id: str) -> int:
    """Delete some receipts with the pairs that were judged for them, and return how many."""
    keys = list(Conflict.objects.filter(user_id=user_id).order_by("pk").values_list("pk", flat=True)[:ROWS_AT_ONCE])
    Conflict.objects.filter(about__in=keys).update(about=None)
    delete_raw(JudgedPair.objects.filter(notice__in=keys))
    delete_raw(Conflict.objects.filter(pk__in=keys))
    return len(keys)
