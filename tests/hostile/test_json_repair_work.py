"""Damaged JSON that takes a repair the most work: it grows as the text does, and has an end."""

import sys
from collections.abc import Callable

import pytest

from apps.llm.domain.json_repair.repair import repair_json
from apps.llm.domain.json_repair.types import MAX_LENGTH, WORK_PER_CHARACTER, RepairConfig, RepairRefusal
from tests.timing import assert_quick


def counted_calls(text: str) -> int:
    """The Python and C functions that a repair of `text` calls."""
    calls = 0

    def count(_frame: object, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        repair_json(text)
    finally:
        sys.setprofile(before)
    return calls


LONG_TEXTS: dict[str, Callable[[int], str]] = {
    "open lists": lambda size: "[" * size,
    "inner quotes": lambda size: '["a"a ' + '"a"a ' * (size // 5) + "]",
    "forgotten ends": lambda size: "[" + '"a, 1 ' * (size // 6) + ']"z',
    "escaped quotes": lambda size: '{"a": "' + '\\"' * (size // 2),
    "quotes and comments": lambda size: '["' + '"/*' * (size // 3),
    "comments with quotes": lambda size: '["' + '"/*"*/' * (size // 6) + "x",
    "comments before space": lambda size: '["' + '"/*' * (size // 6) + "*/" + " " * (size // 2),
    "only quotes": lambda size: "{" + '"' * size,
    "quotes and commas": lambda size: '{"a":"' + '","' * (size // 3),
    "quotes of three kinds": lambda size: '{"a":"' + "\"'`" * (size // 3),
    "single quotes": lambda size: "{" + "'a':'b'," * (size // 8) + "}",
    "documents in a row": lambda size: "{}\n" * (size // 3),
    "words and commas": lambda size: "{a: " + "b, " * (size // 3),
    "backslashes": lambda size: '{"a":"' + "\\" * size,
    "control characters": lambda size: '{"a":"' + "\n" * size,
    "structure in strings": lambda size: '["' + 'a],[{ "' * (size // 7),
    "one mistake in a long list": lambda size: "[" + '"x",' * (size // 4) + "1,]",
    "deep and broad": lambda size: "[" * 400 + '"x",' * (size // 4),
    "fences": lambda size: "```" * (size // 3) + "{",
    "brackets in words": lambda size: "a [" * (size // 3),
    "commas too many": lambda size: "[" + '{"a": 1,},' * (size // 10) + "]",
    "numbers without commas": lambda size: "[" + "1 " * (size // 2),
    "numbers without commas in brackets": lambda size: "[(" + "1 " * (size // 4) + ";" * (size // 2) + ")",
    "members without commas": lambda size: "{" + "a: 1 " * (size // 5),
    "members and commas in words": lambda size: "{a: 1 b: 2, " + "c 3, " * (size // 5),
    "deep lists closed by a brace": lambda size: ('{"a":' + "[" * 248 + "}") * (size // 254),
    "strings in deep lists": lambda size: "[" * 400 + '"x" ' * (size // 4 - 200) + "]" * 400,
    "strings and words in deep lists": lambda size: "[" * 400 + '"x" a ' * (size // 6 - 150) + "]" * 400,
    "escaped quotes between strings": lambda size: '{"a":"x", ' + '"\\"' * (size // 3),
    "lists closed by braces": lambda size: '{"a":[}' * (size // 7),
    "forgotten quotes": lambda size: "[" + '{"a":"x ,' * (size // 9),
    "strings appended": lambda size: "[" + '"a"+' * (size // 4),
    "braces in words": lambda size: "{a} " * (size // 4),
    "notes": lambda size: "[x] " * (size // 4),
    "three quotes": lambda size: '["""a' * (size // 5),
}


def assert_work_is_linear(name: str, size: int, times: int) -> None:
    """`times` the text is at most about `times` the work; work with the square would be `times` as much again."""
    small, big = LONG_TEXTS[name](size // times), LONG_TEXTS[name](size)
    assert counted_calls(big) <= 1.2 * times * counted_calls(small) + 200


@pytest.mark.parametrize("name", LONG_TEXTS)
def test_work_grows_as_the_text_does(name):
    assert_work_is_linear(name, 8_000, 4)


@pytest.mark.parametrize("name", ["inner quotes", "forgotten ends", "quotes and comments", "words and commas"])
def test_work_grows_as_text_does_up_to_limit(name):
    assert_work_is_linear(name, MAX_LENGTH - 10, 8)


@pytest.mark.parametrize("name", LONG_TEXTS)
def test_longest_text_is_read_in_seconds_and_within_a_quarter_of_the_work_that_it_may_take(name):
    config = RepairConfig(work_per_character=WORK_PER_CHARACTER // 4)

    def read(text: str) -> None:
        assert repair_json(text, config).refusal is not RepairRefusal.TOO_MUCH_WORK

    # What stays within a quarter takes the same steps where all of the work is allowed.
    assert_quick(read, LONG_TEXTS[name](MAX_LENGTH - 100), 3)
