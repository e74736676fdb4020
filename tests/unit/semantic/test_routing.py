"""Which events become memories, and what becomes of those when the events are gone."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.semantic.domain.routing import (
    EventFacts,
    LinkedMemory,
    OnPrune,
    Remedy,
    RemedyReason,
    RoutingCriteria,
    RoutingDecision,
    RoutingJudgement,
    RoutingTable,
    demoted,
    remedy,
    strictest,
)


def event(importance: float = 0.5, event_type: str = "message", household: str = "") -> EventFacts:
    return EventFacts(household, event_type, importance)


def judged(facts: EventFacts, *policies: RoutingCriteria) -> RoutingDecision:
    return RoutingTable(policies).judge(facts)


# Matching


def test_without_policy_nothing_becomes_memory() -> None:
    assert judged(event(1.0)) == RoutingDecision(RoutingJudgement.NO_POLICY)


def test_the_threshold_itself_is_important_enough() -> None:
    policy = RoutingCriteria(name="p", min_importance=0.7)
    assert judged(event(0.7), policy) == RoutingDecision(RoutingJudgement.ROUTED, policy)
    assert judged(event(0.699), policy) == RoutingDecision(RoutingJudgement.UNIMPORTANT)


def test_an_empty_whitelist_means_every_type() -> None:
    policy = RoutingCriteria(name="p")
    assert judged(event(event_type="anything"), policy).policy is policy


def test_a_whitelist_means_these_types_exactly() -> None:
    policy = RoutingCriteria(name="p", event_types=frozenset({"decision", "promise"}))
    assert judged(event(event_type="promise"), policy).policy is policy
    assert judged(event(event_type="Promise"), policy) == RoutingDecision(RoutingJudgement.OTHER_TYPE)


def test_event_must_meet_both_conditions_of_one_policy() -> None:
    policies = (
        RoutingCriteria(name="a", min_importance=0.9),
        RoutingCriteria(name="b", event_types=frozenset({"promise"}), min_importance=0.3),
    )
    assert judged(event(0.5, "promise"), *policies).policy is policies[1]
    assert judged(event(0.95, "message"), *policies).policy is policies[0]
    assert judged(event(0.5, "message"), *policies) == RoutingDecision(RoutingJudgement.UNIMPORTANT)


def test_policy_that_is_switched_off_wants_nothing() -> None:
    assert judged(event(1.0), RoutingCriteria(name="p", is_enabled=False)) == RoutingDecision(
        RoutingJudgement.NO_POLICY
    )


def test_of_several_highest_priority_counts_then_first_name() -> None:
    low, high, beside = (
        RoutingCriteria(name="a"),
        RoutingCriteria(name="c", priority=5),
        RoutingCriteria(name="b", priority=5),
    )
    assert judged(event(), low, high, beside).policy is beside


# Households


def test_household_is_judged_by_its_own_policies_instead_of_global_ones() -> None:
    everybody, home = (
        RoutingCriteria(name="everybody"),
        RoutingCriteria(name="home", household_id="home", min_importance=0.9),
    )
    assert judged(event(0.5, household="home"), everybody, home) == RoutingDecision(RoutingJudgement.UNIMPORTANT)
    assert judged(event(0.9, household="home"), everybody, home).policy is home
    assert judged(event(0.5, household="away"), everybody, home).policy is everybody
    assert judged(event(0.5), everybody, home).policy is everybody


def test_household_whose_policy_is_off_is_left_out() -> None:
    everybody = RoutingCriteria(name="everybody")
    off = RoutingCriteria(name="home", household_id="home", is_enabled=False)
    assert judged(event(1.0, household="home"), everybody, off) == RoutingDecision(RoutingJudgement.NO_POLICY)


names = st.sampled_from(["a", "b", "c", "d", "e"])
households = st.sampled_from(["", "home", "away"])
types = st.sampled_from(["message", "promise", "decision"])
shares = st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])
policies = st.builds(
    RoutingCriteria,
    name=names,
    household_id=households,
    is_enabled=st.booleans(),
    priority=st.integers(-1, 1),
    min_importance=shares,
    event_types=st.frozensets(types, max_size=2),
)


@given(
    st.lists(policies, max_size=6, unique_by=lambda policy: policy.name), st.builds(event, shares, types, households)
)
def test_table_decides_as_plain_look_at_every_policy_would(known: list[RoutingCriteria], facts: EventFacts) -> None:
    own = [policy for policy in known if policy.household_id == facts.household_id != ""]
    asked = own or [policy for policy in known if policy.household_id == ""]
    wanting = [
        policy
        for policy in asked
        if policy.is_enabled
        and facts.importance >= policy.min_importance
        and (not policy.event_types or facts.event_type in policy.event_types)
    ]
    best = min(wanting, key=lambda policy: (-policy.priority, policy.name), default=None)
    assert judged(facts, *known).policy == best
    assert (judged(facts, *known).judgement is RoutingJudgement.ROUTED) == (best is not None)


# Pruned events


def linked(**facts: object) -> LinkedMemory:
    known: dict[str, object] = {
        "status": "active",
        "came_from_events": True,
        "has_other_events": False,
        "saved_by_others": False,
    }
    return LinkedMemory(**{**known, **facts})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("on_prune", "done"),
    [(OnPrune.DEMOTE, Remedy.DEMOTE), (OnPrune.DELETE, Remedy.DELETE), (OnPrune.KEEP, Remedy.KEEP)],
)
def test_policy_says_what_becomes_of_memory_whose_events_are_gone(on_prune: OnPrune, done: Remedy) -> None:
    assert remedy(on_prune, linked()) == (done, RemedyReason.POLICY)


@pytest.mark.parametrize("on_prune", OnPrune)
@pytest.mark.parametrize(
    ("facts", "why"),
    [
        ({"has_other_events": True}, RemedyReason.OTHER_EVENTS),
        ({"came_from_events": False}, RemedyReason.WAS_THERE_BEFORE),
        ({"saved_by_others": True}, RemedyReason.SAVED_BY_OTHERS),
        ({"status": "deleted"}, RemedyReason.IS_DELETED),
    ],
)
def test_some_memories_are_kept_whatever_policy_says(
    on_prune: OnPrune, facts: dict[str, object], why: RemedyReason
) -> None:
    assert remedy(on_prune, linked(**facts)) == (Remedy.KEEP, why)


def test_merged_memory_is_taken_out_of_what_it_went_into() -> None:
    assert remedy(OnPrune.DELETE, linked(status="merged")) == (Remedy.SEPARATE, RemedyReason.POLICY)


@pytest.mark.parametrize("status", ["superseded", "rejected", "merged"])
def test_there_is_nothing_to_demote_about_memory_that_does_not_stand(status: str) -> None:
    assert remedy(OnPrune.DEMOTE, linked(status=status)) == (Remedy.KEEP, RemedyReason.NOT_STANDING)


@pytest.mark.parametrize("status", ["superseded", "rejected"])
def test_memory_that_has_lost_is_deleted_like_any_other(status: str) -> None:
    assert remedy(OnPrune.DELETE, linked(status=status)) == (Remedy.DELETE, RemedyReason.POLICY)


def test_of_two_policies_the_stricter_one_counts() -> None:
    order = [OnPrune.KEEP, OnPrune.DEMOTE, OnPrune.DELETE]
    for first, second in product(order, repeat=2):
        assert strictest([first, second]) is max(first, second, key=order.index)


def test_demoting_halves_importance_and_confidence() -> None:
    assert demoted(0.9, 0.8) == {"importance": 0.45, "base_confidence": 0.4}


@given(st.floats(0, 1), st.floats(0, 1))
def test_what_is_demoted_stays_in_range(importance: float, confidence: float) -> None:
    assert all(0 <= value <= 1 for value in demoted(importance, confidence).values())
