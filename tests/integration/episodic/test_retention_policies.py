"""Changing for how long events are kept, and what a change would delete."""

from datetime import timedelta

import pytest
from django.core.exceptions import ValidationError

from apps.core.domain.errors import ConflictError, NotFoundError
from apps.core.domain.scope import Scope
from apps.episodic.domain.retention import GLOBAL_HOUSEHOLD, RetentionRule
from apps.episodic.models import RetentionPolicy
from apps.episodic.retention.prune import (
    retention_create,
    retention_delete,
    retention_preview,
    retention_update,
)
from tests.hostile.support import stored
from tests.integration.episodic.upkeep import START, an_archived_segment, clock_at, record

pytestmark = pytest.mark.django_db

HOME = Scope("ana", "home")


@pytest.fixture
def everybody() -> RetentionPolicy:
    """The prepared global policy: 90 days, switched off."""
    return RetentionPolicy.objects.get_or_create(household_id=GLOBAL_HOUSEHOLD, defaults={"days": 90})[0]


def would_delete(household: str, policy: RetentionRule | None, days: float) -> int:
    """How many events the next run would delete so many days after START."""
    return retention_preview(household_id=household, policy=policy, clock=clock_at(days)).removal.events


def test_the_prepared_policy_deletes_nothing(everybody: RetentionPolicy) -> None:
    record([1], timestamp=START - timedelta(days=1_000))
    assert (everybody.days, everybody.is_enabled) == (90, False)
    assert would_delete(GLOBAL_HOUSEHOLD, RetentionRule(GLOBAL_HOUSEHOLD, 90, False), days=1_000) == 0


def test_switching_policy_on_would_delete_what_is_older() -> None:
    record([1], timestamp=START - timedelta(days=3))
    record([2], timestamp=START - timedelta(days=1))
    assert would_delete(GLOBAL_HOUSEHOLD, RetentionRule(GLOBAL_HOUSEHOLD, 2, True), days=0) == 1
    assert would_delete(GLOBAL_HOUSEHOLD, RetentionRule(GLOBAL_HOUSEHOLD, 2, True), days=2) == 2


def test_preview_counts_rows_and_archived_events_by_themselves() -> None:
    an_archived_segment(range(4))
    record([5, 6])
    removal = retention_preview(
        household_id=GLOBAL_HOUSEHOLD, policy=RetentionRule(GLOBAL_HOUSEHOLD, 1, True), clock=clock_at(days=30)
    ).removal
    assert (removal.rows, removal.archived, removal.segments) == (2, 4, 1)


def test_preview_tells_what_would_be_deleted_anyway(everybody: RetentionPolicy) -> None:
    retention_update(pk=everybody.pk, days=10, is_enabled=True)
    record([1], timestamp=START - timedelta(days=20))
    record([2], timestamp=START - timedelta(days=5))
    preview = retention_preview(
        household_id=GLOBAL_HOUSEHOLD, policy=RetentionRule(GLOBAL_HOUSEHOLD, 1, True), clock=clock_at()
    )
    assert (preview.removal.events, preview.anyway) == (2, 1)


def test_without_policy_of_its_own_household_is_under_global_one(everybody: RetentionPolicy) -> None:
    retention_update(pk=everybody.pk, days=1, is_enabled=True)
    retention_create(household_id="home", days=1, is_enabled=False)
    record([1], scope=HOME)
    assert would_delete("home", RetentionRule("home", 1, False), days=30) == 0
    assert would_delete("home", None, days=30) == 1


def test_a_preview_changes_nothing(everybody: RetentionPolicy) -> None:
    an_archived_segment(range(4))
    record([5])
    before = stored()
    assert would_delete(GLOBAL_HOUSEHOLD, RetentionRule(GLOBAL_HOUSEHOLD, 1, True), days=30) == 5
    assert stored() == before


def test_a_household_has_one_policy() -> None:
    retention_create(household_id="home", days=5, is_enabled=False)
    with pytest.raises(ValidationError, match="already exists"):
        retention_create(household_id="home", days=7, is_enabled=False)


@pytest.mark.parametrize("days", [0, -1])
def test_events_are_kept_for_a_day_at_least(everybody: RetentionPolicy, days: int) -> None:
    with pytest.raises(ValidationError):
        retention_create(household_id="home", days=days, is_enabled=True)
    with pytest.raises(ValidationError):
        retention_update(pk=everybody.pk, days=days, is_enabled=True)


def test_change_keeps_figures_of_last_run(everybody: RetentionPolicy) -> None:
    RetentionPolicy.objects.update(last_run_at=START, last_pruned_count=7)
    changed = retention_update(pk=everybody.pk, days=5, is_enabled=True)
    assert (changed.days, changed.is_enabled, changed.last_run_at, changed.last_pruned_count) == (5, True, START, 7)


def test_global_policy_is_switched_off_and_not_deleted(everybody: RetentionPolicy) -> None:
    with pytest.raises(ConflictError, match="switch it off"):
        retention_delete(pk=everybody.pk)
    retention_delete(pk=retention_create(household_id="home", days=5, is_enabled=True).pk)
    assert list(RetentionPolicy.objects.all()) == [everybody]


def test_what_is_not_there_is_neither_changed_nor_deleted() -> None:
    with pytest.raises(NotFoundError):
        retention_update(pk=0, days=5, is_enabled=True)
    with pytest.raises(NotFoundError):
        retention_delete(pk=0)
