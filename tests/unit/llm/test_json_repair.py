"""Repairing JSON: spec 002 section 7 with the corpus of section 12."""

import pytest

from apps.llm.domain.json_repair.repair import RepairResult, load_strictly, repair_json
from apps.llm.domain.json_repair.types import (
    MAX_ATTEMPTS,
    MAX_DEPTH,
    MAX_LENGTH,
    Repair,
    RepairConfig,
    RepairKind,
    RepairRefusal,
)

CORPUS = [
    ("trailing-comma-1", '{"key": "value",}', '{"key": "value"}'),
    ("unclosed-string-1", '{"key": "value', '{"key": "value"}'),
    ("unclosed-brace-1", '{"key": "value"', '{"key": "value"}'),
    ("single-quotes-1", "{'key': 'value'}", '{"key": "value"}'),
    ("mixed-issues-1", "{'key': 'value',", '{"key": "value"}'),
    ("unrepairable-1", "not even close to JSON", None),
    ("nested-quotes", '{"key": "value with \\"quotes\\"",}', '{"key": "value with \\"quotes\\""}'),
    ("deep-nesting", '{"a":{"b":{"c":{"d":"e"', '{"a":{"b":{"c":{"d":"e"}}}}'),
    ("array-trailing", '["a","b","c",]', '["a","b","c"]'),
]


@pytest.mark.parametrize(("given", "expected"), [case[1:] for case in CORPUS], ids=[case[0] for case in CORPUS])
def test_corpus_of_spec_comes_out_byte_for_byte(given, expected):
    assert repair_json(given).text == expected


def test_the_limits_are_those_of_the_spec():
    assert (MAX_LENGTH, MAX_ATTEMPTS) == (50_000, 10)


VALID = [
    '  {"a" : [ 1 , 2.50, -0, 1E5 ] }\n',
    '{"t": true, "f": false, "n": null}',
    '"it\'s \\u00e9 and \\/ and {not: json,}"',
    '{"a": 1, "a": 2}',
    "7",
    '""',
    '["\\ud83d"]',
]


@pytest.mark.parametrize("text", VALID)
def test_valid_json_comes_back_as_it_was(text):
    result = repair_json(text)
    assert (result.text, result.was_valid, result.repairs) == (text, True, ())


def test_valid_json_beyond_length_that_may_be_repaired_comes_back_as_it_was():
    text = f'["{"x" * MAX_LENGTH}"]'
    assert repair_json(text).text == text


def test_null_is_a_value_and_not_a_refusal():
    assert repair_json("null") == RepairResult("null", None)
    assert repair_json("null").ok


@pytest.mark.parametrize("text", ["[NaN]", "[Infinity]", "[-Infinity]"])
def test_constants_that_only_python_reads_as_json_are_damage(text):
    with pytest.raises(ValueError, match="is not JSON"):
        load_strictly(text)
    assert repair_json(text).value == [text[1:-1]]


def test_a_result_says_what_was_done_and_where():
    assert repair_json("{'a': 1,}").repairs == (
        Repair(RepairKind.QUOTES, 1),
        Repair(RepairKind.TRAILING_COMMA, 7),
    )


def test_a_repaired_text_was_not_valid():
    result = repair_json('{"a": 1')
    assert (result.ok, result.was_valid, result.value) == (True, False, {"a": 1})


def test_text_and_white_space_that_need_no_repair_stay():
    given = '{\n  "price":  1.50,\n  "big": 1E+2,\n  "word": "caf\\u00e9 \\/ é",\n}\n'
    assert repair_json(given).text == '{\n  "price":  1.50,\n  "big": 1E+2,\n  "word": "caf\\u00e9 \\/ é"\n}'


def test_closing_follows_the_order_of_opening():
    assert repair_json('{"memories":[{"content":"test"').text == '{"memories":[{"content":"test"}]}'


# -- limits


def damaged_by(length: int) -> str:
    return f'["{"x" * (length - 4)}",'


def test_damaged_text_of_greatest_length_is_repaired():
    assert repair_json(damaged_by(MAX_LENGTH)).ok


def test_damaged_text_one_character_longer_is_refused():
    assert repair_json(damaged_by(MAX_LENGTH + 1)) == RepairResult(None, refusal=RepairRefusal.TOO_LONG)


def test_twelve_objects_with_a_comma_too_many_are_repaired():
    assert repair_json("[" + ",".join(['{"a":1,}'] * 12) + "]").value == [{"a": 1}] * 12


def test_a_thousand_faults_are_repaired():
    result = repair_json("[" + '{"a":1,},' * 1_000 + "]")
    assert (result.value, len(result.repairs)) == ([{"a": 1}] * 1_000, 1_001)


def test_as_many_open_lists_as_may_be_nested_are_closed():
    assert repair_json("[" * MAX_DEPTH).text == "[" * MAX_DEPTH + "]" * MAX_DEPTH
    assert repair_json("[" * (MAX_DEPTH + 1)).refusal is RepairRefusal.TOO_DEEP


def test_value_after_nine_words_in_brackets_is_found_and_after_ten_not():
    notes = [f"[note{number}]" for number in range(10)]
    assert repair_json(" ".join([*notes[:9], '{"a": 1}'])).value == {"a": 1}
    assert repair_json(" ".join([*notes, '{"a": 1}'])).refusal is RepairRefusal.NO_JSON


def test_text_that_takes_more_work_than_it_may_is_refused():
    config = RepairConfig(work_per_character=0, work_of_any_text=100)
    assert repair_json("[" + "1," * 20 + "]", config).ok
    assert repair_json("[" + "1," * 100 + "]", config).refusal is RepairRefusal.TOO_MUCH_WORK


def test_repair_ends_when_its_time_is_over():
    config = RepairConfig(max_seconds=0)
    assert repair_json("[" + "1," * 1_000 + "]", config) == RepairResult(None, refusal=RepairRefusal.OUT_OF_TIME)


def test_quotes_inside_one_string_are_one_repair():
    text = '{"html": "' + '<a href="x">' * 30 + '"}'
    assert [repair.kind for repair in repair_json(text).repairs] == [RepairKind.INNER_QUOTE]


def test_nesting_up_to_limit_is_read_and_beyond_it_refused():
    assert repair_json("[" * MAX_DEPTH + "]" * MAX_DEPTH).was_valid
    deeper = "[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1)
    assert repair_json(deeper) == RepairResult(None, refusal=RepairRefusal.TOO_DEEP)


def test_brackets_in_strings_are_no_nesting():
    text = '["' + "[{" * MAX_DEPTH + '"]'
    assert repair_json(text).was_valid


def test_valid_text_nested_less_deep_than_it_has_brackets_is_read():
    assert repair_json("[" + "[]," * (2 * MAX_DEPTH) + "[]]").was_valid


# -- refusals


@pytest.mark.parametrize(
    "text", ["", "   ", "no JSON here", "{name}", "// only a comment", '"quoted words" and others', "-- 7 --"]
)
def test_words_are_no_json(text):
    assert repair_json(text) == RepairResult(None, refusal=RepairRefusal.NO_JSON)


@pytest.mark.parametrize("text", ['{"at": datetime(2024, 1, 2)}', '{"at": now()}', "[" + "1" * 5000 + "]"])
def test_what_has_no_reading_in_json_is_refused(text):
    assert repair_json(text) == RepairResult(None, refusal=RepairRefusal.UNREADABLE)


def test_fragment_is_not_taken_for_whole_that_cannot_be_repaired():
    text = 'The answer: [{"a": 1}, {"at": now()}]'
    assert repair_json(text).refusal is RepairRefusal.UNREADABLE


# -- values that the end of the text cut

CUT = {
    "a string": ('{"content": "Ana is allergic to pea', ("content",)),
    "a string in a list": ('{"tags": ["tea", "mil', ("tags", 1)),
    "a string in the last of several objects": ('[{"a": "x"}, {"a": "y', (1, "a")),
    "a string after a member of the same name": ('{"a": 1, "b": 2, "a": "te', ("a",)),
    "a string in a fence": ('```json\n{"a": "te\n```', ("a",)),
    "a string that ends with a bracket of its own": ('{"a": "see {x}', ("a",)),
    "a string with other quotes": ("{'a': 'te", ("a",)),
    "a string in another value": ('{"a": 1}\n{"b": "te', (1, "b")),
    "an escape": ('{"a": "te\\u00', ("a",)),
    "words": ("{a: green te", ("a",)),
    "a number": ('{"a": 0.', ("a",)),
    "a number that may go on": ('{"a": 21', ("a",)),
    "a keyword": ('{"a": tr', ("a",)),
    "a missing value": ('{"a":', ("a",)),
    "a name": ('{"a": 1, "b', ("b",)),
}


@pytest.mark.parametrize(("text", "path"), CUT.values(), ids=CUT.keys())
def test_value_that_the_end_of_the_text_cut_is_named(text, path):
    assert repair_json(text).truncated == (path,)


WHOLE = [
    '{"a": "tea"',
    '{"a": "tea}',
    '["tea, "milk"]',
    '{"a": 21 ',
    '{"a": true',
    '{"a": [1, 2]',
    '{"a": "x",}',
    "{'a': 1}",
]


@pytest.mark.parametrize("text", WHOLE)
def test_value_that_ends_before_the_text_is_whole(text):
    assert repair_json(text).truncated == ()


@pytest.mark.parametrize("text", ['{"a": "tea"}', "7", '"tea"'])
def test_valid_json_is_whole(text):
    assert repair_json(text).truncated == ()
