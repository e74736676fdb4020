"""Receipts of conflicts in exports and imports, and what a chat model said of their pairs."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from uuid import UUID

from django.db.models import Model, Q

from apps.core.db.scoped import scope_filter
from apps.core.domain.filters.expression import EVERYTHING
from apps.core.personal.columns import Columns, next_ids
from apps.core.personal.store import ExportRequest, Line, LineError, PersonalStore
from apps.semantic.models import Conflict, JudgedPair, Memory
from apps.semantic.personal.memories import AT_ONCE, among, asked_memories, uuid_at
from apps.semantic.store.unit_of_work import lock_shards

RECEIPT, PAIR = "receipt", "judged_pair"
MEMORIES_OF_RECEIPT = ("candidate", "existing", "result")
MEMORIES_OF_PAIR = ("candidate", "existing")
# What the rules of the hub say is not for keys with a bound, nor how often they were changed.
RULES = {"rule": {}, "rule_version": 0, "registry_version": 0}
# Nor is how the chat model was asked, and which one answered.
ASKING = {"code": "", "tries": 0, "digest": "", "answered_by": ""}


class ReceiptTransfer(PersonalStore):
    """Exports receipts and the answers of the judge, and loads them again."""

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
