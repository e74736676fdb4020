"""Fields of the greatest length, in characters of four bytes that no compression shortens: all of them can be saved."""

import math
from pathlib import Path
from random import Random

import pytest
from django.db import connection

from apps.core.domain.scope import MAX_IDENTIFIER_CHARS, Scope, system_access
from apps.episodic.services import events_record
from apps.notes.domain.places import NotePlace
from apps.notes.models import MAX_PLACE_CHARS, NoteVersion
from apps.semantic.models.memory import MAX_TAG_CHARS
from tests.api import api_for
from tests.integration.episodic.timeline import NOW, draft

pytestmark = pytest.mark.django_db

# A row of a B-tree with more bytes is refused, whatever the column allows.
MAX_ROW = 2_704
HEADERS, PER_COLUMN, FIXED_SIZE, DIGEST = 16, 8, 8, 32
COLUMNS = """
SELECT i.indexrelid::regclass::text, COALESCE(lowered.atttypmod, a.atttypmod), t.typname,
    pg_get_indexdef(i.indexrelid, a.attnum, true)
FROM pg_index i
JOIN pg_class c ON c.oid = i.indexrelid
JOIN pg_am m ON m.oid = c.relam AND m.amname = 'btree'
JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = 'public'
JOIN pg_attribute a ON a.attrelid = i.indexrelid
JOIN pg_type t ON t.oid = a.atttypid
LEFT JOIN pg_attribute lowered ON lowered.attrelid = i.indrelid
    AND pg_get_indexdef(i.indexrelid, a.attnum, true) = 'lower(' || lowered.attname || '::text)'
"""


def long(chars: int, seed: int) -> str:
    """Return ideographs of four bytes each."""
    random = Random(seed)
    return "".join(chr(random.randrange(0x20000, 0x2A6D0)) for _ in range(chars))


def test_every_row_fits_its_index() -> None:
    with connection.cursor() as cursor:
        cursor.execute(COLUMNS)
        columns = cursor.fetchall()
    rows: dict[str, float] = {}
    for index, limit, kind, definition in columns:
        size: float = FIXED_SIZE
        if kind in {"text", "varchar"}:
            # A limit is stored with 4 added; a text without one has no greatest size.
            bytes_each = 1 if definition.endswith("hash") else 4
            size = bytes_each * (limit - 4) if limit > 0 else DIGEST if definition.startswith("md5(") else math.inf
        rows[index] = rows.get(index, HEADERS) + PER_COLUMN + size
    assert len(rows) > 50
    assert {index: size for index, size in rows.items() if size > MAX_ROW} == {}


def test_memory_with_the_longest_fields_is_saved(timeline_dir: Path) -> None:
    limits = {"user_id": MAX_IDENTIFIER_CHARS, "household_id": MAX_IDENTIFIER_CHARS, "persona_id": MAX_IDENTIFIER_CHARS}
    limits |= dict.fromkeys(("agent", "personality", "project", "type", "session_id"), MAX_TAG_CHARS)
    fields = {name: long(chars, seed) for seed, (name, chars) in enumerate(limits.items())}
    api = api_for(Scope())
    saved = api.save(long(2_000, 99), **fields)
    assert {name: saved[name] for name in fields} == fields
    assert api.get("/api/sessions").json()["results"] == [
        {"id": fields["session_id"], "memories": 1, "inactive_memories": 0}
    ]


def test_event_with_the_longest_fields_is_recorded(timeline_dir: Path) -> None:
    scope = Scope(*(long(MAX_IDENTIFIER_CHARS, seed) for seed in range(3)))
    events_record(access=system_access("test"), drafts=[draft(long(2_000, 99), scope=scope)])
    found = api_for(Scope()).get("/api/users").json()["results"]
    assert [(one["id"], one["events"]) for one in found] == [(scope.user_id, 1)]


def test_versions_of_a_note_with_the_longest_place_are_kept_and_found() -> None:
    place, other = (long(MAX_PLACE_CHARS, seed) for seed in range(2))
    for number, path in enumerate((place, place, other), start=1):
        NoteVersion.objects.create(
            user_id=long(MAX_IDENTIFIER_CHARS, 7), place=path, number=number, kind="append", sha256="0" * 64, size=0,
            text=b"", operation=long(200, number), author=long(200, 8), at=NOW,
        )  # fmt: skip
    versions = NoteVersion.objects.of(long(MAX_IDENTIFIER_CHARS, 7), NotePlace((place,)))
    assert list(versions.order_by("number").values_list("number", flat=True)) == [1, 2]
