"""What is to be removed from a file, by its table of runs alone."""

from datetime import UTC, datetime, timedelta

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from apps.core.domain.scope import Scope
from apps.episodic.domain.event import ScopeKey
from apps.episodic.domain.retention import cutoff_for_scope, runs_to_remove, should_remove
from apps.episodic.domain.segment_file.format import RUN, microseconds

START = datetime(2026, 1, 1, tzinfo=UTC)
ANA, BEN = ScopeKey("ana", "home"), ScopeKey("ben")


def day(number: float) -> datetime:
    return START + timedelta(days=number)


def test_every_event_of_scope_is_doomed_whenever_it_was() -> None:
    cutoff_of = cutoff_for_scope(Scope("ana"))
    assert should_remove(ANA, datetime.max.replace(tzinfo=UTC), cutoff_of)
    assert should_remove(ANA, datetime.min.replace(tzinfo=UTC), cutoff_of)
    assert not should_remove(BEN, START, cutoff_of)
    assert not should_remove(ANA, START, cutoff_for_scope(Scope("ana", persona_id="clerk")))


def test_an_event_at_the_cutoff_stays() -> None:
    assert not should_remove(ANA, day(1), lambda key: day(1))
    assert should_remove(ANA, day(1) - timedelta(microseconds=1), lambda key: day(1))


@given(
    runs=st.lists(st.tuples(st.integers(0, 1), st.integers(0, 9), st.integers(0, 9)), max_size=20),
    cutoffs=st.tuples(*[st.none() | st.integers(0, 10)] * 2),
)
def test_table_of_runs_says_what_its_events_would(
    runs: list[tuple[int, int, int]], cutoffs: tuple[int | None, int | None]
) -> None:
    spans = [(scope, min(one, other), max(one, other)) for scope, one, other in runs]
    table = np.zeros(len(spans), dtype=RUN)
    for number, (scope, first, last) in enumerate(spans):
        table[number]["scope"] = scope
        table[number]["first"], table[number]["last"] = microseconds(day(first)), microseconds(day(last))
    scopes = (ANA, BEN)
    by_scope = {key: None if cutoff is None else day(cutoff) for key, cutoff in zip(scopes, cutoffs, strict=True)}
    some, whole = runs_to_remove(scopes, table, by_scope.__getitem__)
    for number, (scope, first, last) in enumerate(spans):
        ends = [should_remove(scopes[scope], day(moment), by_scope.__getitem__) for moment in (first, last)]
        assert (bool(some[number]), bool(whole[number])) == (any(ends), all(ends))


def test_every_run_of_scope_that_is_purged_is_doomed() -> None:
    table = np.zeros(2, dtype=RUN)
    table["scope"] = [0, 1]
    table["first"] = table["last"] = microseconds(datetime.max.replace(tzinfo=UTC))
    some, whole = runs_to_remove((ANA, BEN), table, cutoff_for_scope(Scope(household_id="home")))
    assert (list(some), list(whole)) == ([True, False], [True, False])
