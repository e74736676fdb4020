from itertools import repeat

import pytest

from apps.llm.domain.chat import (
    ChatCutOffError,
    ChatOverloadedError,
    ChatProvider,
    ChatTimeoutError,
    EndChunk,
    FinishReason,
    TextChunk,
    TimeoutPhase,
    Timeouts,
    Usage,
)
from apps.llm.providers.scripted import ScriptedChat, ScriptExhaustedError, Silence, Turn
from tests.integration.llm.providers.conftest import QUESTION

PATIENCE = Timeouts(connect=1, idle=10, total=30)


@pytest.fixture
def slept() -> list[float]:
    return []


def script(slept: list[float], *turns: Turn) -> ScriptedChat:
    return ScriptedChat(turns, timeouts=PATIENCE, sleep=slept.append)


def test_it_is_a_chat_provider(slept):
    provider: ChatProvider = script(slept, "Rain.")
    assert (provider.name, provider.model) == ("scripted", "script")


def test_each_call_gets_the_next_turn(slept):
    provider = script(slept, "Rain.", "Sun.")
    assert [provider.complete(QUESTION).text for _ in range(2)] == ["Rain.", "Sun."]
    assert provider.requests == [QUESTION, QUESTION]


def test_turn_is_played_in_its_pieces_and_ends_with_estimate(slept):
    provider = script(slept, ("Rain", "", ", then sun."))
    assert list(provider.stream(QUESTION)) == [
        TextChunk("Rain"),
        TextChunk(", then sun."),
        EndChunk(Usage(6, 4, estimated=True), FinishReason.STOP, "script"),
    ]


def test_a_turn_may_say_how_it_ends(slept):
    end = EndChunk(Usage(5, 1), FinishReason.LENGTH, "m")
    assert list(script(slept, ("Ra", end)).stream(QUESTION))[-1] is end


def test_error_comes_after_what_stands_before_it(slept):
    stream = script(slept, ("Rain", ChatCutOffError("cut"), "never")).stream(QUESTION)
    assert next(stream) == TextChunk("Rain")
    with pytest.raises(ChatCutOffError):
        next(stream)


def test_a_provider_may_recover(slept):
    provider = script(slept, (ChatOverloadedError("busy"),), "Rain.")
    with pytest.raises(ChatOverloadedError):
        provider.complete(QUESTION)
    assert provider.complete(QUESTION).text == "Rain."


def test_pauses_are_slept_through_between_pieces(slept):
    stream = script(slept, ("Rain", Silence(2), ", then", Silence(3), " sun.")).stream(QUESTION)
    seen = [(chunk.text, sum(slept)) for chunk in stream if isinstance(chunk, TextChunk)]
    assert seen == [("Rain", 0), (", then", 2), (" sun.", 5)]


def test_a_pause_is_cut_at_the_idle_timeout(slept):
    stream = script(slept, ("Rain", Silence(11), "never")).stream(QUESTION)
    assert next(stream) == TextChunk("Rain")
    with pytest.raises(ChatTimeoutError) as caught:
        next(stream)
    assert (caught.value.phase, slept) == (TimeoutPhase.IDLE, [10])


def test_pauses_are_cut_at_the_deadline(slept):
    provider = script(slept, ("a", Silence(9), "b", Silence(9), "c", Silence(9), "d", Silence(9), "never"))
    with pytest.raises(ChatTimeoutError) as caught:
        list(provider.stream(QUESTION))
    assert (caught.value.phase, slept) == (TimeoutPhase.TOTAL, [9, 9, 9, 3])


def test_answer_in_one_piece_is_waited_for_until_deadline(slept):
    provider = script(slept, (Silence(29), "Rain."), (Silence(31), "never"))
    assert provider.complete(QUESTION).text == "Rain."
    with pytest.raises(ChatTimeoutError) as caught:
        provider.complete(QUESTION)
    assert (caught.value.phase, slept) == (TimeoutPhase.TOTAL, [29, 30])


def test_the_caller_may_allow_less_time(slept):
    with pytest.raises(ChatTimeoutError) as caught:
        list(script(slept, (Silence(5), "never")).stream(QUESTION, PATIENCE.within(2)))
    assert (caught.value.phase, slept) == (TimeoutPhase.TOTAL, [2])


def test_reader_may_say_how_long_it_waits_for_next_piece(slept):
    stream = script(slept, ("Rain", Silence(9), ", then", Silence(9), "never")).stream(QUESTION)
    next(stream)
    next(stream)
    with pytest.raises(ChatTimeoutError) as caught:
        stream.send(5)
    assert (caught.value.phase, slept) == (TimeoutPhase.TOTAL, [9, 5])


def test_a_script_may_be_endless():
    provider = ScriptedChat(repeat("Rain."))
    assert {provider.complete(QUESTION).text for _ in range(100)} == {"Rain."}


def test_a_script_at_its_end_says_so(slept):
    provider = script(slept, "Rain.")
    provider.complete(QUESTION)
    with pytest.raises(ScriptExhaustedError, match="at its end"):
        provider.complete(QUESTION)
