"""Kinds of damage that models do to JSON, and what a reader would take them for."""

import pytest

from apps.llm.domain.json_repair.repair import repair_json
from apps.llm.domain.json_repair.types import RepairKind

KINDS = RepairKind

# (damage, repaired text, kinds of repair in their order)
DAMAGE = [
    # commas, colons, brackets
    ('{"cups": 2,, "tea": 1}', '{"cups": 2, "tea": 1}', [KINDS.EXTRA_COMMA]),
    ('[, "tea"]', '[ "tea"]', [KINDS.EXTRA_COMMA]),
    ('{"cups": 2 "tea": 1}', '{"cups": 2, "tea": 1}', [KINDS.MISSING_COMMA]),
    ('["tea" "milk"]', '["tea", "milk"]', [KINDS.MISSING_COMMA]),
    ("[1 2 3]", "[1, 2, 3]", [KINDS.MISSING_COMMA] * 2),
    ('{"cups" 2}', '{"cups": 2}', [KINDS.MISSING_COLON]),
    ('{"cups" => 2}', '{"cups" : 2}', [KINDS.MISSING_COLON]),
    ('{"cups":: 2}', '{"cups": 2}', [KINDS.STRAY]),
    ('{"cups": 2; "tea": 1}', '{"cups": 2, "tea": 1}', [KINDS.STRAY, KINDS.MISSING_COMMA]),
    ('{: 2, "tea": 1}', '{"": 2, "tea": 1}', [KINDS.MISSING_KEY]),
    ('{"cups":, "tea": 1}', '{"cups":null, "tea": 1}', [KINDS.MISSING_VALUE]),
    ('{"cups", "tea": 1}', '{"cups": null, "tea": 1}', [KINDS.MISSING_VALUE]),
    ('{"list": [1, 2}', '{"list": [1, 2]}', [KINDS.UNCLOSED]),
    ('{"list": [1, 2}, "tea": 1}', '{"list": [1, 2], "tea": 1}', [KINDS.WRONG_CLOSER]),
    ('{"list": [1, 2, "tea": 1}', '{"list": [1, 2], "tea": 1}', [KINDS.UNCLOSED]),
    ('[{"a": 1, {"b": 2}]', '[{"a": 1}, {"b": 2}]', [KINDS.TRAILING_COMMA, KINDS.UNCLOSED, KINDS.MISSING_COMMA]),
    ('{"a": {"b": 1}}, "c": 2}', '{"a": {"b": 1}, "c": 2}', [KINDS.EXTRA_CLOSER]),
    ('{"a": 1}}', '{"a": 1}', [KINDS.EXTRA_CLOSER]),
    ('{{"a": {{"b": 1}}, "c": 2}}', '{"a": {"b": 1}, "c": 2}', [KINDS.EXTRA_OPENER] * 2),
    ("[1, 2, ...]", "[1, 2 ]", [KINDS.ELLIPSIS, KINDS.TRAILING_COMMA]),
    # ends of strings
    ('{"city": "Bern, "year": 7}', '{"city": "Bern", "year": 7}', [KINDS.UNCLOSED_STRING]),
    ('{"city: "Bern"}', '{"city": "Bern"}', [KINDS.UNCLOSED_STRING]),
    ('["tea, "milk", "salt"]', '["tea", "milk", "salt"]', [KINDS.UNCLOSED_STRING]),
    ('[{"a":"tea},{"a":"milk"}]', '[{"a":"tea"},{"a":"milk"}]', [KINDS.UNCLOSED_STRING]),
    ('{"text": "one, two}', '{"text": "one, two"}', [KINDS.UNCLOSED_STRING]),
    ('{"text": "one, two: ', '{"text": "one, two: "}', [KINDS.UNCLOSED_STRING, KINDS.UNCLOSED]),
    ('["tea", milk"]', '["tea", "milk"]', [KINDS.UNQUOTED_VALUE]),
    ('{"text": "one,}', '{"text": "one"}', [KINDS.UNCLOSED_STRING, KINDS.TRAILING_COMMA]),
    ('{"a": 1, "name}', '{"a": 1, "name": null}', [KINDS.UNCLOSED_STRING, KINDS.MISSING_VALUE]),
    ('{"a": "tea\n"b": 1}', '{"a": "tea",\n"b": 1}', [KINDS.UNCLOSED_STRING, KINDS.MISSING_COMMA]),
    # quotes inside strings
    ('{"t": "She said: "go" to me", "b": 1}', '{"t": "She said: \\"go\\" to me", "b": 1}', [KINDS.INNER_QUOTE]),
    ('{"t": "She said, "go" and left"}', '{"t": "She said, \\"go\\" and left"}', [KINDS.INNER_QUOTE]),
    ('{"t": "both "x", "y" and z", "b": 1}', '{"t": "both \\"x\\", \\"y\\" and z", "b": 1}', [KINDS.INNER_QUOTE]),
    ("{'t': 'it's fine', 'b': 1}", '{"t": "it\'s fine", "b": 1}', [KINDS.QUOTES] * 3),
    ("{'t': 'a \"word\"'}", '{"t": "a \\"word\\""}', [KINDS.QUOTES] * 2 + [KINDS.INNER_QUOTE]),
    ("{'t': 'it\\'s'}", '{"t": "it\'s"}', [KINDS.QUOTES] * 2 + [KINDS.ESCAPE]),
    # other spellings
    ("{“t”: ‘tea’}", '{"t": "tea"}', [KINDS.QUOTES] * 2),
    ('{"a": """one "two" three"""}', '{"a": "one \\"two\\" three"}', [KINDS.QUOTES, KINDS.INNER_QUOTE]),
    ("{a: 1, b_2: 2}", '{"a": 1, "b_2": 2}', [KINDS.UNQUOTED_KEY] * 2),
    ('{"a": True, "b": None, "c": undefined}', '{"a": true, "b": null, "c": null}', [KINDS.KEYWORD] * 3),
    ('{"a": .5, "b": 2., "c": 1e}', '{"a": 0.5, "b": 2.0, "c": 1e0}', [KINDS.NUMBER] * 3),
    ('{"a": (1, 2)}', '{"a": [1, 2]}', [KINDS.TUPLE]),
    ('{"a": 1 /* one */, // two\n"b": 2}', '{"a": 1 , \n"b": 2}', [KINDS.COMMENT] * 2),
    ('{"a": 1, # one\n"b": 2}', '{"a": 1, \n"b": 2}', [KINDS.COMMENT]),
    ('{"a":\u00a01}', '{"a": 1}', [KINDS.WHITESPACE]),
    ('\ufeff{"a": 1}', '{"a": 1}', [KINDS.WHITESPACE]),
    ('{"a": "one\ntwo\x01"}', '{"a": "one\\ntwo\\u0001"}', [KINDS.CONTROL_CHARACTER] * 2),
    (
        '{"a": "C:\\Data", "b": "x\\_y", "c": "\\x41"}',
        '{"a": "C:\\\\Data", "b": "x_y", "c": "\\u0041"}',
        [KINDS.ESCAPE] * 3,
    ),
    ('{\\"a\\": \\"tea \\\\"x\\\\"\\"}', '{"a": "tea \\"x\\""}', [KINDS.STRINGIFIED]),
    # words without quotes
    ('{"city": New York}', '{"city": "New York"}', [KINDS.UNQUOTED_VALUE]),
    ('{"city": Bern, Switzerland, "b": 1}', '{"city": "Bern, Switzerland", "b": 1}', [KINDS.UNQUOTED_VALUE]),
    (
        '{"at": https://example.org/a?b=c, "b": 1}',
        '{"at": "https://example.org/a?b=c", "b": 1}',
        [KINDS.UNQUOTED_VALUE],
    ),
    ('{"code": 0123, "phone": +41}', '{"code": "0123", "phone": "+41"}', [KINDS.UNQUOTED_VALUE] * 2),
    ('{"a": 3 cups, "b": 1}', '{"a": "3 cups", "b": 1}', [KINDS.UNQUOTED_VALUE]),
    # code around or in it
    ('{"id": ObjectId("7f")}', '{"id": "7f"}', [KINDS.CALL]),
    ("print({'a': 1})", '{"a": 1}', [KINDS.CALL, KINDS.QUOTES]),
    ('{"t": "one " + "two"}', '{"t": "one two"}', [KINDS.CONCATENATION]),
    # what surrounds it
    ('Here you are: {"a": 1,} Enjoy!', '{"a": 1}', [KINDS.TEXT_BEFORE, KINDS.TRAILING_COMMA, KINDS.TEXT_AFTER]),
    ('```json\n{"a": 1}\n```', '{"a": 1}', [KINDS.FENCE]),
    ('See [1]:\n```json\n{"a": 1}\n```', '{"a": 1}', [KINDS.TEXT_BEFORE]),
    ('```json\n{"a": "te\n```', '{"a": "te"}', [KINDS.FENCE, KINDS.UNCLOSED_STRING, KINDS.UNCLOSED]),
    ('[NOTE] {"a": 1}', '{"a": 1}', [KINDS.TEXT_BEFORE]),
    ('As in [1], this: {"a": 1}', '{"a": 1}', [KINDS.TEXT_BEFORE]),
    ('Dear {name}, {"a": 1}', '{"a": 1}', [KINDS.TEXT_BEFORE]),
    ('{"a": 1}\n{"b": 2}', '[{"a": 1},\n{"b": 2}]', [KINDS.SEVERAL_VALUES]),
    # ends of streams
    ('{"a": tr', '{"a": true}', [KINDS.KEYWORD, KINDS.UNCLOSED]),
    ('{"a": -', '{"a": -0}', [KINDS.NUMBER, KINDS.UNCLOSED]),
    ('{"a": "b\\', '{"a": "b"}', [KINDS.ESCAPE, KINDS.UNCLOSED_STRING, KINDS.UNCLOSED]),
    ('{"a": "b\\\\', '{"a": "b\\\\"}', [KINDS.UNCLOSED_STRING, KINDS.UNCLOSED]),
    ('{"a": "b\\ud83d\\u', '{"a": "b"}', [KINDS.ESCAPE, KINDS.UNCLOSED_STRING, KINDS.UNCLOSED]),
    ('{"a":', '{"a":null}', [KINDS.MISSING_VALUE, KINDS.UNCLOSED]),
    ('{"a": 1, "b', '{"a": 1, "b": null}', [KINDS.UNCLOSED_STRING, KINDS.MISSING_VALUE, KINDS.UNCLOSED]),
]


@pytest.mark.parametrize(("damage", "repaired", "kinds"), DAMAGE, ids=[case[0] for case in DAMAGE])
def test_damage_is_repaired_and_its_kind_named(damage, repaired, kinds):
    result = repair_json(damage)
    assert (result.text, [repair.kind for repair in result.repairs]) == (repaired, kinds)


def test_every_kind_of_repair_has_an_example():
    assert {kind for case in DAMAGE for kind in case[2]} == set(RepairKind)


@pytest.mark.parametrize("word", ["it's", "a, b", "{x}", "http://a/b", "true"])
def test_sound_string_survives_repair_of_its_neighbour(word):
    assert repair_json(f'{{"a": "{word}", "b": 1,}}').value == {"a": word, "b": 1}
