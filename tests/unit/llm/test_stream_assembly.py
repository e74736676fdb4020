"""Assembling streamed answers: spec 002 section 8."""

import json
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from apps.core.domain.clock import DeterministicClock
from apps.llm.domain.json_repair.repair import load_strictly, repair_json
from apps.llm.domain.json_repair.types import RepairRefusal
from apps.llm.domain.stream_assembly import (
    CLOSE_TIMEOUT_MS,
    MAX_BUFFER_SIZE,
    AssemblyConfig,
    AssemblyError,
    AssemblyState,
    ProcessResult,
    StreamAssembler,
    StreamEvent,
    StreamMetrics,
    assemble,
)
from tests.effort import examples

START = StreamEvent("start")
STOP = StreamEvent("stop")


def delta(content: str) -> StreamEvent:
    return StreamEvent("delta", content)


def assembled(*chunks: str) -> ProcessResult:
    return assemble([START, *map(delta, chunks), STOP], DeterministicClock(0))


@pytest.fixture
def clock() -> DeterministicClock:
    return DeterministicClock(1_000)


@pytest.fixture
def assembler(clock) -> StreamAssembler:
    assembler = StreamAssembler(clock)
    assembler.process_chunk(START)
    return assembler


# -- the examples of the spec


def test_chunks_become_the_whole_document():
    result = assembled('{"schema', 'Version":"v1",', '"memories":[', '{"content":"test"}', "]}")
    assert result.value == {"schemaVersion": "v1", "memories": [{"content": "test"}]}
    assert (result.type, result.was_repaired, result.chunk_count) == ("complete", False, 7)


def test_document_that_is_not_closed_is_closed_in_order_of_opening():
    result = assembled('{"memories":[{"content":"test"')
    assert (result.buffer, result.was_repaired) == ('{"memories":[{"content":"test"}]}', True)


def test_whole_document_is_noticed_before_stream_ends(assembler):
    assert assembler.process_chunk(delta('{"test":')).type == "continue"
    result = assembler.process_chunk(delta("true}"))
    assert (result.type, result.can_validate, result.value) == ("complete_object", True, {"test": True})


# -- states


def test_an_assembly_awaits_its_start():
    assert StreamAssembler(DeterministicClock(0)).state is AssemblyState.AWAITING_START


def test_a_document_that_is_not_whole_is_in_chunk(assembler):
    assembler.process_chunk(delta('{"a": 1'))
    assert assembler.state is AssemblyState.IN_CHUNK


def test_whole_document_awaits_its_close_and_completes(assembler):
    assembler.process_chunk(delta('{"a": 1}'))
    assert assembler.state is AssemblyState.AWAITING_CLOSE
    assert assembler.process_chunk(STOP).type == "complete"
    assert assembler.state is AssemblyState.COMPLETE


def test_white_space_after_document_changes_nothing(assembler):
    assembler.process_chunk(delta('{"a": 1}'))
    assembler.process_chunk(delta(" \n"))
    assert assembler.state is AssemblyState.AWAITING_CLOSE


def test_more_text_after_document_goes_back_to_reading(assembler):
    assembler.process_chunk(delta('{"a": 1}'))
    assembler.process_chunk(delta(' {"b": 2}'))
    assert assembler.state is AssemblyState.IN_CHUNK
    assert assembler.process_chunk(STOP).value == [{"a": 1}, {"b": 2}]


def test_brackets_in_strings_open_nothing(assembler):
    assembler.process_chunk(delta('{"a": "\\"}]'))
    assert assembler.metrics() == StreamMetrics(AssemblyState.IN_CHUNK, 11, 2, 1, 0, in_string=True)


@pytest.mark.parametrize(
    ("events", "message"),
    [
        ([delta("{")], "Unexpected delta event in state awaiting_start"),
        ([STOP], "Unexpected stop event in state awaiting_start"),
        ([START, START], "Unexpected start event in state in_chunk"),
        ([START, delta("{}"), START], "Unexpected start event in state awaiting_close"),
        ([START, delta("{}"), STOP, delta("x")], "Unexpected delta event in state complete"),
        ([START, StreamEvent("error"), STOP], "Unexpected stop event in state error"),
    ],
)
def test_event_out_of_order_is_error_that_names_state(events, message):
    assembler = StreamAssembler(DeterministicClock(0))
    result = [assembler.process_chunk(event) for event in events][-1]
    assert (result.error, result.message) == (AssemblyError.UNEXPECTED_EVENT, message)
    assert assembler.state is AssemblyState.ERROR


def test_error_of_stream_ends_it_and_keeps_text(assembler):
    assembler.process_chunk(delta('{"a": 1'))
    result = assembler.process_chunk(StreamEvent("error", error="connection reset"))
    assert (result.error, result.message, result.buffer) == (AssemblyError.STREAM_ERROR, "connection reset", '{"a": 1')


def test_words_are_refused_with_reason_of_repair(assembler):
    assembler.process_chunk(delta("I would rather not"))
    result = assembler.process_chunk(STOP)
    assert (result.error, result.refusal) == (AssemblyError.INVALID_JSON, RepairRefusal.NO_JSON)
    assert assembler.state is AssemblyState.ERROR


def test_stream_that_ends_without_stop_event_is_error():
    result = assemble([START, delta('{"a": 1}')], DeterministicClock(0))
    assert (result.error, result.buffer) == (AssemblyError.NO_STOP, '{"a": 1}')


def test_event_of_unknown_type_is_passed_over(assembler):
    assert assembler.process_chunk(StreamEvent("ping")).type == "continue"  # type: ignore[arg-type]


# -- limits


def test_the_limits_are_exported():
    assert (MAX_BUFFER_SIZE, CLOSE_TIMEOUT_MS) == (100_000, 5_000)


def whole_document(length: int) -> str:
    return f'["{"x" * (length - 4)}"]'


def test_a_text_of_the_greatest_size_is_assembled():
    assert assembled(whole_document(MAX_BUFFER_SIZE)).type == "complete"


def test_a_text_one_character_bigger_is_an_error():
    result = assembled(whole_document(MAX_BUFFER_SIZE), " ")
    assert (result.error, result.buffer) == (AssemblyError.BUFFER_OVERFLOW, "")


def test_document_may_wait_for_its_close_as_long_as_timeout(assembler, clock):
    assembler.process_chunk(delta('{"a": 1}'))
    clock.advance(CLOSE_TIMEOUT_MS)
    assert assembler.check_timeout() is None
    assert assembler.process_chunk(STOP).type == "complete"


def test_document_that_waits_longer_is_error_that_carries_it(assembler, clock):
    assembler.process_chunk(delta('{"a": 1}'))
    clock.advance(CLOSE_TIMEOUT_MS + 1)
    result = assembler.check_timeout()
    assert result is not None
    assert (result.error, result.buffer) == (AssemblyError.CLOSE_TIMEOUT, '{"a": 1}')
    assert assembler.state is AssemblyState.ERROR


@pytest.mark.parametrize("event", [STOP, delta(" ")])
def test_an_event_after_the_timeout_is_too_late(assembler, clock, event):
    assembler.process_chunk(delta('{"a": 1}'))
    clock.advance(CLOSE_TIMEOUT_MS + 1)
    assert assembler.process_chunk(event).error is AssemblyError.CLOSE_TIMEOUT


def test_white_space_does_not_prolong_the_wait(assembler, clock):
    assembler.process_chunk(delta('{"a": 1}'))
    clock.advance(CLOSE_TIMEOUT_MS)
    assembler.process_chunk(delta("\n"))
    clock.advance(1)
    assert assembler.process_chunk(STOP).error is AssemblyError.CLOSE_TIMEOUT


def test_document_that_is_not_whole_has_no_timeout_here(assembler, clock):
    assembler.process_chunk(delta('{"a": 1'))
    clock.advance(CLOSE_TIMEOUT_MS * 100)
    assert assembler.process_chunk(STOP).type == "complete"


# -- any chunks

TEXTS = st.one_of(
    st.recursive(
        st.none() | st.text(max_size=5), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    ).map(json.dumps),
    st.text(alphabet='{}[]",:\\ a1\n', max_size=30),
)


def outcome(result: ProcessResult) -> tuple[object, ...]:
    return (result.type, result.buffer, json.dumps(result.value), result.was_repaired, result.error, result.refusal)


@given(TEXTS, st.lists(st.integers(0, 60), max_size=8))
@settings(max_examples=examples(100), deadline=None)
def test_any_chunks_give_the_result_of_one_chunk(text, cuts):
    places = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    chunks = [text[start:end] for start, end in pairwise(places)]
    assert outcome(assembled(*chunks)) == outcome(assembled(text))


@given(TEXTS)
@settings(max_examples=examples(100), deadline=None)
def test_single_characters_give_result_of_one_chunk(text):
    assert outcome(assembled(*text)) == outcome(assembled(text))


@given(st.text(max_size=20).map(lambda text: json.dumps({"memories": [{"content": text}]})), st.data())
@settings(max_examples=examples(100), deadline=None)
def test_stream_cut_anywhere_is_repaired_or_refused(text, data):
    cut = data.draw(st.integers(0, len(text)))
    result = assembled(text[:cut])
    assert result.type == "complete" or result.error is AssemblyError.INVALID_JSON


def test_many_documents_in_row_are_parsed_once_on_way(monkeypatch, assembler):
    """Each closing bracket could be the end; parsing at each of them would cost the square of the length."""
    parsed = []

    def counted(text: str) -> object:
        parsed.append(text)
        return load_strictly(text)

    monkeypatch.setattr("apps.llm.domain.stream_assembly.load_strictly", counted)
    for _ in range(50):
        assembler.process_chunk(delta("[]"))
    assert parsed == ["[]"]


# -- the state machine against a model


class AssemblyMachine(RuleBasedStateMachine):
    """Events in any order and at any time, against the transitions of the spec's diagram."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = DeterministicClock(0)
        self.assembler = StreamAssembler(self.clock, AssemblyConfig(max_buffer_size=24, close_timeout_ms=100))
        self.state = AssemblyState.AWAITING_START
        self.text = ""
        self.whole_since = 0

    @rule(milliseconds=st.integers(0, 80))
    def wait(self, milliseconds):
        self.clock.advance(milliseconds)

    @rule()
    def look_at_the_clock(self):
        self.assembler.check_timeout()
        self.time_passes()

    @rule()
    def start(self):
        self.assembler.process_chunk(START)
        self.time_passes()
        awaited = self.state is AssemblyState.AWAITING_START
        self.state = AssemblyState.IN_CHUNK if awaited else AssemblyState.ERROR

    @rule(content=st.sampled_from(["{", "}", "[", "]", '"a":', "1", '"b"', " ", ","]))
    def delta(self, content):
        self.assembler.process_chunk(delta(content))
        self.time_passes()
        if self.state not in (AssemblyState.IN_CHUNK, AssemblyState.AWAITING_CLOSE):
            self.state = AssemblyState.ERROR
            return
        self.text += content
        if len(self.text) > 24:
            self.state = AssemblyState.ERROR
        elif self.is_whole() and content in "}]":
            self.state, self.whole_since = AssemblyState.AWAITING_CLOSE, self.clock.now()
        elif content != " ":
            self.state = AssemblyState.IN_CHUNK

    @rule()
    def stop(self):
        result = self.assembler.process_chunk(STOP)
        self.time_passes()
        if self.state in (AssemblyState.IN_CHUNK, AssemblyState.AWAITING_CLOSE):
            expected = repair_json(self.text)
            self.state = AssemblyState.COMPLETE if expected.ok else AssemblyState.ERROR
            assert result.value == expected.value
        else:
            self.state = AssemblyState.ERROR

    @rule()
    def error(self):
        self.assembler.process_chunk(StreamEvent("error"))
        self.state = AssemblyState.ERROR

    def time_passes(self):
        if self.state is AssemblyState.AWAITING_CLOSE and self.clock.now() - self.whole_since > 100:
            self.state = AssemblyState.ERROR

    def is_whole(self) -> bool:
        return repair_json(self.text).was_valid and self.text.strip()[0] in "{["

    @invariant()
    def the_state_is_that_of_the_model(self):
        assert self.assembler.state is self.state


TestAssemblyMachine = AssemblyMachine.TestCase
TestAssemblyMachine.settings = settings(max_examples=examples(40), stateful_step_count=20, deadline=None)
