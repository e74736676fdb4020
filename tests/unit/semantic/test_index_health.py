from hypothesis import given
from hypothesis import strategies as st

from apps.semantic.domain.index_health import (
    HARD_BACKLOG,
    HARD_BYTES,
    HARD_LATENCY,
    RELIEVED,
    IndexHealth,
    IndexLevel,
    IndexLimits,
    IndexReason,
    IndexSigns,
    WriteAllowance,
    judge,
)

LIMITS = IndexLimits(backlog=1_000, cache_bytes=100, write_ms=50)
OK, WARNING, DEGRADED = IndexHealth(), IndexHealth(IndexLevel.WARNING), IndexHealth(IndexLevel.DEGRADED)


def test_all_is_well_up_to_the_limits():
    assert judge(IndexSigns(1_000, 100, 50), LIMITS, OK) == OK


def test_each_sign_over_its_limit_warns_and_says_why():
    assert judge(IndexSigns(backlog=1_001), LIMITS, OK).reasons == (IndexReason.BACKLOG,)
    assert judge(IndexSigns(cache_bytes=101), LIMITS, OK).reasons == (IndexReason.CAPACITY,)
    assert judge(IndexSigns(write_ms=51), LIMITS, OK).reasons == (IndexReason.WRITE_LATENCY,)


def test_each_sign_past_its_hard_limit_degrades():
    assert judge(IndexSigns(backlog=1_000 * HARD_BACKLOG + 1), LIMITS, OK).level is IndexLevel.DEGRADED
    assert judge(IndexSigns(cache_bytes=100 * HARD_BYTES + 1), LIMITS, OK).level is IndexLevel.DEGRADED
    assert judge(IndexSigns(write_ms=50 * HARD_LATENCY + 1), LIMITS, OK).level is IndexLevel.DEGRADED


def test_evictions_warn_and_never_degrade():
    assert judge(IndexSigns(evictions=1), LIMITS, OK) == OK
    often = judge(IndexSigns(evictions=1_000_000), LIMITS, OK)
    assert (often.level, often.reasons) == (IndexLevel.WARNING, (IndexReason.EVICTIONS,))


def test_the_worst_reason_comes_first():
    health = judge(IndexSigns(backlog=1_100, cache_bytes=140), LIMITS, OK)
    assert health.reasons == (IndexReason.CAPACITY, IndexReason.BACKLOG)


def test_it_recovers_step_by_step_and_does_not_flutter_at_limit():
    just_below = IndexSigns(backlog=1_000 * HARD_BACKLOG * (RELIEVED + 0.01))
    assert judge(just_below, LIMITS, DEGRADED).level is IndexLevel.DEGRADED
    assert judge(IndexSigns(backlog=1_000 * HARD_BACKLOG * 0.5), LIMITS, DEGRADED).level is IndexLevel.WARNING
    assert judge(IndexSigns(backlog=900), LIMITS, WARNING).level is IndexLevel.WARNING
    assert judge(IndexSigns(backlog=799), LIMITS, WARNING) == OK


SIGNS = st.builds(IndexSigns, st.floats(0, 10_000), st.floats(0, 1_000), st.floats(0, 1_000))


@given(SIGNS, st.sampled_from([OK, WARNING, DEGRADED]))
def test_a_level_has_reasons_unless_all_is_well(signs, before):
    health = judge(signs, LIMITS, before)
    assert (health.level is IndexLevel.OK) == (health.reasons == ())


@given(SIGNS, st.sampled_from([OK, WARNING, DEGRADED]))
def test_the_same_signs_again_change_nothing(signs, before):
    health = judge(signs, LIMITS, before)
    assert judge(signs, LIMITS, health) == health


def test_allowance_lets_second_s_worth_in_and_then_asks_to_wait():
    allowance = WriteAllowance(10)
    assert [allowance.take(1, 0) for _ in range(11)] == [0] * 10 + [100]
    assert allowance.take(1, 100) == 0


def test_batch_larger_than_second_s_worth_is_let_in_when_all_is_there_and_owed():
    allowance = WriteAllowance(10)
    assert allowance.take(50, 0) == 0
    assert allowance.take(1, 1_000) > 0
    assert allowance.take(1, 4_100) == 0


def test_time_that_runs_backwards_gives_nothing():
    allowance = WriteAllowance(10)
    allowance.take(10, 10_000)
    assert allowance.take(1, 5_000) == 100
