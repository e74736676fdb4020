import math

import pytest

from apps.llm.domain.chat import (
    DEFAULT_TIMEOUTS,
    JSON_INSTRUCTION,
    ChatAuthError,
    ChatBadRequestError,
    ChatBadResponseError,
    ChatConnectionError,
    ChatCutOffError,
    ChatError,
    ChatMessage,
    ChatOverloadedError,
    ChatRateLimitedError,
    ChatRequest,
    ChatTimeoutError,
    Completion,
    EndChunk,
    ErrorKind,
    FinishReason,
    MessageRole,
    TextChunk,
    TimeoutPhase,
    Timeouts,
    Usage,
    estimate_usage,
    join_chunks,
)

HELLO = ChatMessage(MessageRole.USER, "Hello!")
END = EndChunk(Usage(3, 4), FinishReason.STOP, "m")


@pytest.mark.parametrize("content", ["", " ", "\n\t "])
def test_a_message_says_something(content):
    with pytest.raises(ValueError, match="cannot be empty"):
        ChatMessage(MessageRole.USER, content)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"messages": ()}, "needs a message"),
        ({"max_tokens": 0}, "at least 1 token"),
        ({"temperature": -0.1}, "from 0 to 1"),
        ({"temperature": 1.1}, "from 0 to 1"),
        ({"temperature": math.nan}, "from 0 to 1"),
    ],
)
def test_a_request_that_no_api_takes_is_refused(changes, problem):
    with pytest.raises(ValueError, match=problem):
        ChatRequest(**({"messages": (HELLO,), "max_tokens": 1} | changes))


@pytest.mark.parametrize("temperature", [None, 0, 0.5, 1])
def test_a_request_at_the_limits_is_taken(temperature):
    assert ChatRequest((HELLO,), max_tokens=1, temperature=temperature).temperature == temperature


@pytest.mark.parametrize(
    ("system", "expects_json", "instructions"),
    [
        ("", False, ""),
        ("Be brief.", False, "Be brief."),
        ("", True, JSON_INSTRUCTION),
        ("Be brief.", True, f"Be brief.\n\n{JSON_INSTRUCTION}"),
    ],
)
def test_json_is_asked_for_in_words(system, expects_json, instructions):
    request = ChatRequest((HELLO,), max_tokens=1, system=system, expects_json=expects_json)
    assert request.instructions == instructions
    assert "JSON" in JSON_INSTRUCTION  # without the word OpenAI refuses its JSON mode


def test_usage_is_estimated_from_all_that_is_sent_and_all_that_came_back():
    request = ChatRequest((HELLO, ChatMessage(MessageRole.ASSISTANT, "Good day")), max_tokens=9, system="Be brief.")
    assert request.estimated_input_tokens == 2 + 2 + 3
    assert estimate_usage(request, "Grüße") == Usage(7, 2, estimated=True)
    assert Usage(7, 2).total_tokens == 9


def test_chunks_make_a_whole_answer():
    chunks = [TextChunk("Rain"), TextChunk("."), END]
    assert join_chunks(chunks) == Completion("Rain.", Usage(3, 4), FinishReason.STOP, "m")
    assert join_chunks([END]).text == ""


@pytest.mark.parametrize("chunks", [[], [TextChunk("Rain")], [END, END]])
def test_chunks_without_one_end_are_no_answer(chunks):
    with pytest.raises(ValueError, match="has 1 end"):
        join_chunks(chunks)


@pytest.mark.parametrize("times", [(0, 1, 1), (1, -1, 1), (1, 1, 0)])
def test_a_timeout_is_above_zero(times):
    with pytest.raises(ValueError, match="above 0"):
        Timeouts(*times)


def test_caller_in_hurry_shortens_whole_and_nothing_else():
    timeouts = Timeouts(connect=1, idle=5, total=20)
    assert timeouts.within(3) == Timeouts(1, 5, 3)
    assert timeouts.within(30) == timeouts
    assert Timeouts(5.0, 60.0, 180.0) == DEFAULT_TIMEOUTS


def test_each_error_says_what_follows_from_it():
    kinds = {error.kind: (error.retryable, error.counts_against_breaker) for error in ChatError.__subclasses__()}
    assert kinds == {
        ErrorKind.TIMEOUT: (True, True),
        ErrorKind.CONNECTION: (True, True),
        ErrorKind.RATE_LIMITED: (True, False),
        ErrorKind.OVERLOADED: (True, True),
        ErrorKind.AUTH: (False, True),
        ErrorKind.BAD_REQUEST: (False, False),
        ErrorKind.BAD_RESPONSE: (True, True),
        ErrorKind.CUT_OFF: (True, True),
    }
    assert set(kinds) == set(ErrorKind)


@pytest.mark.parametrize(
    ("milliseconds", "seconds"), [(None, None), (0, 0), (1, 1), (1_000, 1), (1_001, 2), (90_000, 90)]
)
def test_a_pause_is_known_in_whole_seconds_too(milliseconds, seconds):
    assert ChatRateLimitedError("busy", status=429, retry_after_ms=milliseconds).retry_after == seconds


def test_a_timeout_tells_which_time_ran_out():
    error = ChatTimeoutError("late", phase=TimeoutPhase.IDLE, usage=Usage(1, 2))
    assert (error.phase, error.usage, error.status, error.retry_after) == (TimeoutPhase.IDLE, Usage(1, 2), None, None)


@pytest.mark.parametrize(
    "error",
    [
        ChatAuthError,
        ChatBadRequestError,
        ChatBadResponseError,
        ChatConnectionError,
        ChatCutOffError,
        ChatOverloadedError,
    ],
)
def test_every_error_carries_its_text_and_status(error):
    raised = error("what happened", status=418)
    assert (str(raised), raised.status, raised.usage) == ("what happened", 418, None)


def test_what_people_said_is_not_shown():
    request = ChatRequest((HELLO,), max_tokens=1, system="a secret")
    shown = repr([request, HELLO, TextChunk("Hello!"), Completion("Hello!", *(END.usage, END.finish, END.model))])
    assert "Hello!" not in shown
    assert "secret" not in shown
