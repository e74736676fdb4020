"""Totals of memories count what the caller may see, and nothing else."""

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from apps.core.domain.scope import Access, Permission, Scope
from apps.semantic.models import Memory
from apps.semantic.selectors import active_total, saved_by_week, users_in
from apps.semantic.services import memory_delete

pytestmark = pytest.mark.django_db

LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)


@pytest.fixture(autouse=True)
def three(remember: Callable[..., Memory]) -> None:
    """Memories of ana at home and elsewhere, and of ben at home."""
    for scope in (Scope("ana", "home"), Scope("ana"), Scope("ben", "home")):
        remember("tea", scope=scope)


@pytest.mark.parametrize(
    ("bound", "memories", "users"),
    [
        (Scope(), 3, ["ana", "ben"]),
        (Scope("ana"), 2, ["ana"]),
        (Scope(household_id="home"), 2, ["ana", "ben"]),
        (Scope("ben", "away"), 0, []),
        (Scope(without=("ana",)), 1, ["ben"]),
    ],
    ids=["everything", "a user", "a household", "nothing", "all but a user"],
)
def test_totals_know_only_what_is_inside_bound(bound: Scope, memories: int, users: list[str]) -> None:
    access = Access(bound, Permission.READ, "test")
    assert active_total(access) == memories
    assert sum(saved_by_week(access, Scope(), LONG_AGO).values()) == memories
    assert users_in(access, Scope()) == users


def test_a_deleted_memory_is_not_counted_as_active(access: Access, remember: Callable[..., Memory]) -> None:
    memory_delete(access=access, uuid=remember("milk").uuid)
    assert active_total(access) == 3
