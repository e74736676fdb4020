"""How files and items are kept: as JSON, with a checksum of what was stored."""

import json
from datetime import timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.sync.domain.as_json import (
    digest_checksum,
    items_digest,
    parsed_from_json,
    parsed_to_json,
)
from apps.sync.domain.errors import StateCorruptedError
from apps.sync.domain.knowledge import Constraint, Convention, ItemStatus, ItemType, Layer, Severity
from tests.unit.sync.examples import NOW, make_file, make_item, store

WORDS = st.lists(st.text(max_size=5), max_size=3).map(tuple)
FIELDS = {
    "title": st.text(max_size=20),
    "type": st.sampled_from(ItemType),
    "status": st.sampled_from(ItemStatus),
    "layer": st.sampled_from(Layer),
    "constraints": st.lists(st.builds(Constraint, st.text(max_size=5), st.sampled_from(Severity)), max_size=3).map(
        tuple
    ),
    "tags": WORDS,
    "supersedes": WORDS,
    "superseded_by": WORDS,
}


@given(st.builds(make_file, convention=st.sampled_from(Convention), aliases=WORDS, **FIELDS))
def test_a_file_comes_back_from_json(file):
    assert parsed_from_json(json.loads(json.dumps(parsed_to_json(file)))) == file


@pytest.mark.parametrize("damage", [{"status": "lost"}, {"constraints": None}, {"constraints": [{}]}, {"tags": 5}])
def test_damaged_json_is_reported(damage):
    with pytest.raises(StateCorruptedError):
        parsed_from_json({**parsed_to_json(make_file()), **damage})


def checksum(rows, commit, last_sync_at):
    return digest_checksum(items_digest(rows), commit, last_sync_at)


def test_the_checksum_of_a_state_shows_any_change():
    rows = list(store(make_item("a"), make_item("b")).values())
    moved = list(store(make_item("a", layer=Layer.ORG), make_item("b")).values())
    later = NOW + timedelta(microseconds=1)
    sums = [
        checksum(rows, "c1", NOW),
        checksum(moved, "c1", NOW),
        checksum(rows[:1], "c1", NOW),
        checksum(rows, "c2", NOW),
        checksum(rows, "c1", later),
        checksum(rows, "c1", None),
    ]
    assert len(set(sums)) == len(sums)


def test_the_checksum_of_a_state_is_the_same_in_any_order_and_zone():
    rows = list(store(make_item("a"), make_item("b")).values())
    elsewhere = NOW.astimezone(timezone(timedelta(hours=8)))
    assert checksum(rows, "c", NOW) == checksum(iter(rows[::-1]), "c", elsewhere)
