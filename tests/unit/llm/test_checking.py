import json
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from apps.llm.domain.answers import (
    CORRECTABLE,
    MAX_PROBLEMS,
    Expectation,
    StreamedAnswer,
    UnusableAnswer,
    UsableAnswer,
    build_correction,
    check_answer,
    check_partial_answer,
)
from apps.llm.domain.chat import ChatMessage, ChatRequest, FinishReason, MessageRole
from apps.llm.domain.json_repair.repair import repair_json
from apps.llm.domain.outcome import OutputFault

STOP, LENGTH, FILTERED = FinishReason.STOP, FinishReason.LENGTH, FinishReason.FILTERED


class Days(BaseModel):
    days: list[int]


class Weather(BaseModel):
    sky: Literal["clear", "cloudy"]
    degrees: float = Field(ge=-100, le=60)


TEXT = Expectation()
ANY_JSON = Expectation(json=True)
WEATHER = Expectation(Weather, json=True)
PART_OF_WEATHER = Expectation(Weather, json=True, partial_ok=True)
PART_OF_DAYS = Expectation(Days, json=True, partial_ok=True)
QUESTION = ChatRequest((ChatMessage(MessageRole.USER, "How is the weather?"),), max_tokens=50)


def heard(text: str, finish: FinishReason | None = STOP) -> StreamedAnswer:
    """As the reader hears it: the stop event repairs."""
    return StreamedAnswer(text, finish, repair_json(text) if finish and text.strip() else None)


def fault(checked: object) -> OutputFault:
    assert isinstance(checked, UnusableAnswer)
    return checked.fault


def test_a_text_is_used_as_it_is():
    assert check_answer(StreamedAnswer(" Rain.\n", STOP), TEXT) == UsableAnswer(" Rain.\n", None)


def test_text_that_reached_its_length_is_used_and_says_that_it_is_cut():
    assert check_answer(StreamedAnswer("Rain, th", LENGTH), TEXT) == UsableAnswer("Rain, th", None, is_cut=True)


def test_an_empty_answer_is_of_no_use():
    assert fault(check_answer(StreamedAnswer(" \n", STOP), TEXT)) is OutputFault.EMPTY
    assert fault(check_answer(StreamedAnswer("", LENGTH), TEXT)) is OutputFault.CUT_OFF


def test_a_text_that_broke_off_is_no_answer():
    assert check_answer(StreamedAnswer("Rain, th", None), TEXT) is None
    assert check_partial_answer("Rain, th", Expectation(partial_ok=True)) is None


@pytest.mark.parametrize("expected", [TEXT, WEATHER])
def test_filtered_or_too_long_answer_is_not_read(expected):
    assert fault(check_answer(heard('{"sky": "clear", "degrees": 1}', FILTERED), expected)) is OutputFault.FILTERED
    assert fault(check_answer(StreamedAnswer("x" * 9, None, is_too_long=True), expected)) is OutputFault.TOO_LONG


def test_document_becomes_instance_of_schema():
    checked = check_answer(heard('{"sky": "clear", "degrees": 21.5}'), WEATHER)
    assert checked == UsableAnswer('{"sky": "clear", "degrees": 21.5}', Weather(sky="clear", degrees=21.5))


def test_without_schema_document_is_what_it_says():
    assert check_answer(heard("[1, null]"), ANY_JSON) == UsableAnswer("[1, null]", [1, None])


def test_damaged_document_is_repaired_and_says_so():
    checked = check_answer(heard("Sure!\n```json\n{'sky': 'clear', 'degrees': 21.5,}\n```"), WEATHER)
    assert isinstance(checked, UsableAnswer)
    assert (checked.value, checked.is_cut) == (Weather(sky="clear", degrees=21.5), False)
    assert checked.text == '{"sky": "clear", "degrees": 21.5}'
    assert checked.repairs


def test_words_are_no_document():
    assert fault(check_answer(heard("It is sunny."), WEATHER)) is OutputFault.INVALID_JSON


def test_document_of_another_shape_is_refused_with_its_problems_and_without_its_values():
    checked = check_answer(heard('{"sky": "a secret", "degrees": 999}'), WEATHER)
    assert fault(checked) is OutputFault.WRONG_SHAPE
    assert checked.problems == (
        "sky: Input should be 'clear' or 'cloudy'",
        "degrees: Input should be less than or equal to 60",
    )
    assert "secret" not in str(checked.problems)


def test_only_a_few_problems_are_reported():
    class Week(BaseModel):
        days: list[Weather]

    document = '{"days": [' + ",".join(["{}"] * 100) + "]}"
    assert len(check_answer(heard(document), Expectation(Week, json=True)).problems) == MAX_PROBLEMS


def test_answer_cut_at_its_length_is_refused_unless_caller_takes_part():
    cut = heard('{"days": [17, 21, 2', LENGTH)
    assert fault(check_answer(cut, Expectation(Days, json=True))) is OutputFault.CUT_OFF
    taken = check_answer(cut, PART_OF_DAYS)
    # The last day may have been 20 or more.
    assert (taken.value, taken.text, taken.is_cut) == (Days(days=[17, 21]), '{"days": [17, 21]}', True)


@pytest.mark.parametrize(
    ("cut", "part"),
    [
        ('[{"a": 1}, {"a": [1, 2, 3', [{"a": 1}]),
        ('{"title": "x", "days": ["a", "b", "c', {"title": "x", "days": ["a", "b"]}),
        ('{"week": {"days": [1, 2, {"a":', {"week": {"days": [1, 2]}}),
        ('{"days": [[1, 2], [3', {"days": [[1, 2]]}),
        ("[1, 2,", [1]),
    ],
)
def test_part_is_list_with_what_was_whole_in_it(cut, part):
    assert check_answer(heard(cut, LENGTH), Expectation(json=True, partial_ok=True)).value == part


@pytest.mark.parametrize(
    "cut",
    ['{"sky": "clear", "degrees": 2', '{"days": [1, 2], "sky": "cl', '{"days": [1', '{"days": [', '"cle', "It i", "{"],
)
def test_part_without_list_at_its_end_is_refused(cut):
    assert fault(check_answer(heard(cut, LENGTH), Expectation(json=True, partial_ok=True))) is OutputFault.CUT_OFF
    assert check_partial_answer(cut, Expectation(json=True, partial_ok=True)) is None


def test_part_without_what_schema_needs_is_refused():
    assert fault(check_answer(heard('{"days": ["a", "b"', LENGTH), PART_OF_DAYS)) is OutputFault.CUT_OFF


def test_document_that_is_whole_at_its_length_is_not_cut():
    checked = check_answer(heard('{"sky": "clear", "degrees": 21}', LENGTH), WEATHER)
    assert isinstance(checked, UsableAnswer)
    assert not checked.is_cut


def test_document_that_is_whole_although_stream_broke_off_is_used():
    text = '{"sky": "clear", "degrees": 21}'
    checked = check_answer(StreamedAnswer(text, None, repair_json(text)), WEATHER)
    assert checked == UsableAnswer(text, Weather(sky="clear", degrees=21))


def test_rest_of_broken_stream_is_used_only_by_callers_who_take_part():
    rest = '{"days": [17, 21, 2'
    assert check_partial_answer(rest, Expectation(Days, json=True)) is None
    taken = check_partial_answer(rest, PART_OF_DAYS)
    assert (taken.value, taken.is_cut) == (Days(days=[17, 21]), True)
    assert check_partial_answer('{"days": ["a", "b"', PART_OF_DAYS) is None


CUT_VALUE = '{"content": "Ana is allergic to pea'


def test_answer_that_ends_inside_a_value_is_cut_whatever_the_provider_says():
    assert check_answer(heard(CUT_VALUE), ANY_JSON) == UnusableAnswer(OutputFault.CUT_OFF)
    taken = check_answer(heard('{"days": [17, 21, 2'), PART_OF_DAYS)
    assert isinstance(taken, UsableAnswer)
    assert (taken.value, taken.is_cut) == (Days(days=[17, 21]), True)


def test_answer_whose_values_are_whole_is_repaired_when_the_model_ended_it():
    taken = check_answer(heard('{"days": [17, 21'), PART_OF_DAYS)
    assert isinstance(taken, UsableAnswer)
    assert taken.is_cut
    taken = check_answer(heard('{"sky": "clear", "degrees": 21 '), WEATHER)
    assert taken == UsableAnswer(
        '{"sky": "clear", "degrees": 21}', Weather(sky="clear", degrees=21), repairs=taken.repairs
    )


@given(
    st.lists(st.dictionaries(st.text(max_size=3), st.integers() | st.text(max_size=5), max_size=3), min_size=1),
    st.data(),
)
def test_every_element_of_part_is_one_of_whole(elements, data):
    text = json.dumps({"elements": elements})
    cut = text[: data.draw(st.integers(0, len(text) - 1))]
    taken = check_partial_answer(cut, Expectation(json=True, partial_ok=True))
    if taken is not None and taken.is_cut:
        found = taken.value["elements"]
        assert found == elements[: len(found)]


@given(st.text(), st.sampled_from([*FinishReason, None]), st.sampled_from([TEXT, ANY_JSON, WEATHER, PART_OF_WEATHER]))
def test_nothing_that_a_model_writes_raises(text, finish, expected):
    whole = heard(text, finish) if expected.json else StreamedAnswer(text, finish)
    assert isinstance(check_answer(whole, expected), UsableAnswer | UnusableAnswer | None)
    assert isinstance(check_partial_answer(text, expected), UsableAnswer | None)


@pytest.mark.parametrize("text", ['{"sky": "\\ud800", "degrees": 1}', "[" * 400 + "]" * 400, '{"degrees": 1e999}'])
def test_documents_that_readers_disagree_about_are_refused(text):
    assert fault(check_answer(heard(text), WEATHER)) is OutputFault.WRONG_SHAPE


def test_correction_puts_question_again_with_answer_and_what_is_wrong_with_it():
    asked = build_correction(
        QUESTION, '{"sky": "grey"}', UnusableAnswer(OutputFault.WRONG_SHAPE, ("sky: no", "degrees: missing"))
    )
    assert [message.role for message in asked.messages] == [MessageRole.USER, MessageRole.ASSISTANT, MessageRole.USER]
    assert asked.messages[1].content == '{"sky": "grey"}'
    assert "- sky: no\n- degrees: missing\n" in asked.messages[2].content
    assert asked.max_tokens == QUESTION.max_tokens


@pytest.mark.parametrize("unusable", [UnusableAnswer(each) for each in OutputFault])
def test_every_fault_can_be_explained_to_model_even_without_answer(unusable):
    asked = build_correction(QUESTION, " ", unusable)
    assert all(message.content.strip() for message in asked.messages)
    assert unusable.is_correctable is (unusable.fault in CORRECTABLE)


def test_a_cut_answer_is_asked_for_in_fewer_words():
    assert (
        "room for 50 tokens"
        in build_correction(QUESTION, "It is", UnusableAnswer(OutputFault.CUT_OFF)).messages[-1].content
    )
