from datetime import UTC, datetime, timedelta, timezone
from enum import StrEnum
from typing import ClassVar
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from apps.events.domain.payload import EventPayload, Moment, PayloadError, Text, payload_class, registered_names
from tests.integration.events.support import Happened


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


class Everything(EventPayload):
    name: ClassVar[str] = "test:payload:everything"

    thing_id: UUID
    title: Text
    count: int
    share: float
    loud: bool
    moment: Moment
    colour: Colour
    parent_id: UUID | None
    parts: tuple[UUID, ...]
    added_later: int = 7


MOMENT = datetime(2026, 5, 8, 13, 56, tzinfo=timezone(timedelta(hours=2)))


def everything(**changes) -> Everything:
    fields = {
        "thing_id": uuid4(),
        "title": "a title",
        "count": 3,
        "share": 0.5,
        "loud": True,
        "moment": MOMENT,
        "colour": Colour.RED,
        "parent_id": None,
        "parts": (uuid4(), uuid4()),
    }
    return Everything(**(fields | changes))


def test_a_payload_survives_the_way_through_json():
    payload = everything()
    assert Everything.from_json(payload.to_json()) == payload


def test_datetimes_become_iso_8601_with_offset_and_uuids_text():
    thing = uuid4()
    document = everything(thing_id=thing).to_json()
    assert document["moment"] == "2026-05-08T13:56:00+02:00"
    assert document["thing_id"] == str(thing)


@given(
    title=st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00")),
    count=st.integers(),
    share=st.floats(allow_nan=False, allow_infinity=False),
    moment=st.datetimes(timezones=st.just(UTC)),
    parts=st.lists(st.uuids()).map(tuple),
)
def test_any_payload_survives_way_through_json(title, count, share, moment, parts):
    payload = everything(title=title, count=count, share=share, moment=moment, parts=parts)
    assert Everything.from_json(payload.to_json()) == payload


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("thing_id", "not a uuid object"),
        ("thing_id", None),
        ("title", 5),
        ("title", "nul \x00"),
        ("title", "lone \ud800 surrogate"),
        ("count", True),
        ("count", 1.0),
        ("share", float("nan")),
        ("share", float("inf")),
        ("share", "0.5"),
        ("loud", 1),
        ("moment", MOMENT.replace(tzinfo=None)),
        ("moment", "2026-05-08T00:00:00Z"),
        ("colour", "red"),
        ("parts", [uuid4()]),
        ("parts", ("not a uuid",)),
    ],
)
def test_value_of_wrong_type_is_refused_at_emit_with_name_of_its_field(field, value):
    with pytest.raises(PayloadError, match=f"field '{field}'"):
        everything(**{field: value}).to_json()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("thing_id", "nonsense"),
        ("title", None),
        ("count", "3"),
        ("count", False),
        ("share", None),
        ("loud", "true"),
        ("moment", "2026-05-08T13:56:00"),
        ("moment", "yesterday"),
        ("colour", "green"),
        ("parts", "abc"),
        ("parts", [1]),
    ],
)
def test_stored_value_of_wrong_type_is_refused_at_read_with_name_of_its_field(field, value):
    with pytest.raises(PayloadError, match=f"field '{field}'"):
        Everything.from_json(everything().to_json() | {field: value})


def test_an_error_never_quotes_the_value():
    with pytest.raises(PayloadError) as caught:
        Everything.from_json(everything().to_json() | {"moment": "my secret"})
    assert "secret" not in str(caught.value)


def test_unknown_fields_are_refused():
    with pytest.raises(PayloadError, match="unknown fields \\['extra'\\]"):
        Everything.from_json(everything().to_json() | {"extra": 1})


def test_missing_fields_are_refused():
    document = everything().to_json()
    del document["count"]
    with pytest.raises(PayloadError, match="missing fields \\['count'\\]"):
        Everything.from_json(document)


def test_row_from_before_field_with_default_was_added_can_be_read():
    document = everything().to_json()
    del document["added_later"]
    assert Everything.from_json(document).added_later == 7


@pytest.mark.parametrize("document", [None, [], "text", 5])
def test_what_is_no_object_is_refused(document):
    with pytest.raises(PayloadError, match="JSON object"):
        Everything.from_json(document)


def test_a_name_is_registered_once():
    with pytest.raises(PayloadError, match=r"already belongs to tests\.integration\.events\.support\.Happened"):

        class Impostor(EventPayload):
            name: ClassVar[str] = Happened.name

    assert payload_class(Happened.name) is Happened


@pytest.mark.parametrize("bad", ["", "memory", "Memory:Saved", "memory::saved", "a:" + "b" * 100])
def test_what_does_not_look_like_event_name_is_refused(bad):
    with pytest.raises(PayloadError, match="no event name"):
        type("Bad", (EventPayload,), {"name": bad})
    assert bad not in registered_names()


def test_class_that_is_made_again_keeps_its_name():
    def make():
        class Reloaded(EventPayload):
            name: ClassVar[str] = "test:payload:reloaded"

            count: int

        return Reloaded

    first, second = make(), make()
    assert first is not second
    assert payload_class("test:payload:reloaded") is second


def test_a_payload_cannot_be_changed():
    payload = everything()
    with pytest.raises(ValidationError, match="frozen"):
        payload.count = 4
    with pytest.raises(ValidationError, match="frozen"):
        del payload.count


@pytest.mark.parametrize("hint", [dict, str, datetime, bytes, Text | int, tuple[int, int], list[Text]])
def test_field_of_type_without_schema_is_refused(hint):
    with pytest.raises(PayloadError, match="anything: a payload cannot hold"):
        type("Vague", (EventPayload,), {"name": "test:payload:vague", "__annotations__": {"anything": hint}})
    assert payload_class("test:payload:vague") is None


def test_identifiers_are_uuids_and_nothing_person_wrote():
    payload = everything(title="private")
    assert payload.identifiers() == {"thing_id": str(payload.thing_id)}
