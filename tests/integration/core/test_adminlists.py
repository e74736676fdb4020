"""Filters and pages of long lists."""

from uuid import UUID

import pytest
from django.contrib.auth.models import Group

from apps.core.admin import lists
from apps.core.admin.lists import BoundedPaginator, as_uuid, comparable


@pytest.mark.parametrize(
    ("typed", "compared"), [(None, ""), ("", ""), (" ana \t", "ana"), ("a\x00na", "ana"), ("\x00", "")]
)
def test_what_was_typed_is_made_comparable(typed: str | None, compared: str) -> None:
    assert comparable(typed) == compared


def test_an_id_is_known_from_other_text() -> None:
    assert as_uuid("5f0c0000-0000-4000-8000-000000000000") == UUID("5f0c0000-0000-4000-8000-000000000000")
    assert as_uuid("5f0c") is None


@pytest.mark.django_db
def test_pages_are_counted_no_further_than_anybody_turns_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lists, "MAX_COUNTED", 3)
    Group.objects.bulk_create(Group(name=f"group {number}") for number in range(5))
    assert BoundedPaginator(Group.objects.order_by("name"), 2).count == 3
    assert BoundedPaginator(Group.objects.filter(name="group 4"), 2).count == 1
