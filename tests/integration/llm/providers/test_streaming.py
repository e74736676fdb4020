import json
import time
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.llm.domain.chat import (
    ChatConnectionError,
    ChatCutOffError,
    ChatError,
    ChatTimeoutError,
    Chunk,
    EndChunk,
    FinishReason,
    TextChunk,
    TimeoutPhase,
    Timeouts,
    Usage,
)
from tests.effort import examples
from tests.integration.llm.chat_server import Reply
from tests.integration.llm.providers.conftest import QUESTION

# Far below the time for which the server stalls, far above every timeout here.
SOON = 20.0
# On a busy machine a server that runs beside the test may need most of a second for its next piece.
PAUSE = 1.5
# QUESTION has 24 bytes.
ASKED = 6
ENDS = {
    "openai": 'data: {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}\n\n',
    "anthropic": 'event: message_delta\ndata: {"type": "message_delta", "delta": {"stop_reason": "end_turn"}}\n\n',
}
THOUGHTS = {
    "openai": 'data: {"choices": [{"index": 0, "delta": {"reasoning_content": "Hm."}}]}\n\n',
    "anthropic": 'event: content_block_delta\ndata: {"type": "content_block_delta", "index": 1, '
    '"delta": {"type": "thinking_delta", "thinking": "Hm."}}\n\n',
}


def heard(chunks: list[Chunk]) -> str:
    return "".join(chunk.text for chunk in chunks if isinstance(chunk, TextChunk))


def broken_off(provider, timeouts: Timeouts | None = None) -> tuple[str, ChatError]:
    """What came before a stream failed, and how it failed."""
    text = ""
    began = time.monotonic()
    try:
        for chunk in provider.stream(QUESTION, timeouts):
            text += heard([chunk])
    except ChatError as error:
        assert time.monotonic() - began < SOON
        return text, error
    pytest.fail(f"The stream was whole: {text!r}")


def test_answer_comes_in_its_pieces_and_ends_once(server, connect, service):
    server.say(Reply(chunks=("Rain", ", then", " sun."), usage=(21, 9)))
    assert list(connect(service).stream(QUESTION)) == [
        TextChunk("Rain"),
        TextChunk(", then"),
        TextChunk(" sun."),
        EndChunk(Usage(21, 9), FinishReason.STOP, "model-that-answered"),
    ]


def test_an_answer_in_one_piece_says_the_same(server, connect, service):
    server.say(Reply(chunks=("Rain", ", then", " sun."), usage=(21, 9), finish="length"))
    completion = connect(service).complete(QUESTION)
    assert completion.text == "Rain, then sun."
    assert (completion.usage, completion.finish) == (Usage(21, 9), FinishReason.LENGTH)
    assert completion.model == "model-that-answered"


def test_text_and_usage_are_equal_however_answer_is_cut(connect, server, service):
    provider = connect(service)

    @settings(max_examples=examples(60), deadline=None)
    @given(
        text=st.text(st.characters(exclude_categories=["Cs"]), max_size=40),
        cuts=st.lists(st.integers(0, 40), max_size=8),
        piece=st.none() | st.integers(1, 200),
        usage=st.tuples(st.integers(0, 10**6), st.integers(0, 10**6)),
    )
    def check(text: str, cuts: list[int], piece: int | None, usage: tuple[int, int]) -> None:
        marks = [0, *sorted(cuts), len(text)]
        parts = tuple(text[start:end] for start, end in pairwise(marks))
        server.say(Reply(chunks=parts, piece=piece, usage=usage))
        chunks = list(provider.stream(QUESTION))
        assert heard(chunks) == text
        assert chunks[-1] == EndChunk(Usage(*usage), FinishReason.STOP, "model-that-answered")
        assert all(isinstance(chunk, TextChunk) and chunk.text for chunk in chunks[:-1])

    check()


@pytest.mark.parametrize(
    ("said", "finish"),
    [
        ("stop", FinishReason.STOP),
        ("length", FinishReason.LENGTH),
        ("content_filter", FinishReason.FILTERED),
        ("something_new", FinishReason.OTHER),
    ],
)
def test_the_reason_of_the_end_is_returned(server, connect, service, said, finish):
    server.say(Reply(finish=said))
    provider = connect(service)
    assert list(provider.stream(QUESTION))[-1].finish is finish
    assert provider.complete(QUESTION).finish is finish


def test_usage_that_server_does_not_report_is_estimated(server, connect, service):
    server.say(Reply(chunks=("x" * 41,), usage=None))
    provider = connect(service)
    estimate = Usage(ASKED, 11, estimated=True)
    assert list(provider.stream(QUESTION))[-1].usage == estimate
    assert provider.complete(QUESTION).usage == estimate


def test_tokens_that_anthropic_read_from_cache_count_as_read(server, connect):
    usage = {"input_tokens": 3, "cache_read_input_tokens": 40, "cache_creation_input_tokens": 500, "output_tokens": 2}
    content = [{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "Rain."}]
    message = {"type": "message", "role": "assistant", "model": "m", "content": content, "stop_reason": "end_turn"}
    server.say(Reply(body=json.dumps(message | {"usage": usage}).encode()))
    completion = connect("anthropic").complete(QUESTION)
    assert (completion.text, completion.usage) == ("Rain.", Usage(543, 2))


def test_what_model_thinks_is_no_part_of_its_answer(server, connect, service):
    server.say(Reply(chunks=("Rain.",), events=(THOUGHTS[service], ENDS[service])))
    assert heard(list(connect(service).stream(QUESTION))) == "Rain."


def test_stream_that_stalls_is_cut_at_its_idle_timeout(server, connect, service):
    server.say(Reply(chunks=("Rain", " and"), stall_after=1))
    text, error = broken_off(connect(service, Timeouts(idle=PAUSE, total=60)))
    assert text == "Rain"
    assert isinstance(error, ChatTimeoutError)
    assert error.phase is TimeoutPhase.IDLE
    assert error.usage.output_tokens == 1
    assert error.usage.estimated


def test_stream_that_stalls_is_cut_at_deadline_where_that_comes_first(server, connect, service):
    server.say(Reply(stall_after=1))
    text, error = broken_off(connect(service, Timeouts(idle=60, total=PAUSE)))
    assert (text, error.phase) == ("Hello", TimeoutPhase.TOTAL)


def test_comments_that_keep_stream_alive_do_not_keep_it_past_deadline(server, connect, service):
    server.say(Reply(stall_after=1, comments=0.02))
    # The comments are activity: without them the idle time would be over first.
    text, error = broken_off(connect(service, Timeouts(idle=PAUSE, total=PAUSE + 0.5)))
    assert (text, error.phase) == ("Hello", TimeoutPhase.TOTAL)


def test_words_that_trickle_do_not_go_on_past_deadline(server, connect, service):
    server.say(Reply(chunks=("word ",) * 3_000, delay=0.02))
    text, error = broken_off(connect(service, Timeouts(idle=PAUSE, total=PAUSE + 0.5)))
    assert text.startswith("word word ")
    assert error.phase is TimeoutPhase.TOTAL


def test_headers_that_trickle_do_not_go_on_past_deadline(server, connect, service):
    server.say(Reply(header_delay=0.02))
    text, error = broken_off(connect(service, Timeouts(idle=PAUSE, total=PAUSE + 0.5)))
    assert (text, error.phase) == ("", TimeoutPhase.TOTAL)


def test_server_that_says_nothing_at_all_is_given_up_at_idle_timeout(server, connect, service):
    server.say(Reply(stall_after=0))
    _, error = broken_off(connect(service, Timeouts(idle=0.3, total=60)))
    assert error.phase is TimeoutPhase.IDLE


def test_caller_may_allow_less_time_than_is_configured(server, connect, service):
    server.say(Reply(stall_after=1))
    provider = connect(service, Timeouts(idle=60, total=60))
    _, error = broken_off(provider, provider.timeouts.within(0.2))
    assert error.phase is TimeoutPhase.TOTAL


@pytest.mark.parametrize("reply", [Reply(stall_after=1), Reply(stall_after=1, comments=0.02), Reply(header_delay=0.02)])
def test_answer_in_one_piece_is_waited_for_until_deadline(server, connect, service, reply):
    server.say(reply)
    with pytest.raises(ChatTimeoutError) as caught:
        connect(service, Timeouts(idle=0.05, total=0.3)).complete(QUESTION)
    assert caught.value.phase is TimeoutPhase.TOTAL
    assert caught.value.usage == Usage(ASKED, 0, estimated=True)


def test_answer_in_one_piece_may_take_longer_than_idle_timeout(server, connect, service):
    server.say(Reply(delay=0.1))
    assert connect(service, Timeouts(idle=0.05, total=SOON)).complete(QUESTION).text == "Hello there"


def test_stream_that_is_cut_raises_after_what_came(server, connect, service):
    server.say(Reply(chunks=('{"a": "b"', ', "c"'), cut_after=1))
    text, error = broken_off(connect(service))
    assert text == '{"a": "b"'
    assert isinstance(error, ChatCutOffError)
    assert error.retryable
    assert error.counts_against_breaker
    assert (error.usage.output_tokens, error.usage.estimated) == (3, True)


def test_a_reset_after_the_first_words_is_a_cut(server, connect, service):
    server.say(Reply(chunks=("word ",) * 50, delay=0.01, cut_after=40, reset=True))
    text, error = broken_off(connect(service))
    assert text.startswith("word ")
    assert isinstance(error, ChatCutOffError)


@pytest.mark.parametrize("length", [True, False], ids=["chunked", "until the server hangs up"])
def test_stream_that_ends_without_saying_so_is_cut(server, connect, service, length):
    server.say(Reply(finish=None, length=length))
    text, error = broken_off(connect(service))
    assert text == "Hello there"
    assert isinstance(error, ChatCutOffError)


def test_answer_in_one_piece_that_is_cut_is_connection_that_failed(server, connect, service):
    server.say(Reply(cut_after=1))
    with pytest.raises(ChatConnectionError) as caught:
        connect(service).complete(QUESTION)
    assert caught.value.retryable
    assert caught.value.usage == Usage(ASKED, 0, estimated=True)


@pytest.mark.parametrize("trouble", [{"stall_after": 2}, {"cut_after": 2}], ids=["stall", "cut"])
def test_trouble_after_the_last_word_does_no_harm(server, connect, service, trouble):
    server.say(Reply(chunks=("Hello",), events=(ENDS[service],), **trouble))
    *pieces, end = connect(service, Timeouts(idle=PAUSE)).stream(QUESTION)
    assert heard(pieces) == "Hello"
    assert end.finish is FinishReason.STOP
    assert end.usage.estimated


def test_a_stream_that_is_given_up_hangs_up(server, connect, service):
    server.say(Reply(stall_after=1, comments=0.01))
    stream = connect(service).stream(QUESTION)
    assert next(stream) == TextChunk("Hello")
    stream.close()
    until = time.monotonic() + SOON
    while not server.hung_up and time.monotonic() < until:
        time.sleep(0.01)
    assert server.hung_up == 1


@pytest.mark.parametrize("comments", [None, 0.01], ids=["silence", "comments"])
def test_reader_may_say_how_long_it_waits_for_next_piece(server, connect, service, comments):
    server.say(Reply(stall_after=1, comments=comments))
    stream = connect(service).stream(QUESTION)
    assert next(stream) == TextChunk("Hello")
    began = time.monotonic()
    with pytest.raises(ChatTimeoutError) as caught:
        stream.send(0.2)
    assert caught.value.phase is TimeoutPhase.TOTAL
    assert time.monotonic() - began < SOON


def test_pieces_after_one_that_came_in_time_have_time_of_call(server, connect, service):
    server.say(Reply(chunks=("Rain", ", then", " sun", ", then", " snow."), delay=0.6))
    stream = connect(service).stream(QUESTION)
    next(stream)
    assert stream.send(PAUSE) == TextChunk(", then")
    # The last one comes later than the time that was sent for the one after the first.
    assert heard(list(stream)) == " sun, then snow."


def test_nothing_is_asked_before_first_piece_is_wanted(server, connect, service):
    stream = connect(service).stream(QUESTION)
    assert server.received == []
    assert next(stream) == TextChunk("Hello")
    stream.close()


def test_calls_one_after_another_share_connection(server, connect, service):
    provider = connect(service)
    for _ in range(3):
        list(provider.stream(QUESTION))
        provider.complete(QUESTION)
    assert len({received.connection for received in server.received}) == 1


def test_server_that_does_not_end_its_answer_is_not_waited_for(server, connect):
    server.say(Reply(stall_after=3))
    provider = connect("openai")
    began = time.monotonic()
    assert list(provider.stream(QUESTION))[-1].usage == Usage(7, 3)
    assert time.monotonic() - began < SOON
    server.say(Reply())
    provider.complete(QUESTION)
    assert len({received.connection for received in server.received}) == 2
