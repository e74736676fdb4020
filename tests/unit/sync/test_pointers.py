"""What a pointer says: spec 003, pointer memory creation."""

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.sync.domain.knowledge import Constraint, ItemStatus, ItemType, Layer, Severity
from apps.sync.domain.pointers import (
    item_uuid,
    pointer_content,
    pointer_importance,
    pointer_keywords,
    pointer_metadata,
)
from tests.unit.sync.examples import ACCEPTED, DEPRECATED, DRAFT, PROPOSED, REJECTED, SUPERSEDED, make_item

SOURCE = UUID("0b8f3c52-6a3c-4f43-9f5a-3f3b8f0f7a11")
RULES = tuple(Constraint(f"Rule {number}.") for number in range(5))


def test_generate_pointer_content():
    constraints = (Constraint("Prefer JSON.", Severity.WARNING), *RULES, Constraint("Log it.", Severity.INFO))
    item = make_item("ADR-0007", title="Use queues", summary="Calls between services wait.", constraints=constraints)
    assert pointer_content(item, "platform").splitlines() == [
        "[ADR] Use queues (accepted)",
        "Calls between services wait.",
        "Blocking: Rule 0.",
        "Blocking: Rule 1.",
        "Blocking: Rule 2.",
        "Ref: platform/ADR-0007",
    ]


@pytest.mark.parametrize(
    ("kind", "mark"),
    [
        (ItemType.ADR, "[ADR] "),
        (ItemType.POLICY, "[POLICY] "),
        (ItemType.PATTERN, "[PATTERN] "),
        (ItemType.SPEC, "[SPEC] "),
    ],
)
def test_a_pointer_begins_with_the_mark_of_its_type(kind, mark):
    assert pointer_content(make_item(type=kind), "x").startswith(mark)


@pytest.mark.parametrize(
    ("status", "by", "words"),
    [
        (SUPERSEDED, ("ADR-2",), "(superseded by ADR-2)"),
        (SUPERSEDED, ("ADR-2", "ADR-3", "ADR-4", "ADR-5", "ADR-6"), "(superseded by ADR-2, ADR-3, ADR-4 and 2 more)"),
        (SUPERSEDED, (), "(superseded)"),
        (REJECTED, ("ADR-2",), "(rejected, superseded by ADR-2)"),
        (DEPRECATED, (), "(deprecated)"),
    ],
)
def test_the_first_line_says_what_is_not_in_force(status, by, words):
    first = pointer_content(make_item(status=status, superseded_by=by), "x").splitlines()[0]
    assert first == f"[ADR] Title of ADR-0001 {words}"


def test_a_pointer_without_a_summary_has_no_empty_line():
    assert "" not in pointer_content(make_item(summary=" \n"), "x").splitlines()


def test_a_rename_of_the_file_leaves_the_pointer():
    one, other = make_item(path="a/b.md"), make_item(path="c/d.md")
    assert pointer_content(one, "x") == pointer_content(other, "x")
    assert pointer_metadata(one, "x", SOURCE) == pointer_metadata(other, "x", SOURCE)


@pytest.mark.parametrize("layer", Layer)
def test_map_knowledge_layer_to_memory_layer(layer):
    item = make_item(layer=layer, tags=("queues", "", layer.value))
    assert pointer_metadata(item, "x", SOURCE)["layer"] == layer.value
    assert pointer_keywords(item) == (layer.value, "queues")


def test_the_metadata_of_a_pointer():
    item = make_item("ADR-0007", status=SUPERSEDED, superseded_by=("ADR-9",))
    uuid = item_uuid(SOURCE, "ADR-0007")
    assert uuid == item_uuid(SOURCE, "ADR-0007") != item_uuid(SOURCE, "ADR-0008")
    assert pointer_metadata(item, "platform", uuid) == {
        "source": "platform",
        "item": str(uuid),
        "item_id": "ADR-0007",
        "layer": "team",
        "status": "superseded",
        "type": "adr",
        "hash": item.hash,
        "superseded_by": ["ADR-9"],
    }


def test_what_is_in_force_and_strict_is_important():
    def importance(status, *severities):
        return pointer_importance(
            make_item(status=status, constraints=tuple(Constraint("x", one) for one in severities))
        )

    ordered = [
        importance(ACCEPTED, Severity.INFO, Severity.BLOCKING),
        importance(ACCEPTED, Severity.WARNING),
        importance(ACCEPTED),
        importance(PROPOSED, Severity.BLOCKING),
        importance(DRAFT),
        importance(DEPRECATED),
        importance(SUPERSEDED, Severity.BLOCKING),
    ]
    assert ordered == sorted(set(ordered), reverse=True)
    assert importance(REJECTED) == importance(SUPERSEDED)


def test_long_texts_are_cut_at_a_word():
    item = make_item(title="word " * 100, summary="x" * 600, constraints=(Constraint("rule " * 100),))
    title, summary, rule, _ = pointer_content(item, "x").splitlines()
    assert title.endswith("word… (accepted)")
    assert (len(summary), summary[-1]) == (500, "…")
    assert len(rule) <= len("Blocking: ") + 200


TEXTS = st.text(max_size=700)


@given(TEXTS, TEXTS, st.lists(TEXTS, max_size=5), st.lists(TEXTS, max_size=30), st.sampled_from(ItemStatus))
def test_a_pointer_is_bounded_and_of_a_few_lines_whatever_is_written(title, summary, rules, names, status):
    item = make_item(
        title=title,
        summary=summary,
        status=status,
        constraints=tuple(map(Constraint, rules)),
        superseded_by=tuple(names),
        tags=tuple(names),
    )
    content = pointer_content(item, title)
    lines = content.split("\n")
    assert lines == content.splitlines()
    assert lines[-1].startswith("Ref: ")
    assert lines[-1].endswith("/ADR-0001")
    assert sum(line.startswith("Blocking: ") for line in lines[1:]) <= 4
    assert len(lines) <= 6
    assert len(content) <= 2_500
    assert "\x00" not in content
    assert len(pointer_metadata(item, "x", SOURCE)["superseded_by"]) <= 20
    assert all(0 < len(word) <= 100 for word in pointer_keywords(item))
    assert len(pointer_keywords(item)) <= 50
