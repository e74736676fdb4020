"""How files and items are kept: as JSON, with a checksum of what was stored."""

import json
from datetime import timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.sync.domain.as_json import (
    item_from_json,
    item_to_json,
    parsed_from_json,
    parsed_to_json,
    refused_from_json,
    refused_to_json,
    state_checksum,
)
from apps.sync.domain.errors import StateCorruptedError
from apps.sync.domain.knowledge import Constraint, Convention, ItemStatus, ItemType, Layer, RefusedFile, Severity
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


@given(st.builds(make_item, **FIELDS))
def test_an_item_comes_back_from_json(item):
    assert item_from_json(json.loads(json.dumps(item_to_json(item)))) == item


def test_a_refusal_comes_back_from_json():
    refused = RefusedFile("a.md", "too_large", "It is too large.")
    assert refused_from_json(refused_to_json(refused)) == refused


@pytest.mark.parametrize("damage", [{"status": "lost"}, {"constraints": None}, {"constraints": [{}]}, {"tags": 5}])
def test_damaged_json_is_reported(damage):
    with pytest.raises(StateCorruptedError):
        parsed_from_json({**parsed_to_json(make_file()), **damage})
    with pytest.raises(StateCorruptedError):
        item_from_json({**item_to_json(make_item()), **damage})
    with pytest.raises(StateCorruptedError):
        refused_from_json({})


def test_the_checksum_of_a_state_shows_any_change():
    rows = list(store(make_item("a"), make_item("b")).values())
    moved = list(store(make_item("a", layer=Layer.ORG), make_item("b")).values())
    later = NOW + timedelta(microseconds=1)
    sums = [
        state_checksum(rows, "c1", NOW),
        state_checksum(moved, "c1", NOW),
        state_checksum(rows[:1], "c1", NOW),
        state_checksum(rows, "c2", NOW),
        state_checksum(rows, "c1", later),
        state_checksum(rows, "c1", None),
    ]
    assert len(set(sums)) == len(sums)


def test_the_checksum_of_a_state_is_the_same_in_any_order_and_zone():
    rows = list(store(make_item("a"), make_item("b")).values())
    elsewhere = NOW.astimezone(timezone(timedelta(hours=8)))
    assert state_checksum(rows, "c", NOW) == state_checksum(iter(rows[::-1]), "c", elsewhere)
