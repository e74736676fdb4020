import pytest

from apps.llm.domain.outcome import AnswerPiece, ChatAnswer, ChatFailure, Effort, Stop, StoppedBy

BUSY = Stop(StoppedBy.PROVIDER, "overloaded", "openai", retryable=True)
OPEN = Stop(StoppedBy.BREAKER, "open", "anthropic", retryable=True, retry_after_ms=20_500)
SPENT = Stop(StoppedBy.BUDGET, "budget_exceeded", "openai", retryable=True, retry_after_ms=43_200_000)
REFUSED_KEY = Stop(StoppedBy.PROVIDER, "auth", "openai")
TOO_LARGE = Stop(StoppedBy.RATE, "too_large", "anthropic")


@pytest.mark.parametrize(
    ("stops", "counts"),
    [
        ((OPEN, SPENT), OPEN),
        ((SPENT, OPEN), OPEN),
        ((SPENT, BUSY), BUSY),
        ((REFUSED_KEY, SPENT), SPENT),
        ((REFUSED_KEY, TOO_LARGE), REFUSED_KEY),
    ],
)
def test_of_several_stops_soonest_to_go_away_counts(stops, counts):
    assert ChatFailure(tuple(stops)).stop is counts


def test_failure_says_what_stopped_it_and_when_to_try_again():
    failure = ChatFailure((REFUSED_KEY, OPEN))
    assert (failure.stopped_by, failure.reason, failure.retryable) == (StoppedBy.BREAKER, "open", True)
    assert (failure.retry_after_ms, failure.retry_after) == (20_500, 21)
    assert failure.detail == "The chat provider failed too often; calls are paused (open)."


def test_a_failure_that_stays_names_no_time():
    failure = ChatFailure((TOO_LARGE,))
    assert (failure.retryable, failure.retry_after_ms, failure.retry_after) == (False, None, None)


@pytest.mark.parametrize("by", StoppedBy)
def test_every_stop_can_be_said_in_a_sentence(by):
    assert Stop(by, "some_reason").detail.endswith(".")


def test_nothing_that_was_said_is_shown_by_accident():
    answer = ChatAnswer("a secret", {"a": "secret"}, "openai", "m", finish="stop", effort=Effort())
    assert "secret" not in repr(answer) + repr(AnswerPiece("a secret"))
