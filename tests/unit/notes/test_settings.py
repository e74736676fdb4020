"""Settings as `memory-config.json` has them, and changing them in the text of the file."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.notes.domain.settings import (
    SETTINGS,
    BrokenConfigError,
    MemoryConfig,
    differences,
    list_members,
    parse_config,
    set_members,
)

# As in spec 001 and in the description of the settings.
DEFAULTS = {
    "enabled": True,
    "autoExtract": True,
    "flushThreshold": 0.75,
    "extractIntervalSeconds": 60,
    "minNewMessages": 4,
    "llmGatingEnabled": False,
    "llmGatingModel": "gpt-4o-mini",
    "llmExtractionEnabled": False,
    "llmExtractionModel": "gpt-4o-mini",
    "llmExtractionMaxMessages": 20,
    "llmCompactionEnabled": False,
    "llmCompactionModel": "gpt-4o-mini",
    "llmCompactionFactThreshold": 30,
    "llmCompactionAutoApply": False,
}
BAD = {
    "enabled": "yes",
    "autoExtract": 1,
    "flushThreshold": 1.5,
    "extractIntervalSeconds": -1,
    "minNewMessages": 2.5,
    "llmGatingModel": " ",
    "llmExtractionModel": "a" * 201,
    "llmExtractionMaxMessages": True,
    "llmCompactionModel": "a\nb",
    "llmCompactionFactThreshold": 1e300,
    "llmCompactionAutoApply": None,
}
BROKEN = {
    "text": b"enabled: true",
    "cut off": b'{"enabled": fal',
    "list": b"[]",
    "word": b'"enabled"',
    "null": b"null",
    "two objects": b"{} {}",
    "not utf-8": b'{"a": "\xff"}',
    "deep": b'{"a":' + b"[" * 200_000,
    "long number": b'{"a": ' + b"9" * 5_000 + b"}",
}


def test_names_and_defaults_of_all_settings():
    assert {name: setting.default for name, setting in SETTINGS.items()} == DEFAULTS


@pytest.mark.parametrize("text", [b"", b" \n", b"{}", b"\xef\xbb\xbf{}"], ids=["empty", "blank", "object", "mark"])
def test_file_without_settings_has_the_defaults(text):
    assert parse_config(text) == (MemoryConfig(), ())


@pytest.mark.parametrize("name", BAD)
def test_bad_setting_has_its_former_value_and_is_named(name):
    text = json.dumps({"llmUnknown": 1, name: BAD[name]}).encode()
    config, problems = parse_config(text, MemoryConfig())
    assert [(each.code, each.attr) for each in problems] == [("invalid_setting", name)]
    assert config == MemoryConfig()
    assert parse_config(b'{"enabled": "false"}', MemoryConfig(enabled=False, min_new_messages=9))[0] == MemoryConfig(
        enabled=False
    )


@pytest.mark.parametrize("name", ["enabled", "autoExtract"])
def test_bad_switch_without_a_former_value_is_off(name):
    assert differences(parse_config(json.dumps({name: "false"}).encode())[0]) == {name: False}


def test_what_is_wrong_is_said_without_what_is_in_the_file():
    config, problems = parse_config(b'{"flushThreshold": "a secret", "minNewMessages": 9}')
    assert config.min_new_messages == 9
    assert problems[0].detail == "Expected a number from 0.01 to 1.0: 0.75 holds until that is mended."


def test_not_a_number_is_no_threshold():
    assert parse_config(b'{"flushThreshold": NaN}')[1][0].attr == "flushThreshold"
    assert parse_config(b'{"flushThreshold": Infinity}')[1][0].attr == "flushThreshold"


def test_numbers_may_be_written_either_way():
    config, problems = parse_config(b'{"minNewMessages": 6.0, "flushThreshold": 1}')
    assert (config.min_new_messages, config.flush_threshold, problems) == (6, 1.0, ())


@pytest.mark.parametrize("kind", BROKEN)
def test_what_is_no_object_is_broken(kind):
    with pytest.raises(BrokenConfigError):
        parse_config(BROKEN[kind])


def test_members_keep_everything_around_them():
    text = '{\r\n\t"b" : 1e400, "enabled":true,\r\n\t"x": {"enabled": [0.10, {}], "z": "}"}, "b": 1.00\r\n}\r\n'
    changed = set_members(text, {"enabled": False, "autoExtract": True, "b": 2})
    assert changed == (
        '{\r\n\t"b" : 1e400, "enabled":false,\r\n\t"x": {"enabled": [0.10, {}], "z": "}"}, "b": 2, "autoExtract": true'
        "\r\n}\r\n"
    )


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("{}", '{\n  "a": 1\n}'),
        (" {\n} \n", ' {\n  "a": 1\n} \n'),
        ('{"x":"}"}', '{"x":"}","a": 1}'),
        ('{\n    "x": 0\n}\n', '{\n    "x": 0,\n    "a": 1\n}\n'),
        ('{\n  "x": 0,\n\n  "y": 0\n}', '{\n  "x": 0,\n\n  "y": 0,\n\n  "a": 1\n}'),
    ],
)
def test_new_member_is_set_out_like_the_others(text, changed):
    assert set_members(text, {"a": 1}) == changed


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(
    st.dictionaries(st.text(), JSON, max_size=5),
    st.dictionaries(st.text(), JSON, max_size=3),
    st.sampled_from([None, 2]),
)
def test_changed_members_are_those_of_the_object(document, values, indent):
    text = json.dumps(document, indent=indent)
    assert [member.name for member in list_members(text)] == list(document)
    changed = json.loads(set_members(text, values))
    assert changed == {**document, **values}
    assert list(changed) == list({**document, **values})
