"""The phases of a breaker over a span of time: no gap, no overlap, from its beginning to its end."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from apps.llm.domain.breaker import Phase
from apps.llm.domain.forecast import PhaseChange, PhaseSpan, phase_spans

START = datetime(2026, 5, 1, tzinfo=UTC)
END = START + timedelta(hours=10)


def hour(number: float) -> datetime:
    return START + timedelta(hours=number)


def test_breaker_that_never_changed_is_as_it_is() -> None:
    assert phase_spans([], Phase.CLOSED, START, END) == [PhaseSpan(Phase.CLOSED, START, END)]


def test_each_change_ends_a_phase_and_begins_another() -> None:
    changes = [
        PhaseChange(hour(2), Phase.OPEN, Phase.CLOSED),
        PhaseChange(hour(3), Phase.HALF_OPEN, Phase.OPEN),
        PhaseChange(hour(4), Phase.CLOSED, Phase.HALF_OPEN),
    ]
    assert phase_spans(changes, Phase.CLOSED, START, END) == [
        PhaseSpan(Phase.CLOSED, START, hour(2)),
        PhaseSpan(Phase.OPEN, hour(2), hour(3)),
        PhaseSpan(Phase.HALF_OPEN, hour(3), hour(4)),
        PhaseSpan(Phase.CLOSED, hour(4), END),
    ]


def test_phases_that_took_no_time_are_left_out() -> None:
    changes = [
        PhaseChange(START, Phase.OPEN, Phase.CLOSED),
        PhaseChange(hour(1), Phase.HALF_OPEN, Phase.OPEN),
        PhaseChange(hour(1), Phase.CLOSED, Phase.HALF_OPEN),
    ]
    found = phase_spans(changes, Phase.CLOSED, START, END)
    assert [span.phase for span in found] == [Phase.OPEN, Phase.CLOSED]


@given(st.lists(st.integers(0, 36_000), max_size=20).map(sorted), st.data())
def test_spans_cover_the_whole_time(seconds: list[int], data: st.DataObject) -> None:
    phases = [data.draw(st.sampled_from(Phase)) for _ in range(len(seconds) + 1)]
    changes = [
        PhaseChange(START + timedelta(seconds=at), after, before)
        for at, (before, after) in zip(seconds, pairwise(phases), strict=True)
    ]
    found = phase_spans(changes, phases[-1], START, END)
    assert (found[0].start, found[-1].end) == (START, END)
    assert all(left.end == right.start for left, right in pairwise(found))
