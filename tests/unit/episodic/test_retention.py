"""Which policy counts, and what it lets go."""

from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

from hypothesis import given
from hypothesis import strategies as st

from apps.episodic.domain.event import ScopeKey
from apps.episodic.domain.retention import PrunedEvent, RetentionRule, cutoffs_at, pruned_batches, should_remove

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
GLOBAL = RetentionRule("", 90, is_enabled=True)


def expired(policies: list[RetentionRule], household: str, days: float) -> bool:
    cutoffs = cutoffs_at(policies, NOW)
    return should_remove(
        ScopeKey("ana", household), NOW - timedelta(days=days), lambda key: cutoffs.of(key.household_id)
    )


def test_nothing_expires_without_a_policy() -> None:
    assert not expired([], "home", 10_000)
    assert cutoffs_at([], NOW).latest is None


def test_policy_that_is_switched_off_lets_nothing_go() -> None:
    assert not expired([RetentionRule("", 90, is_enabled=False)], "", 10_000)
    assert cutoffs_at([RetentionRule("", 90, is_enabled=False)], NOW).latest is None


def test_global_policy_counts_for_everybody_without_one_of_their_own() -> None:
    assert expired([GLOBAL], "", 91)
    assert expired([GLOBAL], "home", 91)
    assert not expired([GLOBAL], "home", 89)


def test_event_exactly_as_old_as_policy_stays() -> None:
    assert not expired([GLOBAL], "", 90)
    assert expired([GLOBAL], "", 90 + 1e-6)


def test_policy_of_household_counts_instead_of_global_one() -> None:
    longer, shorter = RetentionRule("long", 365, is_enabled=True), RetentionRule("short", 7, is_enabled=True)
    policies = [GLOBAL, longer, shorter]
    assert not expired(policies, "long", 364)
    assert expired(policies, "long", 366)
    assert expired(policies, "short", 8)
    assert cutoffs_at(policies, NOW).latest == NOW - timedelta(days=7)
    assert cutoffs_at(policies, NOW).policy_of("long") == "long"
    assert cutoffs_at(policies, NOW).policy_of("other") == ""


def test_household_whose_policy_is_switched_off_keeps_everything() -> None:
    assert not expired([GLOBAL, RetentionRule("home", 7, is_enabled=False)], "home", 10_000)


def test_policy_that_is_longer_than_calendar_lets_nothing_go() -> None:
    assert not expired([RetentionRule("", 2_000_000_000, is_enabled=True)], "", 10_000)


def test_common_cutoff_needs_every_household_to_expire() -> None:
    shorter, longer = RetentionRule("short", 7, is_enabled=True), RetentionRule("long", 365, is_enabled=True)
    assert cutoffs_at([GLOBAL, shorter, longer], NOW).common == NOW - timedelta(days=365)
    assert cutoffs_at([shorter], NOW).common is None, "the others keep theirs"
    assert cutoffs_at([GLOBAL, RetentionRule("home", 7, is_enabled=False)], NOW).common is None
    assert cutoffs_at([], NOW).common is None


@given(users=st.lists(st.sampled_from("abc"), max_size=40), size=st.integers(1, 7))
def test_batches_are_of_one_scope_and_bounded_and_lose_nothing(users: list[str], size: int) -> None:
    events = [PrunedEvent(ScopeKey(user), uuid4(), UUID(int=number)) for number, user in enumerate(users)]
    batches = list(pruned_batches(events, size))
    assert all(1 <= len(batch) <= size and len({event.key for event in batch}) == 1 for batch in batches)
    assert [event for batch in batches for event in batch] == sorted(events, key=lambda event: event.key)
    for user in set(users):
        full = sum(1 for batch in batches if batch[0].key.user_id == user and len(batch) == size)
        assert full == users.count(user) // size
