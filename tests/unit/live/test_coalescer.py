"""At most one message of a topic in a second: the first one at once, the last one never lost."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from apps.live.domain.coalescer import Coalescer

Times = st.lists(st.floats(0, 20), min_size=1, max_size=60).map(sorted)


def test_the_first_change_of_a_topic_is_due_at_once() -> None:
    topics = Coalescer()
    topics.note("rules", 5.0)
    assert topics.wait(5.0) == 0
    assert topics.take(5.0) == ["rules"]
    assert (topics.take(5.0), topics.wait(5.0)) == ([], None)


def test_changes_within_a_second_are_one_message_at_its_end() -> None:
    topics = Coalescer()
    topics.note("rules", 5.0)
    topics.take(5.0)
    for now in (5.1, 5.2, 5.9):
        topics.note("rules", now)
        assert topics.take(now) == []
    assert topics.wait(5.75) == 0.25
    assert topics.take(6.0) == ["rules"]
    assert topics.wait(6.0) is None


def test_topics_do_not_wait_for_each_other() -> None:
    topics = Coalescer()
    topics.note("rules", 5.0)
    topics.take(5.0)
    topics.note("rules", 5.1)
    topics.note("jobs", 5.1)
    assert topics.take(5.1) == ["jobs"]


@given(Times)
def test_messages_are_a_second_apart_and_follow_the_last_change(changes: list[float]) -> None:
    topics, sent, now = Coalescer(), [], 0.0
    for change in changes:
        while (wait := topics.wait(now)) is not None and now + wait <= change:
            now += wait
            sent += [now] * len(topics.take(now))
        now = change
        topics.note("rules", now)
        sent += [now] * len(topics.take(now))
    if (wait := topics.wait(now)) is not None:
        sent += [now + wait] * len(topics.take(now + wait))
    assert sent[0] == changes[0]
    assert sent[-1] >= changes[-1]
    assert all(later - earlier >= 1 - 1e-9 for earlier, later in pairwise(sent))
